// SPDX-License-Identifier: BSD-3-Clause
#include "cells/read_paths.hpp"

#include "cells/operations.hpp"

#if QUADRAT_HAS_CUDA
#include <optional>
#include <string>
#include <vector>

#include "cells/crowd.hpp"
#include "cells/orders.hpp"
#include "harness/stopwatch.hpp"
#endif

namespace quadrat::bench {

#if QUADRAT_HAS_CUDA

namespace {

template <typename Method>
using list_of = typename Method::template type<cuda_context, float, 3>;

/// Cell lists of the library over the same points, one per layout.
class walk_lists {
 public:
  walk_lists(const cuda_context& context, const grid<float, 3>& space, const points_view<float, 3>& points)
      : points_(points),
        separate_(context, space),
        packed_(context, space),
        column_major_(context, space),
        row_major_(context, space) {
    separate_.build(points);
    packed_.build(points);
    column_major_.build(points);
    row_major_.build(points);
  }

  [[nodiscard]] walk_arrays arrays(walk_layout layout) const {
    if (layout == walk_layout::packed) {
      const auto view = packed_.view();
      return {view.records, points_.count, view.heads, packed_.space().size(), nullptr, 0, 0};
    }
    if (layout == walk_layout::separate) {
      const auto view = separate_.view();
      return {points_.component[0],
              points_.count,
              view.buckets.heads,
              separate_.space().size(),
              view.buckets.nexts,
              points_.count,
              0};
    }
    return layout == walk_layout::column_major ? fixed_arrays(column_major_.view().buckets)
                                               : fixed_arrays(row_major_.view().buckets);
  }

 private:
  template <typename Buckets>
  walk_arrays fixed_arrays(const Buckets& buckets) const {
    return {points_.component[0], points_.count, buckets.counts,
            buckets.bucket_count, buckets.slots, buckets.bucket_count * buckets.capacity,
            buckets.capacity};
  }

  points_view<float, 3> points_;
  list_of<cell_methods::linked_loose> separate_;
  list_of<cell_methods::linked_packed> packed_;
  list_of<cell_methods::fixed> column_major_;
  list_of<cell_methods::fixed_row_major> row_major_;
};

/// Four floats per point; the fourth is padding.
std::vector<float> padded(const std::vector<float>& points) {
  std::vector<float> result;
  result.reserve(points.size() / 3 * 4);
  for (std::size_t i = 0; i < points.size(); i += 3) {
    result.insert(result.end(), {points[i], points[i + 1], points[i + 2], 0.5f});
  }
  return result;
}

/// All layouts and paths over one set of points.
class read_path_series {
 public:
  read_path_series(const session& s, const cuda_context& context, const std::vector<float>& points, const char* order)
      : session_(s),
        order_(order),
        people_(context, paper_cube, padded(points), 4),
        lists_(context, people_.space(), people_.points()),
        results_(context, people_.size()) {
    const auto list = people_.make("linked_loose");
    people_.verify("linked_loose", *list);
    pairs_ = list->neighbors(people_.points(), people_.cutoff(), people_.size()).count;
  }

  void run() {
    for (std::size_t layout = 0; layout < walk_layout_names.size(); ++layout) {
      for (std::size_t path = 0; path < read_path_names.size(); ++path) {
        row identity = people_.describe("read_paths", walk_layout_names[layout], order_);
        identity["read_path"] = read_path_names[path];
        session_.attempt(
            identity, [&](row& out) { measure(static_cast<walk_layout>(layout), static_cast<read_path>(path), out); });
      }
    }
  }

 private:
  void measure(walk_layout layout, read_path path, row& out) {
    const cuda_context& context = people_.context();
    const auto walk = make_read_path_walk(context, path, layout, people_.space(), people_.cutoff(),
                                          lists_.arrays(layout), results_.data());
    walk->launch();
    double met = 0;
    for (const auto& result : to_host(context, results_)) met += static_cast<double>(result.neighbors);
    if (met != static_cast<double>(pairs_)) {
      throw disagreement(message("the walk has met ", met, " neighbors of ", pairs_));
    }
    const timing measured = time_repeated(context, session_.plan(), [&] { walk->launch(); });
    add_timing(out, measured, "walks_per_s", static_cast<double>(people_.size()));
  }

  const session& session_;
  const char* order_;
  crowd<cuda_context, float> people_;
  walk_lists lists_;
  array<walk_result<float>, cuda_context> results_;
  std::uint64_t pairs_ = 0;
};

}  // namespace

void run_read_paths(const session& s) {
  if (!s.on_cuda()) {
    return s.out().skip(identify("read_paths", "all", "float", 0, 0, "uniform"), "it needs --device cuda");
  }
  const auto context = make_context<cuda_context>(s);
  for (const std::size_t n : powers_of_two(16, s.full() ? 22 : 16, 2)) {
    const auto random = random_points<float>(n, paper_cube.half_side(), n);
    read_path_series(s, context, random, "random").run();
    read_path_series(s, context, in_order_of_cells(random, paper_cube), "cells").run();
  }
}

#else

void run_read_paths(const session& s) {
  s.out().skip(identify("read_paths", "all", "float", 0, 0, "uniform"), "this build has no CUDA backend");
}

#endif

}  // namespace quadrat::bench

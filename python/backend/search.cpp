// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include "indices.hpp"
#include "instances.hpp"
#include "quadrat/search/cluster_finder.hpp"
#include "quadrat/search/nearest_neighbors.hpp"
#include "quadrat/search/neighbor_list.hpp"
#include "quadrat/search/pair_histogram.hpp"
#include "worker.hpp"

namespace quadrat::python {

namespace {

template <typename T>
struct rooted {
  const T* from;
  T* to;
  QUADRAT_HD void operator()(std::size_t i) const { to[i] = std::sqrt(from[i]); }
};

template <typename Context, typename T>
void write_distances(const Context& context, const T* squares, std::size_t count, void* to) {
  for_each(context, "python.distances", count, rooted<T>{squares, static_cast<T*>(to)});
}

template <typename Context, typename T, int D>
class search_on final : public worker_on<neighbor_search, Context> {
 public:
  search_on(const place& where, const neighbor_settings& settings)
      : worker_on<neighbor_search, Context>(where), list_(this->context(), options(settings)) {}

  bool update(const neighbor_given& given, bool anew) override {
    [[maybe_unused]] const auto visit = this->enter();
    const Context& context = this->context();
    const std::vector<lattice<T, D>> shapes = lattices_of<T, D>(given.boxes);
    neighbor_input<T, D> input;
    input.points = view_of<T, D>(given.points);
    input.boxes = shapes;
    input.system_of_point = systems_.of(context, given.systems);
    if (given.queries.there) input.queries = view_of<T, D>(given.queries);
    input.system_of_query = systems_of_queries_.of(context, given.systems_of_queries);
    input.radii = static_cast<const T*>(given.radii);
    input.types = types_.of(context, given.types);
    input.radii_of_queries = static_cast<const T*>(given.radii_of_queries);
    input.types_of_queries = types_of_queries_.of(context, given.types_of_queries);
    exclude(given, input);
    bool built = true;
    if (!anew && list_.options().skin > T(0)) {
      built = list_.update(input);
    } else {
      list_.build(input);
    }
    this->context().synchronize();  // the last kernels read arrays that the caller may free or change from here on
    return built;
  }
  [[nodiscard]] std::size_t size() override { return static_cast<std::size_t>(list_.size()); }
  [[nodiscard]] std::size_t rows() override { return list_.view().rows; }

  void write(char output, bool long_indices, void* to) override {
    [[maybe_unused]] const auto visit = this->enter();
    const neighbor_list_view<T, D> view = list_.view();
    const Context& context = this->context();
    const std::size_t count = size();
    switch (output) {
      case 'i':
        return write_indices(context, view.first, count, long_indices, to);
      case 'j':
        return write_indices(context, view.neighbors, count, long_indices, to);
      case 'S':
        return write_integers(context, reinterpret_cast<const int*>(view.shifts), count * D, long_indices, to);
      case 'd':
        return write_distances(context, view.squared_distances, count, to);
      case 'D':
        return copy_bytes(context, view.vectors, to, count * D * sizeof(T));
      default:  // 'n', where rows begin
        return write_offsets(view, long_indices, to);
    }
  }
  [[nodiscard]] std::string method() const override { return std::string(list_.method()); }
  [[nodiscard]] std::size_t bytes() const override { return list_.bytes(); }

 private:
  static neighbor_options<T> options(const neighbor_settings& settings) {
    const auto wanted = [&](char output) { return settings.outputs.find(output) != std::string::npos; };
    neighbor_options<T> result;
    result.cutoff = static_cast<T>(settings.cutoff);
    result.skin = static_cast<T>(settings.skin);
    result.pairs = settings.half ? neighbor_pairs::half : neighbor_pairs::full;
    result.layout = wanted('i') ? neighbor_layout::pairs : neighbor_layout::csr;
    result.sorted = settings.sorted;
    result.shifts = wanted('S');
    result.vectors = wanted('D');
    result.squared_distances = wanted('d');
    result.accept_outside = settings.open;
    result.autotune = settings.autotune;
    result.method = settings.method;
    result.rule = static_cast<cutoff_rule>(settings.rule);
    for (const double cutoff : settings.type_cutoffs) result.type_cutoffs.push_back(static_cast<T>(cutoff));
    return result;
  }
  /// Excluded pairs as rows.
  void exclude(const neighbor_given& given, neighbor_input<T, D>& input) {
    if (given.excluded.empty()) return;
    std::vector<std::uint64_t> offsets(given.points.count + 1, 0);
    for (const auto& pair : given.excluded) ++offsets[pair[0] + 1];
    for (std::size_t i = 0; i < given.points.count; ++i) offsets[i + 1] += offsets[i];
    std::vector<std::uint64_t> next(offsets.begin(), offsets.end() - 1);
    std::vector<particle_id> others(given.excluded.size());
    for (const auto& pair : given.excluded) others[next[pair[0]]++] = pair[1];
    excluded_offsets_ = to_device(this->context(), offsets);
    excluded_ = to_device(this->context(), others);
    input.excluded_offsets = excluded_offsets_.data();
    input.excluded = excluded_.data();
  }
  void write_offsets(const neighbor_list_view<T, D>& view, bool long_indices, void* to) {
    const Context& context = this->context();
    if (long_indices) return copy_bytes(context, view.offsets, to, (view.rows + 1) * sizeof(std::int64_t));
    require(list_.size() <= 0x7fffffffu, "the list has ", list_.size(), " pairs, too many for int32 offsets");
    for_each(context, "python.offsets", view.rows + 1,
             copied<std::uint64_t, std::int32_t>{view.offsets, static_cast<std::int32_t*>(to)});
  }

  index_array<Context> systems_, systems_of_queries_, types_, types_of_queries_;
  array<std::uint64_t, Context> excluded_offsets_;
  array<particle_id, Context> excluded_;
  neighbor_list<Context, T, D> list_;
};

template <typename Context, typename T, int D>
class histogram_on final : public worker_on<histogram, Context> {
 public:
  histogram_on(const place& where, const histogram_settings& settings)
      : worker_on<histogram, Context>(where), histogram_(this->context(), options(settings)) {}

  void add(const points_given& points, const boxes_given& boxes, bool around, const integers& types) override {
    [[maybe_unused]] const auto visit = this->enter();
    const std::uint32_t* const numbers = types_.of(this->context(), types);
    histogram_.add(view_of<T, D>(points), around ? box_around(points) : lattices_of<T, D>(boxes)[0], numbers);
    this->context().synchronize();
  }
  void result(std::vector<double>& rdf, std::vector<std::uint64_t>& counts) override {
    [[maybe_unused]] const auto visit = this->enter();
    pair_histogram_result found = histogram_.result();
    rdf = std::move(found.rdf);
    counts = std::move(found.counts);
  }

 private:
  static pair_histogram_options<T> options(const histogram_settings& settings) {
    pair_histogram_options<T> result;
    result.cutoff = static_cast<T>(settings.cutoff);
    result.bins = settings.bins;
    result.types = settings.types;
    result.accept_outside = settings.open;
    result.distinct = settings.distinct;
    return result;
  }
  /// The open box that just holds the points; along an axis where they are all in one place it is as long as the
  /// cutoff.
  [[nodiscard]] lattice<T, D> box_around(const points_given& points) {
    const std::vector<T> all =
        to_host(this->context(), static_cast<const T*>(points.data), points.count * static_cast<std::size_t>(D));
    vec<T, D> low{}, length{};
    for (int axis = 0; axis < D; ++axis) {
      T high = -std::numeric_limits<T>::infinity();
      low[axis] = -high;
      for (auto k = static_cast<std::size_t>(axis); k < all.size(); k += static_cast<std::size_t>(D)) {
        if (!std::isfinite(all[k])) continue;  // complained about where pairs are counted
        low[axis] = std::min(low[axis], all[k]);
        high = std::max(high, all[k]);
      }
      if (low[axis] > high) low[axis] = high = T(0);
      length[axis] = std::max(high - low[axis], histogram_.options().cutoff);
    }
    return make_lattice(make_box(low, low + length, vec<bool, D>{}));
  }

  index_array<Context> types_;
  pair_histogram<Context, T, D> histogram_;
};

}  // namespace

template <typename Context>
std::unique_ptr<neighbor_search> make_neighbor_search(const place& where, bool wide, int dimension,
                                                      const neighbor_settings& settings) {
  return with_instance<2>(wide, dimension, [&](auto t, auto d) -> std::unique_ptr<neighbor_search> {
    return std::make_unique<search_on<Context, decltype(t), d.value>>(where, settings);
  });
}

template <typename Context>
std::unique_ptr<histogram> make_histogram(const place& where, bool wide, int dimension,
                                          const histogram_settings& settings) {
  return with_instance<2>(wide, dimension, [&](auto t, auto d) -> std::unique_ptr<histogram> {
    return std::make_unique<histogram_on<Context, decltype(t), d.value>>(where, settings);
  });
}

template <typename Context>
void find_nearest(const Context& context, bool wide, int dimension, const points_given& points,
                  const points_given& queries, const boxes_given& box, const nearest_settings& settings,
                  bool long_indices, const nearest_results& results) {
  with_instance<2>(wide, dimension, [&](auto t, auto d) {
    using T = decltype(t);
    constexpr int D = d.value;
    nearest_options<T> options;
    options.k = settings.k;
    options.cutoff = static_cast<T>(settings.cutoff);
    options.include_self = settings.include_self;
    options.shifts = results.shifts != nullptr;
    nearest_neighbors<Context, T, D> search(context, lattices_of<T, D>(box)[0], options);
    search.build(view_of<T, D>(points));
    if (queries.there) {
      search.search(view_of<T, D>(queries));
    } else {
      search.search();
    }
    const nearest_view<T, D> view = search.view();
    const std::size_t size = view.rows * settings.k;
    write_indices(context, view.neighbors, size, long_indices, results.neighbors);
    write_distances(context, view.squared_distances, size, results.distances);
    if (results.shifts != nullptr) {
      write_integers(context, reinterpret_cast<const int*>(view.shifts), size * D, long_indices, results.shifts);
    }
    context.synchronize();
  });
}

template <typename Context, typename T, int D>
class clusters_on final : public found_clusters {
 public:
  clusters_on(const Context& context, const lattice<T, D>& box, const cluster_options<T>& options)
      : context_(context), finder_(context, box, options) {}

  void find(const points_view<T, D>& points, bool long_indices, void* labels) {
    finder_.find(points);
    write_integers(context_, finder_.view().labels, finder_.view().points, long_indices, labels);
    context_.synchronize();
  }
  cluster_counts counts(bool members) override {
    const std::size_t clusters = finder_.view().clusters;
    if (!members) return {clusters, 0};
    return {clusters, to_host(context_, finder_.members().offsets + clusters, 1)[0]};
  }
  void write(bool long_indices, void* offsets, void* members, void* centers) override {
    const cluster_members found = finder_.members();
    const std::size_t count = counts(true).members;
    write_integers(context_, reinterpret_cast<const int*>(found.offsets), found.clusters + 1, long_indices, offsets);
    write_integers(context_, reinterpret_cast<const int*>(found.points), count, long_indices, members);
    copy_bytes(context_, finder_.centers(), centers, found.clusters * sizeof(vec<T, D>));
    context_.synchronize();
  }

 private:
  Context context_;
  cluster_finder<Context, T, D> finder_;
};

template <typename Context>
std::unique_ptr<found_clusters> find_clusters(const Context& context, bool wide, int dimension,
                                              const points_given& points, const boxes_given& box, double cutoff,
                                              std::uint32_t min_points, bool long_indices, void* labels) {
  std::unique_ptr<found_clusters> result;
  with_instance<2>(wide, dimension, [&](auto t, auto d) {
    using T = decltype(t);
    constexpr int D = d.value;
    cluster_options<T> options;
    options.cutoff = static_cast<T>(cutoff);
    options.min_points = min_points;
    options.accept_outside = box.open();
    auto made = std::make_unique<clusters_on<Context, T, D>>(context, lattices_of<T, D>(box)[0], options);
    made->find(view_of<T, D>(points), long_indices, labels);
    result = std::move(made);
  });
  return result;
}

template std::unique_ptr<neighbor_search> make_neighbor_search<built_context>(const place&, bool, int,
                                                                              const neighbor_settings&);
template std::unique_ptr<histogram> make_histogram<built_context>(const place&, bool, int, const histogram_settings&);
template void find_nearest(const built_context&, bool, int, const points_given&, const points_given&,
                           const boxes_given&, const nearest_settings&, bool, const nearest_results&);
template std::unique_ptr<found_clusters> find_clusters(const built_context&, bool, int, const points_given&,
                                                       const boxes_given&, double, std::uint32_t, bool, void*);

}  // namespace quadrat::python

// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string_view>
#include <type_traits>

#include "harness/points.hpp"
#include "harness/stopwatch.hpp"
#include "quadrat/cells/methods.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/models/circles.hpp"
#include "quadrat/search/orders.hpp"
#include "search/operations.hpp"
#include "search/visit_subject.hpp"

namespace quadrat::bench {

namespace {

constexpr double wanted_neighbors = 40;

/// Uniform points in [-1, 1]^3, in random order. With the cutoff, a point far from the faces has 40 neighbors on
/// average.
template <typename Context>
class visited_points {
 public:
  visited_points(const Context& context, std::size_t n)
      : context_(context),
        values_(to_device(context, random_points<float>(n, 1, n))),
        counts_(context, n),
        cutoff_(
            static_cast<float>(std::cbrt(wanted_neighbors * 8 * 3 / (4 * std::numbers::pi * static_cast<double>(n))))) {
  }

  [[nodiscard]] std::size_t size() const { return counts_.size(); }
  [[nodiscard]] static box<float, 3> domain() {
    const auto corner = vec<float, 3>::filled(1);
    return make_box(corner * -1.0f, corner, vec<bool, 3>::filled(false));
  }
  [[nodiscard]] grid<float, 3> space(int cells_per_reach) const {
    return make_grid_for_cutoff(domain(), cutoff_ / static_cast<float>(cells_per_reach));
  }

  void time(const session& s, std::string_view order, visit_subject<Context>& subject, row& out) {
    const points_view<float, 3> points = strided_points<3>(static_cast<const float*>(values_.data()), size());
    subject.count(points, cutoff_, counts_.data());
    subject.check();
    verify(order);
    const auto count = [&] { subject.count(points, cutoff_, counts_.data()); };
    stopwatch<Context> watch(context_);
    const timing measured = !subject.waits() ? time_repeated(context_, s.plan(), count) : repeat(s.plan(), [&] {
      watch.start();
      count();
      return watch.stop_ms();
    });
    add_timing(out, measured, "visits_per_s", static_cast<double>(*neighbors_));
    out["neighbors"] = static_cast<double>(*neighbors_) / static_cast<double>(size());
    out["cutoff"] = cutoff_;
    out["bytes"] = subject.bytes();
  }

 private:
  /// All orders and cell lists find the same pairs, so neighbor counts must be equal.
  void verify(std::string_view order) {
    std::uint64_t sum = 0;
    std::uint64_t hash = 0;
    const auto counts = to_host(context_, counts_);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      sum += counts[i];
      hash += random_word(i, counts[i]);
    }
    if (!neighbors_) {
      neighbors_ = sum;
      hash_ = hash;
    }
    if (sum != *neighbors_ || hash != hash_) {
      throw disagreement(message(order, " meets ", sum, " pairs, the first method ", *neighbors_,
                                 sum == *neighbors_ ? ", but not the same" : ""));
    }
  }

  Context context_;
  array<float, Context> values_;
  array<std::uint32_t, Context> counts_;
  float cutoff_;
  std::optional<std::uint64_t> neighbors_;
  std::uint64_t hash_ = 0;
};

struct visit_method {
  std::string_view order;
  std::string_view cell_list;
  visit_storage storage;
  int cells_per_reach;
};

template <typename Context>
void run_method(const session& s, const Context& context, visited_points<Context>& points, const visit_method& method) {
  const grid<float, 3> space = points.space(method.cells_per_reach);
  const auto subject = make_visit_subject(method.order, method.cell_list, method.storage, context, space);
  if (subject == nullptr) return;
  row identity = identify("visit", method.order, "float", points.size(), space.size(), "uniform");
  identity["cell_list"] = method.cell_list;
  identity["positions"] = method.storage == visit_storage::points ? "by index" : "in slots";
  identity["cells_per_reach"] = method.cells_per_reach;
  s.attempt(identity, [&](row& out) { points.time(s, method.order, *subject, out); });
}

template <typename Context>
void run_one_call(const session& s, const Context& context, visited_points<Context>& points) {
  const std::string_view name = search_order_list::names.front();
  if (!s.wants_method(name)) return;
  row identity = identify("visit", name, "float", points.size(), 0, "uniform");
  identity["cell_list"] = "lattice_cells";
  identity["positions"] = "in slots";
  identity["cells_per_reach"] = 1;
  const auto subject = make_visit_of_points(context, points.domain());
  s.attempt(identity, [&](row& out) { points.time(s, name, *subject, out); });
}

template <typename Context>
void run_visit_on(const session& s, const Context& context) {
  visited_points<Context> points(context, !s.full() ? 1000 : (s.on_cuda() ? 1048576 : 100000));
  run_one_call(s, context, points);
  for (const std::string_view order : search_order_list::names) {
    if (!s.wants_method(order)) continue;
    for (const std::string_view list : cell_list_methods::names) {
      for (const visit_storage storage : {visit_storage::points, visit_storage::slots}) {
        run_method(s, context, points, {order, list, storage, 1});
        if (list == circles_default_cell_list) run_method(s, context, points, {order, list, storage, 2});
      }
    }
  }
}

}  // namespace

void run_visit(const session& s) {
  with_context(s, [&](const auto& context) { run_visit_on(s, context); });
}

}  // namespace quadrat::bench

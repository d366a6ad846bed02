// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "mesh/plan_details.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "reference/spread.hpp"
#include "support/random.hpp"

namespace quadrat::test {

/// The memory layout of points.
enum class point_memory { packed, rows, components };

/// Points in a box with a mesh, and the values to spread and interpolate.
template <typename T, int D>
struct spread_case {
  box<T, D> domain{};
  vec<int, D> mesh{};
  int order = 4;
  spread_options options;
  detail::plan_details details;
  std::vector<vec<T, D>> points;
  point_memory memory = point_memory::packed;
  std::size_t vectors = 1;
  std::size_t components = 1;  ///< 2: complex values
  bool accumulate = false;
  bool signed_values = false;
  std::uint64_t seed = 1;  ///< of the values

  [[nodiscard]] mesh_call call() const { return {static_cast<int>(vectors), accumulate}; }
};

template <typename T, int D>
[[nodiscard]] reference::mesh_problem problem_of(const spread_case<T, D>& it, const reference::spread_window& window) {
  reference::mesh_problem problem{};
  problem.dimension = D;
  problem.window = window;
  problem.extent = {1, 1, 1};
  for (int d = 0; d < D; ++d) {
    const auto axis = static_cast<std::size_t>(d);
    problem.extent[axis] = it.mesh[d];
    problem.periodic[axis] = it.domain.periodic[d];
    problem.lower[axis] = static_cast<long double>(it.domain.lower[d]);
    problem.length[axis] = static_cast<long double>(it.domain.length[d]);
  }
  for (const vec<T, D>& point : it.points) {
    std::array<long double, 3> exact{};
    for (int d = 0; d < D; ++d) exact[static_cast<std::size_t>(d)] = static_cast<long double>(point[d]);
    problem.points.push_back(exact);
  }
  return problem;
}

template <typename T, int D>
[[nodiscard]] reference::mesh_problem problem_of(const spread_case<T, D>& it) {
  return problem_of(it, reference::bspline_window(it.order));
}

/// Random orders, meshes, boundaries, points and values.
template <typename T, int D>
class random_spread_case {
 public:
  explicit random_spread_case(std::uint64_t seed) : random_(seed * 8 + D) { it_.seed = seed; }

  [[nodiscard]] spread_case<T, D> make() {
    it_.order = whole_between(1, 8);
    choose_mesh();
    choose_box();
    make_points();
    finish();
    return std::move(it_);
  }

  /// The same on a given mesh, in one dimension of any extent.
  [[nodiscard]] spread_case<T, D> make(const vec<int, D>& mesh) {
    it_.order = whole_between(1, 8);
    it_.mesh = mesh;
    choose_box();
    make_points();
    finish();
    return std::move(it_);
  }

 private:
  enum kind { uniform, mesh_points, half_way, seam, one_cell, outside, kinds };

  [[nodiscard]] std::size_t below(std::size_t bound) { return random_() % bound; }
  [[nodiscard]] bool one_in(std::size_t bound) { return below(bound) == 0; }
  [[nodiscard]] double between(double low, double high) { return low + (high - low) * random_unit<double>(random_); }
  [[nodiscard]] int whole_between(int low, int high) {
    return low + static_cast<int>(below(static_cast<std::size_t>(high - low + 1)));
  }

  void choose_mesh() {
    constexpr std::array<int, 10> primes{2, 3, 5, 7, 11, 13, 17, 19, 23, 29};
    constexpr std::array<int, 8> longs{64, 100, 127, 243, 256, 384, 509, 512};
    const std::size_t shape = below(5);
    const int side = whole_between(1, 16);
    const int long_axis = whole_between(0, D - 1);
    for (int d = 0; d < D; ++d) {
      if (shape == 0) it_.mesh[d] = side;
      if (shape == 1) it_.mesh[d] = whole_between(1, 24);
      if (shape == 2) it_.mesh[d] = primes[below(primes.size())];
      if (shape == 3) it_.mesh[d] = d == long_axis ? longs[below(longs.size())] : whole_between(1, 9);
      if (shape == 4) it_.mesh[d] = whole_between(1, it_.order);  // footprints overlap themselves
    }
  }

  void choose_box() {
    it_.options.clip = one_in(2);
    it_.options.accept_outside = true;
    const std::size_t boundaries = below(3);
    for (int d = 0; d < D; ++d) {
      const bool fits = it_.mesh[d] >= it_.order || it_.options.clip;
      it_.domain.periodic[d] = boundaries == 0 || !fits || (boundaries == 1 && one_in(2));
      it_.domain.lower[d] = one_in(3) ? T(0) : static_cast<T>(between(-10, 10) * (one_in(6) ? 1000 : 1));
      it_.domain.length[d] = one_in(3) ? static_cast<T>(it_.mesh[d]) : static_cast<T>(between(0.1, 10));
    }
  }

  /// Few enough points that the reference is quick and rounding in sums of thousands of terms does not matter.
  [[nodiscard]] std::size_t choose_count() {
    if (one_in(12)) return below(2);
    const double terms = std::pow(it_.order, D);
    double nodes = 1;
    for (int d = 0; d < D; ++d) nodes *= it_.mesh[d];
    const auto most = static_cast<std::size_t>(std::min(250'000 / terms, 120 * nodes / terms)) + 1;
    return 1 + below(std::min<std::size_t>(most, one_in(8) ? 4000 : 200));
  }

  void make_points() {
    const std::size_t count = choose_count();
    const auto all = static_cast<kind>(below(kinds));
    const bool mixed = one_in(5);
    for (int d = 0; d < D; ++d) cell_[d] = whole_between(0, it_.mesh[d] - 1);
    const bool crowded = (all == one_cell || all == seam) && !mixed;
    const std::size_t crowd = crowded ? std::min<std::size_t>(count, 200) : count;
    for (std::size_t i = 0; i < crowd; ++i) {
      const kind chosen = mixed ? static_cast<kind>(below(kinds)) : all;
      it_.points.push_back(make_vec<T, D>([&](int d) { return coordinate(chosen, d); }));
    }
  }

  /// Mesh units.
  [[nodiscard]] double wanted_place(kind chosen, int d) {
    const int extent = it_.mesh[d];
    switch (chosen) {
      case mesh_points:
        return whole_between(0, extent);
      case half_way:
        return whole_between(0, extent - 1) + 0.5;
      case one_cell:
        return cell_[d] + random_unit<double>(random_);
      case outside:
        return between(0, extent) + extent * whole_between(-3, 3);
      default:
        return between(0, extent);
    }
  }

  /// A face of the box, or a number next to it.
  [[nodiscard]] T face(int d) {
    constexpr T far = std::numeric_limits<T>::max();
    const T at = one_in(2) ? it_.domain.lower[d] : it_.domain.upper(d);
    const std::size_t side = below(3);
    return side == 0 ? at : std::nextafter(at, side == 1 ? far : -far);
  }

  [[nodiscard]] T position(double place, int d) const {
    const auto lower = static_cast<double>(it_.domain.lower[d]), length = static_cast<double>(it_.domain.length[d]);
    return static_cast<T>(lower + place * length / it_.mesh[d]);
  }

  [[nodiscard]] T coordinate(kind chosen, int d) {
    const T x = chosen == seam ? face(d) : position(wanted_place(chosen, d), d);
    if (accepted(x, d)) return x;
    const double first = 0.5 * it_.order - 1, last = it_.mesh[d] - 0.5 * it_.order;
    const bool all = it_.domain.periodic[d] || it_.options.clip;
    // Away from the limits of accepted positions, and from points where a window of order 1 or 2 is not smooth.
    return position(all ? 0.3 + whole_between(0, it_.mesh[d] - 1)
                        : std::clamp(0.3 + whole_between(0, it_.mesh[d]), first + 0.1, last - 0.1),
                    d);
  }

  /// Whether the footprint is allowed; and for order 1, whose weight jumps, and order 2, whose slope jumps, that
  /// rounding does not move the point across a jump.
  [[nodiscard]] bool accepted(T x, int d) const {
    const long double u = (static_cast<long double>(x) - static_cast<long double>(it_.domain.lower[d])) * it_.mesh[d] /
                          static_cast<long double>(it_.domain.length[d]);
    const long double start = u - 0.5L * it_.order;
    const bool all = it_.domain.periodic[d] || it_.options.clip;
    if (!all && (start < -0.999L || start > it_.mesh[d] - it_.order - 0.001L)) return false;
    const long double to_break = std::fabs(start - std::nearbyint(start));
    return it_.order > 2 || to_break == 0 || to_break > 8 * static_cast<long double>(std::numeric_limits<T>::epsilon());
  }

  void finish() {
    constexpr std::array<int, 4> groups{1, 7, 64, 1024};
    it_.details.group_size = groups[below(4)];
    it_.details.compute_unit = one_in(2) ? 0 : 1 << below(6);
    it_.details.reduction = one_in(2) ? detail::unit_reduction::shuffle : detail::unit_reduction::shared_memory;
    it_.options.uses = one_in(2) ? 1 : 1000;
    it_.memory = static_cast<point_memory>(below(3));
    it_.vectors = one_in(3) ? 1 + below(one_in(4) ? 9 : 3) : 1;
    it_.components = 1 + below(2);
    it_.accumulate = one_in(3);
    it_.signed_values = one_in(2);
  }

  std::mt19937_64 random_;
  vec<int, D> cell_{};
  spread_case<T, D> it_;
};

template <typename T, int D>
[[nodiscard]] std::string describe(const spread_case<T, D>& it) {
  std::string text = message("case ", it.seed, ": order ", it.order, ", ", it.points.size(), " points, mesh");
  for (int d = 0; d < D; ++d) {
    text += message(d == 0 ? " " : " x ", it.mesh[d], it.domain.periodic[d] ? " periodic" : " open", " from ",
                    it.domain.lower[d], " by ", it.domain.length[d]);
  }
  return text + message(it.options.clip ? ", clip" : "", ", unit ", it.details.compute_unit, ", group ",
                        it.details.group_size, ", memory ", static_cast<int>(it.memory), ", ", it.vectors, " vectors",
                        it.components == 2 ? ", complex" : "", it.accumulate ? ", accumulate" : "",
                        it.signed_values ? ", signed" : "");
}

}  // namespace quadrat::test

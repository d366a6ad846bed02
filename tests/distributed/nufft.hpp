// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "distributed/fields.hpp"
#include "quadrat/distributed/nufft_plan.hpp"
#include "reference/nufft.hpp"

// Non-uniform transforms over the ranks of a communicator, compared with direct sums over the points of all.

namespace quadrat::test {

/// Where points are.
enum class spread_places { uniform, one_place, faces, images, none };

/// The same on every rank.
template <typename T, int D>
struct transformed_points {
  grid<T, D> space{};
  vec<int, D> modes{};
  double tolerance = 1e-3;
  nufft_options options{};
  std::vector<vec<T, D>> points{};

  [[nodiscard]] double period(int axis) const {
    return options.period[axis] > 0 ? options.period[axis] : 2 * std::numbers::pi;
  }
  void make_space(const vec<int, D>& cells) {
    const auto length = make_vec<T, D>([&](int axis) { return static_cast<T>(period(axis)); });
    const auto lower = make_vec<T, D>([&](int axis) { return static_cast<T>(options.origin[axis]); });
    space = make_grid(make_box_from_lengths(lower, length, vec<bool, D>::filled(true)), cells);
  }
  void add_points(spread_places where, std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const box<T, D>& domain = space.domain;
    for (std::size_t i = 0; i < (where == spread_places::none ? 0 : count); ++i) {
      points.push_back(make_vec<T, D>([&](int axis) {
        T part = where == spread_places::one_place ? T(0.375) : random_unit<T>(random);
        if (where == spread_places::faces) {
          part = static_cast<T>(random() % static_cast<std::uint64_t>(space.cells[axis])) /
                 static_cast<T>(space.cells[axis]);
        }
        const T x = domain.lower[axis] + part * domain.length[axis];
        if (where == spread_places::images) return x + domain.length[axis] * static_cast<T>(random() % 5) - 2;
        const T next = std::nextafter(x, random() % 2 == 0 ? domain.lower[axis] : domain.upper(axis));
        return where == spread_places::faces && random() % 2 == 0 ? next : x;
      }));
    }
  }
  [[nodiscard]] reference::nufft_problem problem() const {
    reference::nufft_problem result;
    result.modes = {std::vector<int>{0}, std::vector<int>{0}, std::vector<int>{0}};
    for (int axis = 0; axis < D; ++axis) {
      const auto to = static_cast<std::size_t>(3 - D + axis);
      result.modes[to] = reference::centered_modes(modes[axis]);
      result.period[to] = options.period[axis] > 0 ? options.period[axis] : 2 * std::numbers::pi_v<long double>;
    }
    for (const vec<T, D>& point : points) {
      std::array<long double, 3>& exact = result.points.emplace_back();
      for (int axis = 0; axis < D; ++axis) {
        exact[static_cast<std::size_t>(3 - D + axis)] =
            static_cast<long double>(point[axis]) - static_cast<long double>(space.domain.lower[axis]);
      }
    }
    return result;
  }
};

template <typename T>
[[nodiscard]] std::vector<std::complex<T>> some_complex(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::complex<T>> values(count);
  for (auto& one : values) one = {2 * random_unit<T>(random) - 1, 2 * random_unit<T>(random) - 1};
  return values;
}

/// `found`, part by part of one vector, against `wanted`: none is off by more than the tolerance times `sum`.
template <typename T>
void expect_within_bound(const std::vector<std::complex<T>>& found, const std::vector<std::complex<double>>& wanted,
                         double sum, double tolerance, const std::string& where) {
  expect(found.size() == wanted.size(), where, ": there are ", found.size(), " results; expected ", wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double off = std::abs(std::complex<double>(found[i]) - wanted[i]);
    expect(off <= tolerance * sum, where, ": result ", i, " is off by ", off / sum, "; ", tolerance, " is possible");
  }
}

/// Both types with both signs on a plan whose points are set; two vectors at once with the usual signs.
template <typename T, int D>
void check_nufft_of(communicator& ranks, const transformed_points<T, D>& all, const decomposition<D>& shares,
                    distributed_nufft_plan<backend_context, T, D>& plan, const std::string& where) {
  const backend_context context = context_of_rank();
  std::vector<std::uint32_t> mine;
  for (std::uint32_t i = 0; i < all.points.size(); ++i) {
    if (shares.view().owner(all.space.unfolded_cell_of(all.points[i])) == ranks.rank()) mine.push_back(i);
  }
  const auto own_points = to_device(context, chosen(all.points, mine));
  plan.set_points(shares, points_of(own_points));
  expect(plan.point_count() == mine.size() && plan.error_bound() <= all.tolerance, where, ": bound ",
         plan.error_bound());
  const reference::nufft_problem problem = all.problem();
  const cell_block<D>& block = plan.mode_shares().blocks[static_cast<std::size_t>(ranks.rank())];
  const auto values = some_complex<T>(all.points.size(), 11), modes = some_complex<T>(problem.mode_count(), 12);
  const auto own_values = chosen(values, mine);
  const auto own_modes = part_of(modes, all.modes, block);
  expect(own_modes.size() == plan.mode_count(), where, ": rank has ", plan.mode_count(), " modes");
  std::uint64_t sum_of_modes = plan.mode_count();
  ranks.add_up(&sum_of_modes, 1);
  expect(sum_of_modes == modes.size(), where, ": all ranks have ", sum_of_modes, " modes, not ", modes.size());
  const auto exact = [](const auto& numbers, double& sum) {
    std::vector<std::complex<double>> result;
    for (const auto& one : numbers) sum += std::abs(std::complex<double>(result.emplace_back(one)));
    return result;
  };
  double of_values = 0, of_modes = 0;
  const auto exact_values = exact(values, of_values), exact_modes = exact(modes, of_modes);
  auto twice_values = own_values, twice_modes = own_modes;
  twice_values.insert(twice_values.end(), own_values.begin(), own_values.end());
  twice_modes.insert(twice_modes.end(), own_modes.begin(), own_modes.end());
  const auto given_values = to_device(context, twice_values), given_modes = to_device(context, twice_modes);
  array<std::complex<T>, backend_context> found_modes(context, twice_modes.size()),
      found_values(context, twice_values.size());
  for (const int sign : {1, -1}) {
    const int vectors = sign == 1 ? 2 : 1;
    const auto wanted_modes = part_of(reference::nufft_1(problem, exact_values, sign), all.modes, block);
    const auto wanted_values = chosen(reference::nufft_2(problem, exact_modes, -sign), mine);
    plan.type_1(given_values.data(), found_modes.data(), {vectors, sign == 1 ? 0 : -1});
    plan.type_2(given_modes.data(), found_values.data(), {vectors, sign == 1 ? 0 : 1});
    for (int v = 0; v < vectors; ++v) {
      const std::size_t modes_before = static_cast<std::size_t>(v) * own_modes.size(),
                        values_before = static_cast<std::size_t>(v) * own_values.size();
      const auto result = to_host(context, found_modes.data() + modes_before, own_modes.size());
      const auto back = to_host(context, found_values.data() + values_before, own_values.size());
      expect_within_bound(result, wanted_modes, of_values, all.tolerance, where + ", type 1");
      expect_within_bound(back, wanted_values, of_modes, all.tolerance, where + ", type 2");
      // They are adjoints of each other, to rounding.
      double parts[4] = {};
      for (std::size_t i = 0; i < result.size(); ++i) {
        const auto term = std::conj(std::complex<double>(result[i])) * std::complex<double>(own_modes[i]);
        parts[0] += term.real(), parts[1] += term.imag();
      }
      for (std::size_t i = 0; i < back.size(); ++i) {
        const auto term = std::conj(std::complex<double>(own_values[i])) * std::complex<double>(back[i]);
        parts[2] += term.real(), parts[3] += term.imag();
      }
      for (double& part : parts) part = sum_in_rank_order(ranks, part);
      const double off = std::hypot(parts[0] - parts[2], parts[1] - parts[3]);
      const double rounding = (sizeof(T) == 4 ? 3e-6 : 1e-14) * of_values * of_modes;
      expect(off <= rounding, where, ": the types are adjoints but for ", off, "; ", rounding, " is rounding");
    }
  }
}

/// Modes of more and of fewer layers than ranks; points in random decompositions, some of whose blocks are empty.
template <typename T, int D>
void check_nuffts_of(communicator& ranks, const vec<int, D>& modes, std::size_t count, std::uint64_t seed) {
  transformed_points<T, D> all;
  all.modes = modes;
  all.tolerance = seed % 3 == 0 ? 1e-2 : sizeof(T) == 4 ? 1e-4 : 1e-9;
  if (seed % 2 == 0) {
    all.options.period = {1, 0, 2.5};
    all.options.origin = {-0.3, 1, 0};
  }
  all.make_space(make_vec<int, D>(
      [&](int axis) { return 1 + static_cast<int>((seed + 3 * static_cast<std::uint64_t>(axis)) % 6); }));
  distributed_nufft_plan<backend_context, T, D> plan(context_of_rank(), ranks, all.space, modes, all.tolerance,
                                                     all.options);
  for (const spread_places where : {spread_places::uniform, spread_places::one_place, spread_places::faces,
                                    spread_places::images, spread_places::none}) {
    all.points.clear();
    all.add_points(where, where == spread_places::faces ? count / 4 : count, seed);
    const auto shares = seed % 4 == 1 ? even_decomposition(all.space, ranks.size())
                                      : random_decomposition(all.space, ranks.size(), seed);
    std::string name = message(modes[0]);
    for (int axis = 1; axis < D; ++axis) name += message(" x ", modes[axis]);
    check_nufft_of(ranks, all, shares, plan,
                   message(name, " modes, seed ", seed, ", places ", static_cast<int>(where)));
  }
}

inline void check_nuffts(communicator& ranks, std::size_t count) {
  std::uint64_t seed = 0;
  for (const vec<int, 3>& modes : {vec<int, 3>{8, 6, 5}, {3, 2, 4}, {1, 1, 1}, {20, 1, 3}, {2, 15, 2}}) {
    check_nuffts_of<double>(ranks, modes, count, seed);
    check_nuffts_of<float>(ranks, modes, count, seed++);
  }
  for (const vec<int, 2>& modes : {vec<int, 2>{9, 7}, {1, 1}, {2, 12}, {40, 3}}) {
    check_nuffts_of<double>(ranks, modes, count, seed);
    check_nuffts_of<float>(ranks, modes, count, seed++);
  }
}

/// One point at a time, in all places of a long period in turn: the faces of blocks must not be rounded.
inline void check_exact_places(communicator& ranks) {
  transformed_points<float, 2> all;
  all.modes = {1000, 2};
  all.tolerance = 3e-6;
  all.make_space({7, 3});
  const auto shares = even_decomposition(all.space, ranks.size());
  distributed_nufft_plan<backend_context, float, 2> plan(context_of_rank(), ranks, all.space, all.modes, all.tolerance);
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    all.points.clear();
    all.add_points(spread_places::uniform, 1, seed);
    check_nufft_of(ranks, all, shares, plan, message("one point, seed ", seed));
  }
}

}  // namespace quadrat::test

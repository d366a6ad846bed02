// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "distributed/small_system.hpp"
#include "quadrat/cells/make_cells.hpp"
#include "quadrat/distributed/key_reducer.hpp"
#include "quadrat/distributed/visit.hpp"
#include "quadrat/search/make_neighbor_list.hpp"

// Searches over own particles and ghosts, compared with one rank that has all.

namespace quadrat::test {

/// Own particles and ghosts of this rank, as a search takes them.
template <typename T, int D>
struct local_particles {
  backend_context context;
  std::size_t own = 0;
  array<std::uint32_t, backend_context> ids{};
  array<vec<T, D>, backend_context> points{};

  local_particles(communicator& ranks, const small_system<T, D>& system, const decomposition<D>& shares, T reach,
                  determinism level = determinism::none)
      : context(context_of_rank(level)) {
    std::vector<std::uint32_t> mine;
    for (std::size_t i = 0; i < system.points.size(); ++i) {
      if (system.owner(shares, i) == ranks.rank()) mine.push_back(static_cast<std::uint32_t>(i));
    }
    own = mine.size();
    const auto own_points = to_device(context, chosen(system.points, mine));
    const device_decomposition<backend_context, D> on_device(context, shares);
    halo<backend_context, T, D> borders(context, ranks);
    borders.build(system.space, on_device.view(), points_of(own_points), {reach});
    mine.resize(own + borders.ghosts());
    ids = to_device(context, mine);
    std::vector<vec<T, D>> all = to_host(context, own_points);
    all.resize(mine.size());
    points = to_device(context, all);
    const halo_array arrays[] = {{ids.data(), sizeof(std::uint32_t)}, {points.data(), sizeof(vec<T, D>)}};
    borders.forward(std::span(arrays));
  }
};

/// One entry of a list: i, j, shift, squared distance.
template <typename T, int D>
using list_entry = std::tuple<std::uint32_t, std::uint32_t, std::array<int, D>, T>;

/// The first `rows` rows of a list, by id.
template <typename T, int D>
[[nodiscard]] std::vector<list_entry<T, D>> entries_of(neighbor_list<backend_context, T, D>& list, std::size_t rows,
                                                       const std::vector<std::uint32_t>& ids) {
  const auto& context = list.context();
  const auto view = list.view();
  const auto offsets = to_host(context, view.offsets, view.rows + 1);
  const auto neighbors = to_host(context, view.neighbors, list.size());
  const auto shifts = to_host(context, view.shifts, list.size());
  const auto distances = to_host(context, view.squared_distances, list.size());
  std::vector<list_entry<T, D>> result;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::uint64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      std::array<int, D> shift{};
      for (int axis = 0; axis < D; ++axis) shift[static_cast<std::size_t>(axis)] = shifts[k][axis];
      result.emplace_back(ids[i], ids[neighbors[k]], shift, distances[k]);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// The rows of own particles are those that one rank finds, with the same bits; also for cutoffs beyond the box.
template <typename T, int D>
void check_neighbor_list(communicator& ranks, const small_system<T, D>& system, const decomposition<D>& shares) {
  const T cutoff = system.reach + T(0.01);
  const local_particles<T, D> local(ranks, system, shares, cutoff);
  const neighbor_options<T> options{.cutoff = cutoff, .squared_distances = true, .shifts = true};
  auto list = make_neighbor_list(local.context, system.space.domain, options);
  list.build(points_of(local.points));
  const auto found = entries_of(list, local.own, to_host(local.context, local.ids));

  std::vector<std::uint32_t> all_ids(system.points.size());
  for (std::size_t i = 0; i < all_ids.size(); ++i) all_ids[i] = static_cast<std::uint32_t>(i);
  const auto all_points = to_device(local.context, system.points);
  auto whole = make_neighbor_list(local.context, system.space.domain, options);
  whole.build(points_of(all_points));
  auto expected = entries_of(whole, all_ids.size(), all_ids);
  std::erase_if(expected, [&](const auto& entry) { return system.owner(shares, std::get<0>(entry)) != ranks.rank(); });
  expect(found == expected, "the rows of own particles have ", found.size(), " entries; one rank finds ",
         expected.size(), ", or others");
}

/// Adds the ids of a pair to a sum that does not depend on the order.
struct sum_pair {
  const std::uint32_t* ids;
  std::uint64_t* sums;

  template <typename Separation, typename T>
  QUADRAT_HD void operator()(particle_id i, particle_id j, const Separation&, T) const {
    atomic_add(sums, std::uint64_t{1});
    atomic_add(sums + 1, std::uint64_t{ids[i]} * 1'000'003 + std::uint64_t{ids[j]});
  }
};

/// Each pair once over all ranks.
template <typename T, int D>
void check_visits(communicator& ranks, const small_system<T, D>& system, const decomposition<D>& shares) {
  T cutoff = system.reach + T(0.01);
  for (int axis = 0; axis < D; ++axis) cutoff = std::min(cutoff, system.space.domain.length[axis] / 2);
  const local_particles<T, D> local(ranks, system, shares, cutoff);
  auto cells = make_cells(local.context, system.space.domain, cutoff);
  cells.build(points_of(local.points));
  array<std::uint64_t, backend_context> sums(local.context, 2);
  fill_bytes(local.context, sums.data(), 0, 2 * sizeof(std::uint64_t));
  for_each_own_pair(local.context, cells.view(), points_of(local.points), local.own, local.ids.data(), cutoff,
                    neighbor_pairs::half, sum_pair{local.ids.data(), sums.data()});
  auto total = to_host(local.context, sums);
  ranks.add_up(total.data(), total.size());
  std::vector<std::uint64_t> expected{0, 0};
  for (std::size_t i = 0; i < system.points.size(); ++i) {
    for (std::size_t j = i + 1; j < system.points.size(); ++j) {
      if (!(squared_norm(system.space.domain.separation(system.points[i], system.points[j])) < cutoff * cutoff)) {
        continue;
      }
      ++expected[0];
      expected[1] += i * 1'000'003 + j;
    }
  }
  expect(total == expected, "all ranks visit ", total[0], " pairs; there are ", expected[0], ", or others");
}

/// Elements in consecutive parts; sums of doubles have the bits of one rank.
inline void check_keys(communicator& ranks, std::uint64_t seed) {
  const backend_context context = context_of_rank(determinism::canonical);
  std::mt19937_64 random(seed);
  const std::uint64_t key_count = 1 + random() % 20;
  std::vector<std::uint64_t> keys(random() % 200);
  std::vector<double> values(2 * keys.size());
  for (auto& key : keys) key = random() % key_count;
  for (double& value : values) value = random_unit<double>(random) - 0.5;

  array<double, backend_context> all_results(context, 2 * key_count);
  const auto all_keys = to_device(context, keys);
  const auto all_values = to_device(context, values);
  reduce_by_key(context, all_keys.data(), packed_values(all_values.data(), keys.size(), 2),
                packed_values(all_results.data(), key_count, 2));
  const auto expected = to_host(context, all_results);

  const auto size = static_cast<std::size_t>(ranks.size()), self = static_cast<std::size_t>(ranks.rank());
  const std::size_t first = keys.size() * self / size, end = keys.size() * (self + 1) / size;
  distributed_key_reducer<backend_context> reducer(context, ranks, key_count);
  reducer.set_keys(all_keys.data() + first, end - first);
  const key_share share = reducer.share();
  const std::size_t rows = share.end - share.first;
  array<double, backend_context> results(context, 2 * rows);
  array<std::uint64_t, backend_context> counts(context, rows);
  reducer.reduce<double>(packed_values<const double>(all_values.data() + 2 * first, end - first, 2),
                         packed_values(results.data(), rows, 2), key_operation::sum);
  reducer.count(counts.data());
  const auto found = to_host(context, results);
  const auto numbers = to_host(context, counts);
  std::uint64_t covered = rows;
  ranks.add_up(&covered, 1);
  expect(covered == key_count, "all ranks own ", covered, " keys; there are ", key_count);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint64_t key = share.first + row;
    for (std::size_t c = 0; c < 2; ++c) {
      expect(found[2 * row + c] == expected[2 * key + c], "the sum of key ", key, " is ", found[2 * row + c],
             "; one rank gets ", expected[2 * key + c]);
    }
    const auto number = static_cast<std::uint64_t>(std::count(keys.begin(), keys.end(), key));
    expect(numbers[row] == number, "key ", key, " has ", numbers[row], " elements; expected ", number);
  }
}

/// Crowded keys: elements are combined before they are sent, with the results of plain loops.
inline void check_crowded_keys(communicator& ranks, determinism level, std::size_t count, std::uint64_t key_count) {
  const backend_context context = context_of_rank(level);
  std::vector<std::uint32_t> keys;
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  const auto self = static_cast<std::size_t>(ranks.rank()), size = static_cast<std::size_t>(ranks.size());
  std::vector<std::int64_t> sums(key_count, 0);
  std::vector<std::uint64_t> counts(key_count, 0);
  std::vector<double> totals(key_count, 0);
  std::vector<double> least(key_count, std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < count * size; ++i) {
    std::mt19937_64 random(i);
    const auto key = static_cast<std::uint32_t>(random() % key_count);
    const auto integer = static_cast<std::int64_t>(random());
    const double number = random_unit<double>(random);
    sums[key] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sums[key]) + static_cast<std::uint64_t>(integer));
    totals[key] += number;
    ++counts[key];
    least[key] = std::min(least[key], number);
    if (i % size != self) continue;
    keys.push_back(key);
    integers.push_back(integer);
    numbers.push_back(number);
  }
  const auto device_keys = to_device(context, keys);
  const auto device_integers = to_device(context, integers);
  const auto device_numbers = to_device(context, numbers);
  distributed_key_reducer<backend_context> reducer(context, ranks, key_count);
  reducer.set_keys(device_keys.data(), keys.size());
  const key_share share = reducer.share();
  const std::size_t rows = share.end - share.first;
  array<std::int64_t, backend_context> found_sums(context, rows);
  array<std::uint64_t, backend_context> found_counts(context, rows);
  array<double, backend_context> found(context, rows);
  reducer.reduce<std::int64_t>(packed_values(device_integers.data(), keys.size()),
                               packed_values(found_sums.data(), rows), key_operation::sum);
  if (count >= 2 * key_count && size > 1) {
    expect(reducer.element_count() <= rows * size, "rank ", self, " gets ", reducer.element_count(), " rows for ", rows,
           " keys");
  }
  reducer.count(found_counts.data());
  reducer.reduce<double>(packed_values(device_numbers.data(), keys.size()), packed_values(found.data(), rows),
                         key_operation::minimum);
  const auto found_least = to_host(context, found);
  reducer.reduce<double>(packed_values(device_numbers.data(), keys.size()), packed_values(found.data(), rows),
                         key_operation::sum);
  const auto found_totals = to_host(context, found);
  const auto host_sums = to_host(context, found_sums);
  const auto host_counts = to_host(context, found_counts);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint64_t key = share.first + row;
    expect(host_sums[row] == sums[key] && host_counts[row] == counts[key] && found_least[row] == least[key],
           "sum, count or minimum of key ", key, " differ from those of one rank");
    expect(std::fabs(found_totals[row] - totals[key]) <= 1e-12 * totals[key], "the sum of numbers of key ", key, " is ",
           found_totals[row], "; expected ", totals[key]);
  }
}

/// `count` systems with random decompositions.
inline void check_searches(communicator& ranks, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const auto both = [&](auto zero) {
      const small_system<decltype(zero), 3> system(seed);
      const auto shares = random_decomposition(system.space, ranks.size(), seed);
      check_neighbor_list(ranks, system, shares);
      check_visits(ranks, system, shares);
    };
    seed % 2 == 0 ? both(0.0f) : both(0.0);
    check_keys(ranks, seed);
  }
  for (const determinism level : {determinism::none, determinism::canonical}) {
    check_crowded_keys(ranks, level, 300, 1);
    check_crowded_keys(ranks, level, 300, 20);
    check_crowded_keys(ranks, level, 30, 1000);
    check_crowded_keys(ranks, level, 0, 3);
  }
}

}  // namespace quadrat::test

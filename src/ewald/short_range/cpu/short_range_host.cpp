// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/short_range/cpu/short_range.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "ewald/place.hpp"
#include "ewald/short_range/cpu/pairs.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

/// The fastest variant for this CPU.
template <typename T>
[[nodiscard]] pair_lanes_function<T> fastest_pair_lanes(bool virials) {
  if (const auto function = avx512_pair_lanes(T(), virials)) return function;
  if (const auto function = avx2_pair_lanes(T(), virials)) return function;
  return plain_pair_lanes(T(), virials);
}

/// Index: slot.
template <typename T>
struct split_components {
  const placed_charge<T>* charges;
  std::size_t apart;
  T* to;

  void operator()(std::size_t slot) const {
    const placed_charge<T> own = charges[slot];
    for (std::size_t axis = 0; axis < 3; ++axis) to[axis * apart + slot] = own.position[static_cast<int>(axis)];
    to[3 * apart + slot] = own.charge;
  }
};

/// Index: slot.
template <typename T>
struct sum_pairs_of_slot {
  add_short_range<T> task;
  charge_lanes<T> lanes;
  pair_lanes_function<T> function;
  bool ends_early;  ///< there was no fault before

  static constexpr std::uint32_t most_ranges = 128;

  void operator()(std::size_t slot) const {
    if (ends_early && has_failed_before(task.all.ids[slot])) return;
    const ewald_domain<T>& domain = task.all.domain_at(slot);
    const placed_charge<T> own = task.all.charges[slot];
    candidate_range<T> ranges[most_ranges];
    pair_lanes_task<T> row{&task.split, task.coulomb, task.squared_close, lanes, ranges, 0};
    sums sum{};
    const image_rows<T, 3> walk(domain.grid, task.all.offsets, own.position, task.split.cutoff);
    walk.for_each_image([&](const vec<int, 3>& shift) {
      const vec<T, 3> from = own.position - domain.shape.translation(shift);
      walk.for_each_range(shift, [&](const row_range<3>& range) {
        if (row.count == most_ranges) add_ranges(slot, row, sum);
        ranges[row.count++] = {range.first, range.last, {from[0], from[1], from[2]}};
      });
    });
    add_ranges(slot, row, sum);
    task.sums.potentials[slot] = sum.potential;
    task.sums.fields[slot] = sum.field;
    if (task.sums.virials != nullptr) std::copy_n(sum.virial, 6, task.sums.virials + 6 * slot);
  }

 private:
  /// Whether a point of lower index coincides with another one. The sums are then unusable, and the error names the
  /// lowest. This avoids quadratic time for points all in one place.
  [[nodiscard]] bool has_failed_before(particle_id i) const {
    const std::atomic_ref<std::uint64_t> first(*task.faults.first);
    return first.load(std::memory_order_relaxed) >> 8 < pair_fault_base + i;
  }

  struct sums {
    T potential;
    vec<T, 3> field;
    T virial[6];
  };

  /// Adds the candidates of all ranges, and empties them.
  void add_ranges(std::size_t slot, pair_lanes_task<T>& row, sums& sum) const {
    pair_lanes_result<T> found;
    function(row, found);
    sum.potential += found.potential;
    for (int axis = 0; axis < 3; ++axis) sum.field[axis] += found.field[axis];
    for (int k = 0; k < 6; ++k) sum.virial[k] += found.virial[k];
    if (found.close_count <= pair_lanes_task<T>::most_close) {
      for (std::size_t k = 0; k < found.close_count; ++k) {
        add_close(slot, row.ranges[found.close[k].range], found.close[k].slot, sum);
      }
    } else {
      for (std::uint32_t range = 0; range < row.count; ++range) {
        for (std::uint32_t other = row.ranges[range].first; other < row.ranges[range].last; ++other) {
          add_close(slot, row.ranges[range], other, sum);
        }
      }
    }
    row.count = 0;
  }

  void add_close(std::size_t slot, const candidate_range<T>& range, std::uint32_t other, sums& sum) const {
    const placed_charge<T> at = task.all.charges[other];
    const vec<T, 3> separation = at.position - vec<T, 3>{range.from[0], range.from[1], range.from[2]};
    const T squared_distance = squared_norm(separation);
    if (!(squared_distance < task.split.squared_cutoff) || !(squared_distance <= task.squared_close)) return;
    // Images of the charge itself are never that close.
    if (task.is_left_out(slot, other, {}, squared_distance)) return;
    const auto smooth = task.split.at(squared_distance);
    const law_value<T> law(task.coulomb, squared_distance);
    const T slope = at.charge * (law.slope - smooth.slope);
    sum.potential += at.charge * (law.value - smooth.value);
    sum.field += (2 * slope) * separation;
    if (task.sums.virials != nullptr) add_short_range<T>::add_virial(sum.virial, slope, separation);
  }
};

}  // namespace

template <typename T>
void sum_short_range(const cpu_context& context, const add_short_range<T>& task, T* components) {
  const std::size_t count = task.all.count, apart = count + pair_lanes_beyond;
  for_each(context, "ewald.components", count, split_components<T>{task.all.charges, apart, components});
  for (std::size_t k = 0; k < 4; ++k) std::fill_n(components + k * apart + count, pair_lanes_beyond, T(0));
  const charge_lanes<T> lanes{{components, components + apart, components + 2 * apart}, components + 3 * apart};
  const bool sound = *task.faults.first == ~std::uint64_t{0};
  for_each(context, "ewald.short_range", count,
           sum_pairs_of_slot<T>{task, lanes, fastest_pair_lanes<T>(task.sums.virials != nullptr), sound});
}

template void sum_short_range(const cpu_context&, const add_short_range<float>&, float*);
template void sum_short_range(const cpu_context&, const add_short_range<double>&, double*);

}  // namespace quadrat::detail

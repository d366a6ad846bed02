// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "search/kernels.hpp"
#include "search/levels/sizes.hpp"
#include "search/search.hpp"
#include "search/system.hpp"

/// Points in layers of cells (search/levels/plan.hpp), and the kernels that put them there. `Grid` cuts the box of one
/// system into cells: search_system, or sweeps_grid.
namespace quadrat::detail {

template <typename T, int D>
[[nodiscard]] QUADRAT_HD cell_id cell_in_grid(const search_system<T, D>& grid, const vec<T, D>& wrapped) {
  return grid.cell_of(wrapped);
}

/// Points in cells of one size.
template <typename T, typename Grid>
struct search_layer {
  const Grid* grids;             ///< by system
  const std::uint32_t* offsets;  ///< by cell
  std::uint32_t first_slot;      ///< what offsets count from
  T widest;                      ///< the largest size of its points

  /// Whether it has no points in the cells of a system.
  template <int D>
  [[nodiscard]] QUADRAT_HD bool is_empty(const search_system<T, D>& cells) const {
    cell_id count = 1;
    for (int axis = 0; axis < D; ++axis) count *= static_cast<cell_id>(cells.cells[axis]);
    return offsets[cells.first_cell] == offsets[cells.first_cell + count];
  }
};

template <typename T, typename Grid>
struct search_layers {
  radius_levels<T> levels;
  search_layer<T, Grid> layer[2 * most_radius_levels];
  std::uint32_t visited[most_radius_levels];  ///< by level: bits of layers
};

/// What is known of the points, by slot of all layers.
template <typename T, int D>
struct layer_slots {
  T* coordinates;  ///< D x stride: wrapped points
  std::size_t stride;
  particle_id* ids;
  T* radii;            ///< nullptr: there are none
  vec<int, D>* boxes;  ///< how many boxes away points were before wrapping; nullptr: not needed

  [[nodiscard]] QUADRAT_HD vec<T, D> position(std::size_t slot) const {
    return make_vec<T, D>([&](int axis) { return coordinates[static_cast<std::size_t>(axis) * stride + slot]; });
  }
};

/// The cell of a point on its level. Index: point.
template <typename T, int D, typename Grid>
struct level_key {
  search_key<T, D> key;
  radius_levels<T> levels;
  const Grid* grids;  ///< of all levels
  const T* radii;     ///< nullptr: there are none

  QUADRAT_HD cell_id operator()(std::size_t i) const { return at(i, read(i)); }
  [[nodiscard]] QUADRAT_HD vec<T, D> read(std::size_t i) const { return key.search.points[i]; }
  [[nodiscard]] QUADRAT_HD cell_id at(std::size_t i, const vec<T, D>& point) const {
    if (!key.check(i, point, key.search.system_of_point, i)) return 0;
    const std::uint32_t system = key.search.system_at(key.search.system_of_point, i);
    const std::size_t level = radii == nullptr ? 0 : static_cast<std::size_t>(levels.level_of(radii[i]));
    vec<int, D> boxes{};
    const vec<T, D> wrapped = key.search.systems[system].shape.wrap(point, boxes);
    return cell_in_grid(grids[level * key.search.system_count + system], wrapped);
  }
};

/// The cell of a point in the copy of all levels finer than one. Index: slot, in order of levels. Others go to the last
/// cell, which is not searched.
template <typename T, int D, typename Grid>
struct finer_key {
  neighbor_search<T, D> search;
  radius_levels<T> levels;
  layer_slots<T, D> slots;
  const Grid* grids;
  int level;
  cell_id last;

  QUADRAT_HD cell_id operator()(std::size_t slot) const { return at(slot, read(slot)); }
  [[nodiscard]] QUADRAT_HD vec<T, D> read(std::size_t slot) const { return slots.position(slot); }
  [[nodiscard]] QUADRAT_HD cell_id at(std::size_t slot, const vec<T, D>& position) const {
    if (levels.level_of(slots.radii[slot]) >= level) return last;
    const std::uint32_t system = search.system_at(search.system_of_point, slots.ids[slot]);
    return cell_in_grid(grids[system], position);
  }
};

/// Index: slot. Writes the points in the order of cells, and checks what the rule needs of them.
template <typename T, int D>
struct gather_layer_slots {
  neighbor_search<T, D> search;
  radius_levels<T> levels;
  const particle_id* elements;
  T most_radius;
  fault_flag faults;
  layer_slots<T, D> slots;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const particle_id id = elements[slot];
    vec<int, D> boxes{};
    const vec<T, D> position = search.wrapped_point(id, search.system_at(search.system_of_point, id), boxes);
    for (int axis = 0; axis < D; ++axis) {
      slots.coordinates[static_cast<std::size_t>(axis) * slots.stride + slot] = position[axis];
    }
    slots.ids[slot] = id;
    if (slots.boxes != nullptr) slots.boxes[slot] = boxes;
    check_properties(search, id, most_radius, faults);
    if (slots.radii != nullptr) store_radius(slot, id);
  }

 private:
  QUADRAT_HD void store_radius(std::size_t slot, particle_id id) const {
    const T radius = search.radii[id];
    const bool sound = radius >= T(0) && radius <= most_radius;
    slots.radii[slot] = sound ? radius : T(0);  // until the fault is reported
    // Those of the last level may be larger than its end by rounding, if that is the largest size of all.
    const T end = levels.ends[levels.count - 1];
    if (sound && end < T(1) && levels.sizes.part(radius) >= end) {
      faults.raise(fault_kind::value_range, level_fault_base + id);
    }
  }
};

/// Index: slot of a copy. Copies what is known of its points.
template <typename T, int D>
struct copy_layer_slots {
  const particle_id* elements;  ///< slots of levels
  std::size_t first;            ///< slot of the copy
  layer_slots<T, D> slots;

  QUADRAT_HD void operator()(std::size_t k) const {
    const std::size_t from = elements[k], to = first + k;
    for (int axis = 0; axis < D; ++axis) {
      T* coordinates = slots.coordinates + static_cast<std::size_t>(axis) * slots.stride;
      coordinates[to] = coordinates[from];
    }
    slots.ids[to] = slots.ids[from];
    slots.radii[to] = slots.radii[from];
    if (slots.boxes != nullptr) slots.boxes[to] = slots.boxes[from];
  }
};

/// Index: 0. Whether all points of the finer levels have found room in a copy.
template <typename T, int D>
struct check_copy {
  const std::uint32_t* end_of_finer;  ///< slots of all finer levels
  std::size_t room;
  layer_slots<T, D> slots;
  fault_flag faults;

  QUADRAT_HD void operator()(std::size_t) const {
    if (*end_of_finer > room) faults.raise(fault_kind::value_range, level_fault_base + slots.ids[room]);
  }
};

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/search/lattice/row_range.hpp"
#include "quadrat/search/lattice/system.hpp"
#include "search/kernels.hpp"
#include "search/levels/layer_rows.hpp"
#include "search/levels/sizes.hpp"
#include "search/search.hpp"

/// Points in layers of cells (search/levels/plan.hpp), and the kernels that put them there. `Grid` cuts the box of one
/// system into cells: search_system, or cuboid_grid.
namespace quadrat::detail {

template <typename T, int D>
[[nodiscard]] QUADRAT_HD cell_id cell_in_grid(const search_system<T, D>& grid, const vec<T, D>& wrapped) {
  return grid.cell_of(wrapped);
}

/// Whether a point is inside a tilted box along all periodic axes; its fractions along these.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD bool is_inside(const lattice<T, D>& shape, const vec<T, D>& point, vec<T, D>& fractions) {
  const vec<T, D> offset = point - shape.origin;
  bool inside = true;
  for (int axis = 0; axis < D; ++axis) {
    fractions[axis] = shape.periodic[axis] ? dot(shape.inverse[axis], offset) : T(0);
    inside = inside && fractions[axis] >= T(0) && fractions[axis] < T(1);
  }
  return inside;
}

/// The same result as lattice::wrap, faster for points in or near a tilted box.
template <typename T, int D>
[[nodiscard]] QUADRAT_HD vec<T, D> wrap_into(const lattice<T, D>& shape, const vec<T, D>& point, vec<int, D>& boxes) {
  if (shape.orthorhombic) return shape.wrap(point, boxes);
  vec<T, D> fractions;
  boxes = {};
  if (is_inside(shape, point, fractions)) return point;
  vec<T, D> translation{};
  for (int axis = 0; axis < D; ++axis) {
    boxes[axis] = floor_to_int(fractions[axis]);
    translation += static_cast<T>(boxes[axis]) * shape.vectors[axis];
  }
  const vec<T, D> once = point - translation;
  return is_inside(shape, once, fractions) ? once : shape.wrap(point, boxes);
}

/// Points in cells of one size.
template <typename T, typename Grid>
struct search_layer {
  const Grid* grids;             ///< by system
  const std::uint32_t* offsets;  ///< by cell
  std::uint32_t first_slot;      ///< offsets are relative to this slot
  T widest;                      ///< the largest size of its points

  /// The slots of successive cells, from begin to end.
  template <int D>
  [[nodiscard]] QUADRAT_HD std::size_t begin(const cell_run<D>& run) const {
    return first_slot + offsets[run.first];
  }
  template <int D>
  [[nodiscard]] QUADRAT_HD std::size_t end(const cell_run<D>& run) const {
    return first_slot + offsets[run.last + 1];
  }

  /// Whether it has no points in the cells of a system.
  template <int D>
  [[nodiscard]] QUADRAT_HD bool is_empty(const search_system<T, D>& cells) const {
    return offsets[cells.first_cell] == offsets[cells.first_cell + cells.count];
  }
};

template <typename T, typename Grid>
struct search_layers {
  radius_levels<T> levels;
  search_layer<T, Grid> layer[2 * most_radius_levels];
  std::uint32_t visited[most_radius_levels];  ///< by level: bits of layers

  /// The largest distance at which a point has neighbors in a layer.
  [[nodiscard]] QUADRAT_HD T reach(T radius, int of_layer) const {
    return levels.sizes.reach(levels.sizes.of(radius), layer[of_layer].widest);
  }
};

/// The record of a candidate: its wrapped position and its radius. One 16-byte load if T is float.
template <typename T, int D>
struct alignas(16) radius_point {
  vec<T, D> position;
  T radius;
};

/// The data of the points, by slot of all layers. A search that compares one point at a time reads `packed`; one that
/// compares several at a time reads the components.
template <typename T, int D>
struct layer_slots {
  T* coordinates;  ///< D x stride: wrapped points; or nullptr
  std::size_t stride;
  particle_id* ids;
  T* radii;                     ///< nullptr: there are none, or they are packed
  vec<int, D>* boxes;           ///< how many boxes away points were before wrapping; nullptr: not needed
  radius_point<T, D>* packed;   ///< instead of coordinates and radii; or nullptr
  search_point<T, D>* records;  ///< besides `packed`

  [[nodiscard]] QUADRAT_HD vec<T, D> position(std::size_t slot) const {
    if (packed != nullptr) return packed[slot].position;
    return make_vec<T, D>([&](int axis) { return coordinates[static_cast<std::size_t>(axis) * stride + slot]; });
  }
  /// The radius, or 0 if points have no radii.
  [[nodiscard]] QUADRAT_HD T radius(std::size_t slot) const {
    if (packed != nullptr) return packed[slot].radius;
    return radii != nullptr ? radii[slot] : T(0);
  }
  QUADRAT_HD void store(std::size_t slot, particle_id id, const vec<T, D>& position, T radius) const {
    ids[slot] = id;
    if (packed != nullptr) {
      packed[slot] = {position, radius};
      records[slot] = {position, id};
      return;
    }
    for (int axis = 0; axis < D; ++axis) coordinates[static_cast<std::size_t>(axis) * stride + slot] = position[axis];
    if (radii != nullptr) radii[slot] = radius;
  }
};

/// The cell of a point on its level. Index: point.
template <typename T, int D, typename Grid>
struct level_key {
  search_key<T, D> key;
  radius_levels<T> levels;
  const Grid* grids;  ///< of all levels
  const T* radii;     ///< nullptr: there are none
  vec<T, D>* placed;  ///< receives wrapped positions, by point; nullptr: not kept

  QUADRAT_HD cell_id operator()(std::size_t i) const { return at(i, read(i)); }
  [[nodiscard]] QUADRAT_HD vec<T, D> read(std::size_t i) const { return key.search.points[i]; }
  [[nodiscard]] QUADRAT_HD cell_id at(std::size_t i, const vec<T, D>& point) const {
    if (placed != nullptr) placed[i] = point;  // invalid points are stored unchanged
    if (!key.check(i, point, key.search.system_of_point, i)) return 0;
    const std::uint32_t system = key.search.system_at(key.search.system_of_point, i);
    const std::size_t level = radii == nullptr ? 0 : static_cast<std::size_t>(levels.level_of(radii[i]));
    vec<int, D> boxes{};
    const vec<T, D> wrapped = wrap_into(key.search.systems[system].shape, point, boxes);
    if (placed != nullptr) placed[i] = wrapped;
    return cell_in_grid(grids[level * key.search.system_count + system], wrapped);
  }
};

/// The copies of finer levels, one after the other: their points are numbered through, by copy and then by slot.
template <typename Grid>
struct finer_copies {
  int count;
  std::uint64_t first[most_radius_levels];     ///< number of the first point
  int level[most_radius_levels];               ///< whose cells they are in
  const Grid* grids[most_radius_levels];       ///< by system
  cell_id last[most_radius_levels];            ///< a cell that is not searched, after the others
  cell_id first_of_level[most_radius_levels];  ///< in the cells of levels: all cells before it hold finer points

  [[nodiscard]] QUADRAT_HD int copy_of(std::uint64_t number) const {
    int copy = 0;
    while (copy + 1 < count && number >= first[copy + 1]) ++copy;
    return copy;
  }
};

/// The cell of a point in a copy. Points that are not on a finer level go to the last cell. Index: number of the point.
template <typename T, int D, typename Grid>
struct finer_key {
  neighbor_search<T, D> search;
  radius_levels<T> levels;
  layer_slots<T, D> slots;
  finer_copies<Grid> copies;

  QUADRAT_HD cell_id operator()(std::size_t number) const { return at(number, read(number)); }
  [[nodiscard]] QUADRAT_HD vec<T, D> read(std::size_t number) const {
    return slots.position(number - copies.first[copies.copy_of(number)]);
  }
  [[nodiscard]] QUADRAT_HD cell_id at(std::size_t number, const vec<T, D>& position) const {
    const int copy = copies.copy_of(number);
    const std::size_t slot = number - copies.first[copy];
    if (levels.level_of(slots.radius(slot)) >= copies.level[copy]) return copies.last[copy];
    const std::uint32_t system = search.system_at(search.system_of_point, slots.ids[slot]);
    return cell_in_grid(copies.grids[copy][system], position);
  }
};

/// Index: slot. Writes the points in the order of cells, and checks their types, radii and exclusions.
template <typename T, int D>
struct gather_layer_slots {
  neighbor_search<T, D> search;
  radius_levels<T> levels;
  const particle_id* elements;
  T most_radius;
  fault_flag faults;
  layer_slots<T, D> slots;
  const vec<T, D>* placed;  ///< wrapped positions, by point; nullptr: not kept, as where boxes are needed, too

  QUADRAT_HD void operator()(std::size_t slot) const {
#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
    // Prefetch: points may lie anywhere in memory. In a separate function, GCC would remove it.
    constexpr std::size_t ahead = 16;
    if (slot + ahead < search.points.count) {
      const std::size_t next = elements[slot + ahead];
      if (placed != nullptr) __builtin_prefetch(placed + next);
      for (int axis = 0; axis < D && placed == nullptr; ++axis) {
        __builtin_prefetch(search.points.component[axis] + next * search.points.stride);
      }
    }
#endif
    const particle_id id = elements[slot];
    vec<int, D> boxes{};
    const std::uint32_t system = search.system_at(search.system_of_point, id);
    const vec<T, D> position =
        placed != nullptr ? placed[id] : wrap_into(search.systems[system].shape, search.points[id], boxes);
    slots.store(slot, id, position, levels.sizes.rule != cutoff_rule::uniform ? checked_radius(id) : T(0));
    if (slots.boxes != nullptr) slots.boxes[slot] = boxes;
    check_properties(search, id, most_radius, faults);
  }

 private:
  /// The radius, or 0 if it is invalid and reported.
  [[nodiscard]] QUADRAT_HD T checked_radius(particle_id id) const {
    const T radius = search.radii[id];
    const bool sound = radius >= T(0) && radius <= most_radius;
    // By rounding, sizes on the last level may exceed its end if that is the largest size.
    const T end = levels.ends[levels.count - 1];
    if (sound && end < T(1) && levels.sizes.part(radius) >= end) {
      faults.raise(fault_kind::value_range, level_fault_base + id);
    }
    return sound ? radius : T(0);
  }
};

/// Index: slot, counted from the first of all copies. Copies the data of its point.
template <typename T, int D, typename Grid>
struct copy_layer_slots {
  finer_copies<Grid> copies;
  const particle_id* elements;  ///< numbers of points
  std::size_t first;            ///< slot of all copies
  layer_slots<T, D> slots;

  QUADRAT_HD void operator()(std::size_t k) const {
    const std::uint64_t number = elements[k];
    const std::size_t from = number - copies.first[copies.copy_of(number)], to = first + k;
    slots.store(to, slots.ids[from], slots.position(from), slots.radius(from));
    if (slots.boxes != nullptr) slots.boxes[to] = slots.boxes[from];
  }
};

/// Index: copy. Checks that all points of the finer levels fit into it.
template <typename T, int D, typename Grid>
struct check_copies {
  finer_copies<Grid> copies;
  const std::uint32_t* offsets;  ///< of the cells of levels
  std::uint64_t total;           ///< points in all copies
  layer_slots<T, D> slots;
  fault_flag faults;

  QUADRAT_HD void operator()(std::size_t copy) const {
    const std::uint64_t end = copy + 1 < static_cast<std::size_t>(copies.count) ? copies.first[copy + 1] : total;
    const std::uint64_t room = end - copies.first[copy];
    if (offsets[copies.first_of_level[copy]] <= room) return;
    faults.raise(fault_kind::value_range, level_fault_base + slots.ids[room]);
  }
};

}  // namespace quadrat::detail

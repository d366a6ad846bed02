// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "quadrat/cells/keys.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/shift_map.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/search/lattice/system.hpp"
#include "quadrat/search/neighbor_list.hpp"

/// The search as host-device code for every box, rule and layout, one thread per row.
namespace quadrat::detail {

/// The record of a candidate: its wrapped position and its id. One 16-byte load if T is float.
template <typename T, int D>
struct alignas(sizeof(T) == 4 ? 16 : 8) search_point {
  vec<T, D> position;
  particle_id id;
};

/// Four points in successive slots, by component. A thread loads a component of all four at once, from one address. Ids
/// are separate, for half lists.
template <typename T, int D>
struct alignas(16) point_block {
  static constexpr std::uint32_t points = 4;
  T position[D][points];  ///< wrapped
  particle_id ids[points];
};
/// Blocks by slot / 4, for searches that read only positions; nullptr: not kept.
template <typename T, int D>
struct point_blocks {
  point_block<T, D>* blocks;

  QUADRAT_HD void store(std::size_t slot, const search_point<T, D>& point) const {
    if (blocks == nullptr) return;
    point_block<T, D>& block = blocks[slot / point_block<T, D>::points];
    const std::size_t place = slot % point_block<T, D>::points;
    for (int axis = 0; axis < D; ++axis) block.position[axis][place] = point.position[axis];
    block.ids[place] = point.id;
  }
};

/// The point or query of one row.
template <typename T, int D>
struct search_query {
  vec<T, D> position;  ///< wrapped
  vec<int, D> boxes;   ///< from the wrapped to the caller's position
  std::size_t row;
  std::uint32_t system;
};

/// The input of a search, passed to kernels by value.
template <typename T, int D>
struct neighbor_search {
  points_view<T, D> points;
  points_view<T, D> queries;
  bool own_queries;
  const search_system<T, D>* systems;
  std::uint32_t system_count;
  const std::uint32_t* system_of_point;
  const std::uint32_t* system_of_query;
  const std::uint32_t* cell_offsets;
  const search_point<T, D>* records;  ///< by slot

  T reach;          ///< cutoff + skin
  T squared_reach;  ///< compared with squared distances, whatever the rule
  T skin;
  cutoff_rule rule;
  bool half;
  const T* radii;  ///< of points; nullptr: not needed
  const std::uint32_t* types;
  const T* radii_of_rows;
  const std::uint32_t* types_of_rows;
  std::uint32_t type_count;
  const T* type_cutoffs;
  const std::uint64_t* excluded_offsets;
  const particle_id* excluded;
  const shift_map<D>* maps;  ///< by system, to the caller's box vectors; nullptr: those are searched

  /// Invalid system numbers have been reported by the key; they must not be used as an index.
  [[nodiscard]] QUADRAT_HD std::uint32_t system_at(const std::uint32_t* of, std::size_t i) const {
    if (of == nullptr) return 0;
    return of[i] < system_count ? of[i] : 0;
  }

  [[nodiscard]] QUADRAT_HD const std::uint32_t* system_of_row() const {
    return own_queries ? system_of_query : system_of_point;
  }

  /// The query of a row, with `boxes`.
  [[nodiscard]] QUADRAT_HD search_query<T, D> query_of_row(std::size_t row) const {
    const std::uint32_t system = system_at(system_of_row(), row);
    search_query<T, D> query{{}, {}, row, system};
    query.position = systems[system].shape.wrap(own_queries ? queries[row] : points[row], query.boxes);
    return query;
  }
  [[nodiscard]] QUADRAT_HD vec<T, D> wrapped_point(particle_id j, std::uint32_t system, vec<int, D>& boxes) const {
    return systems[system].shape.wrap(points[j], boxes);
  }

  /// The vector from a row's position to an image of a point, both wrapped. Only this expression decides which pairs
  /// are listed. The opposite pair has exactly the opposite vector.
  [[nodiscard]] QUADRAT_HD static vec<T, D> separation(const vec<T, D>& from, const vec<T, D>& to,
                                                       const vec<T, D>& translation) {
    return (to - from) + translation;
  }

  /// S between the caller's positions instead of the wrapped ones.
  [[nodiscard]] QUADRAT_HD vec<int, D> reported(const search_query<T, D>& query, particle_id j,
                                                vec<int, D> shift) const {
    vec<int, D> boxes{};
    static_cast<void>(wrapped_point(j, query.system, boxes));
    for (int axis = 0; axis < D; ++axis) shift[axis] += query.boxes[axis] - boxes[axis];
    return shift;
  }

  /// Calls f(j) for each entry of row i of the excluded pairs. Wrong offsets are reported later; until then they must
  /// not lead outside the array.
  template <typename F>
  QUADRAT_HD void for_each_excluded(std::size_t i, F&& f) const {
    if (excluded == nullptr) return;
    const std::uint64_t total = excluded_offsets[points.count];
    const std::uint64_t last = excluded_offsets[i + 1] < total ? excluded_offsets[i + 1] : total;
    for (std::uint64_t k = excluded_offsets[i]; k < last; ++k) f(excluded[k]);
  }

  /// Whether an image of particle i is listed in its own row: never the particle itself; for a half list, of S and -S
  /// the one whose first component that is not 0 is positive, in the vectors of the caller's box. Without `Mapped`,
  /// that box is searched.
  template <bool Mapped = true>
  [[nodiscard]] QUADRAT_HD bool image_counts(std::size_t i, vec<int, D> shift) const {
    if (Mapped && half && maps != nullptr) shift = maps[system_at(system_of_point, i)].to_given(shift);
    const int first = first_component(shift);
    return half ? first > 0 : first != 0;
  }
  /// Whether an image of point j is an entry of the row of point i, if it is near enough.
  template <bool Mapped = true>
  [[nodiscard]] QUADRAT_HD bool pair_counts(std::size_t i, particle_id j, const vec<int, D>& shift) const {
    if (j == i && !image_counts<Mapped>(i, shift)) return false;
    return !(half && j < i);
  }
  [[nodiscard]] QUADRAT_HD bool is_excluded(std::size_t i, particle_id j) const {
    if (excluded_offsets == nullptr) return false;
    bool found = false;
    for_each_excluded(i, [&](particle_id other) { found = found || other == j; });
    for_each_excluded(j, [&](particle_id other) { found = found || other == i; });
    return found;
  }

  /// Whether pairs depend on radii, types, systems or exclusions.
  [[nodiscard]] QUADRAT_HD bool has_properties() const {
    return system_of_point != nullptr || rule != cutoff_rule::uniform || excluded_offsets != nullptr;
  }
  /// A hash of a point's system, radius, type and excluded pairs, to detect changes.
  [[nodiscard]] QUADRAT_HD std::uint64_t properties_of(std::size_t i) const {
    std::uint64_t hash = 0;
    const auto add = [&](std::uint64_t word) { hash = hashed_keys::hash((hash ^ word) + 0x9e3779b97f4a7c15u); };
    if (system_of_point != nullptr) add(system_of_point[i]);
    if (rule == cutoff_rule::table_of_types) {
      add(types[i]);
    } else if (rule != cutoff_rule::uniform) {
      std::uint64_t bits = 0;
      memcpy(&bits, radii + i, sizeof(T));
      add(bits);
    }
    if (excluded_offsets != nullptr) {
      add(excluded_offsets[i + 1] - excluded_offsets[i]);
      for_each_excluded(i, [&](particle_id other) { add(other); });
    }
    return hash;
  }
};

/// The number of the cell that stores a point. An invalid point is a fault and goes to the first cell.
template <typename T, int D>
struct search_key {
  neighbor_search<T, D> search;
  bool accept_outside;
  fault_flag faults;

  QUADRAT_HD cell_id operator()(std::size_t i) const { return at(i, read(i)); }
  [[nodiscard]] QUADRAT_HD vec<T, D> read(std::size_t i) const { return search.points[i]; }
  [[nodiscard]] QUADRAT_HD cell_id at(std::size_t i, const vec<T, D>& point) const {
    if (!check(i, point, search.system_of_point, i)) return 0;
    return cell_in(search.systems[search.system_at(search.system_of_point, i)], point);
  }
  [[nodiscard]] QUADRAT_HD static cell_id cell_in(const search_system<T, D>& system, const vec<T, D>& point) {
    vec<int, D> boxes{};
    return system.cell_of(system.shape.wrap(point, boxes));
  }

  /// Returns whether point `i` of an array is valid; raises the fault `number` if it is not.
  QUADRAT_HD bool check(std::size_t i, const vec<T, D>& point, const std::uint32_t* of, std::uint64_t number) const {
    if (of != nullptr && of[i] >= search.system_count) {
      faults.raise(fault_kind::key_range, number);
      return false;
    }
    return check_in(search.systems[search.system_at(of, i)].shape, point, number);
  }
  QUADRAT_HD bool check_in(const lattice<T, D>& shape, const vec<T, D>& point, std::uint64_t number) const {
    const fault_kind fault = fault_of(shape, point);
    if (fault != fault_kind::none) faults.raise(fault, number);
    return fault == fault_kind::none;
  }
  [[nodiscard]] QUADRAT_HD fault_kind fault_of(const lattice<T, D>& shape, const vec<T, D>& point) const {
    bool inside = true;
    bool finite = true;
    for (int axis = 0; axis < D; ++axis) {
      finite = finite && point[axis] - point[axis] == T(0);
      inside = inside && is_inside(shape, point, axis);
    }
    if (!finite) return fault_kind::not_finite;
    return inside ? fault_kind::none : fault_kind::outside;
  }

 private:
  [[nodiscard]] QUADRAT_HD bool is_inside(const lattice<T, D>& shape, const vec<T, D>& point, int axis) const {
    if (shape.orthorhombic) {
      const T offset = point[axis] - shape.origin[axis];
      if (offset >= T(0) && offset <= shape.vectors[axis][axis]) return true;
    }
    if (shape.periodic[axis]) return std::fabs(shape.fraction(point, axis)) <= T(lattice<T, D>::most_boxes);
    if (accept_outside) return true;
    if (shape.orthorhombic) return false;
    // Rounding may put the fraction of a point on a face slightly outside.
    T size = T(0);
    for (int k = 0; k < D; ++k) {
      size += std::fabs(shape.inverse[axis][k]) * (std::fabs(point[k]) + std::fabs(shape.origin[k]));
    }
    const T rounding = (sizeof(T) == 4 ? T(5e-7) : T(1e-15)) * size;
    const T fraction = shape.fraction(point, axis);
    return fraction >= -rounding && fraction <= T(1) + rounding;
  }
};

/// The same for one system, passed by value: kernels read it from their arguments instead of from memory.
template <typename T, int D>
struct search_key_of_one {
  search_key<T, D> key;
  search_system<T, D> system;

  QUADRAT_HD cell_id operator()(std::size_t i) const { return at(i, read(i)); }
  [[nodiscard]] QUADRAT_HD vec<T, D> read(std::size_t i) const { return key.search.points[i]; }
  [[nodiscard]] QUADRAT_HD cell_id at(std::size_t i, const vec<T, D>& point) const {
    return key.check_in(system.shape, point, i) ? key.cell_in(system, point) : 0;
  }
};

}  // namespace quadrat::detail

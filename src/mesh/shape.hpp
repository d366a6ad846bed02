// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "quadrat/core/macros.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "quadrat/parallel/fault.hpp"

/// All methods of spreading see a mesh of three axes. Meshes of fewer dimensions use the last axes, and have one mesh
/// point with weight 1 along the first ones, so that every method is written once.
namespace quadrat::detail {

inline constexpr int most_mesh_extent = 1 << 22;
/// The limit along the first axis for meshes of several systems, whose places are relative to a system's mesh.
inline constexpr int most_stack_extent = 1 << 24;

/// Indices: 0, 1, 2 with 2 varying fastest.
struct mesh_shape {
  int extent[3];
  int width[3];  ///< mesh points of a footprint: the window's width, 1 along an axis beyond the dimension
  bool periodic[3];
  int first_axis;  ///< 3 - D

  [[nodiscard]] QUADRAT_HD std::size_t size() const {
    return static_cast<std::size_t>(extent[0]) * static_cast<std::size_t>(extent[1]) *
           static_cast<std::size_t>(extent[2]);
  }
  /// Mesh points of a footprint.
  [[nodiscard]] QUADRAT_HD int footprint_size() const { return width[0] * width[1] * width[2]; }

  /// Maps an index of a footprint, in (-extent - width, 2 extent + width), into the mesh; -1 if it is outside an open
  /// axis.
  [[nodiscard]] QUADRAT_HD int home(int index, int axis) const {
    const int n = extent[axis];
    if (index >= 0 && index < n) return index;
    if (!periodic[axis]) return -1;
    if (width[axis] <= n) return index < 0 ? index + n : index - n;
    const int rest = index % n;
    return rest < 0 ? rest + n : rest;
  }
  [[nodiscard]] QUADRAT_HD std::size_t node(int i, int j, int k) const {
    return (static_cast<std::size_t>(i) * static_cast<std::size_t>(extent[1]) + static_cast<std::size_t>(j)) *
               static_cast<std::size_t>(extent[2]) +
           static_cast<std::size_t>(k);
  }
};

[[nodiscard]] inline bool all_periodic(const mesh_shape& shape) {
  return shape.periodic[0] && shape.periodic[1] && shape.periodic[2];
}

/// A point's footprint: its first mesh point per axis, in [0, extent) along a periodic axis (the footprint may run past
/// the end), from -width to extent along an open one; and its place, the s of mesh_window. Both are 0 along axes beyond
/// the dimension.
template <typename T>
struct placed_point {
  T place[3];
  int first[3];
};

/// One axis: mesh units are (x - lower) * scale, computed in about twice the precision, because rounding the product
/// would change the place by extent * epsilon.
template <typename T>
struct mesh_axis {
  T lower;
  T upper;     ///< of the box
  T farthest;  ///< the greatest distance from `lower` of a point that is wrapped
  T scale;
  T scale_rest;  ///< the exact scale is scale + scale_rest
  T inverse_extent;
  int extent;
  int width;
  bool periodic;
  T begin;  ///< mesh units before the first mesh point, if the mesh is a part of a longer one that begins at `lower`

  struct position {
    int first;
    T place;
  };
  static constexpr T epsilon = std::numeric_limits<T>::epsilon();

  /// Any finite x. First mesh points beyond an open axis by more than a footprint are given as extent or -width. A
  /// position too many periods away to resolve gets an arbitrary valid place.
  [[nodiscard]] QUADRAT_HD position locate(T x) const {
    const T offset = x - lower;
    // The error of the difference (Knuth).
    const T virtual_lower = x - offset;
    const T offset_rest = (x - (offset + virtual_lower)) + (virtual_lower - lower);
    const T u = offset * scale;
    T rest = std::fma(offset, scale, -u);
    rest = std::fma(offset, scale_rest, rest);
    rest = std::fma(offset_rest, scale, rest);
    // For an odd width the footprint is shifted by half a mesh unit: u - 1/2 may be rounded if u is small, so its error
    // is kept.
    const T half = width % 2 == 0 ? T(0) : T(0.5);
    const T shifted = u - half;
    const T virtual_half = u - shifted;
    rest += (u - (shifted + virtual_half)) + (virtual_half - half);
    T whole = std::floor(shifted);
    T place = (shifted - whole) + rest;
    if (place < T(0)) {
      place += T(1);
      whole -= T(1);
    } else if (place >= T(1)) {
      place -= T(1);
      whole += T(1);
    }
    // Rounding may have given 1.
    if (place >= T(1)) {
      place = T(0);
      whole += T(1);
    }
    if (!(place >= T(0))) place = T(0);
    const int before = width / 2;
    return {home(whole - static_cast<T>(before) + T(1) - begin), place - T(0.5)};
  }
  /// The same position to rounding, with the footprint moved inside an open axis if only the end of its window, whose
  /// weight is zero, is outside.
  [[nodiscard]] QUADRAT_HD position moved_inside(const position& at) const {
    const bool next = !periodic && at.first > 0 && at.first == extent - width + 1;
    const bool at_end = at.place + T(0.5) <= static_cast<T>(extent) * epsilon;
    return next && at_end ? position{at.first - 1, T(0.5) - epsilon / 2} : at;
  }

 private:
  [[nodiscard]] QUADRAT_HD int home(T first) const {
    if (!periodic) {
      if (!(first > T(-width))) return -width;
      return first < T(extent) ? static_cast<int>(first) : extent;
    }
    // Periods are counted on whole numbers, which stay exact; a position less than one period below the box would not.
    const T turns = std::floor(first * inverse_extent);
    const T index = std::fma(-turns, T(extent), first);
    // Beyond 2^24 (2^53) mesh points the index cannot be resolved; any valid index may be returned.
    if (!(index >= T(-extent) && index < T(2 * extent))) return 0;
    // The quotient may have been rounded up to the next period.
    if (index < T(0)) return static_cast<int>(index) + extent;
    return index < T(extent) ? static_cast<int>(index) : static_cast<int>(index) - extent;
  }
};

/// Places the caller's points, and checks them.
template <typename T>
struct point_placement {
  mesh_axis<T> axis[3];
  const T* component[3];  ///< nullptr for an axis beyond the dimension
  std::size_t stride;
  std::size_t count;
  bool accept_outside;  ///< of the box, along open axes
  bool clip;            ///< along open axes
  fault_flag faults;
  const std::uint32_t* system;  ///< of each point; nullptr for one system
  std::uint32_t systems;
  int stacked_axis;    ///< along which the meshes of systems follow one another
  int system_spacing;  ///< mesh points from one to the next

  /// Places point i. A refused point raises a fault and gets a safe place.
  [[nodiscard]] QUADRAT_HD placed_point<T> operator()(std::size_t i) const {
    placed_point<T> placed{};
    fault_kind fault = fault_kind::none;
    int shift = 0;
    if (system != nullptr) {
      const std::uint32_t of = system[i];
      if (of >= systems) fault = fault_kind::key_range;
      shift = of < systems ? static_cast<int>(of) * system_spacing : 0;
    }
    QUADRAT_UNROLL
    for (int a = 0; a < 3; ++a) {
      if (component[a] == nullptr) continue;
      const T x = component[a][i * stride];
      const fault_kind here = fault_of(a, x);
      if (here == fault_kind::not_finite || fault == fault_kind::none) fault = here == fault_kind::none ? fault : here;
      auto position = axis[a].locate(here == fault_kind::none ? x : axis[a].lower);
      if (!clip) position = axis[a].moved_inside(position);
      placed.first[a] = position.first + (a == stacked_axis ? shift : 0);
      placed.place[a] = position.place;
      if (!axis[a].periodic && !clip && (position.first < 0 || position.first + axis[a].width > axis[a].extent)) {
        if (fault == fault_kind::none) fault = fault_kind::value_range;
        placed.first[a] = 0;
      }
    }
    if (fault != fault_kind::none) faults.raise(fault, i);
    return placed;
  }

 private:
  [[nodiscard]] QUADRAT_HD fault_kind fault_of(int a, T x) const {
    if (!(x - x == T(0))) return fault_kind::not_finite;
    if (!axis[a].periodic) {
      const bool inside = x >= axis[a].lower && x <= axis[a].upper;
      return accept_outside || inside ? fault_kind::none : fault_kind::outside;
    }
    return std::fabs(x - axis[a].lower) <= axis[a].farthest ? fault_kind::none : fault_kind::outside;
  }
};

/// The layout of the values of one call: channel c of point i is data[value(i, c)], of mesh point k data[node(k, c)].
/// Channels are the components (2 for complex values) of all vectors.
struct value_layout {
  std::size_t points;
  std::size_t nodes;
  int components;  ///< 1 or 2
  int vectors;

  [[nodiscard]] QUADRAT_HD int channels() const { return components * vectors; }
  [[nodiscard]] QUADRAT_HD std::size_t value(std::size_t i, int channel) const { return at(points, i, channel); }
  [[nodiscard]] QUADRAT_HD std::size_t node(std::size_t k, int channel) const { return at(nodes, k, channel); }
  [[nodiscard]] QUADRAT_HD std::size_t mesh_values() const { return nodes * static_cast<std::size_t>(channels()); }

 private:
  [[nodiscard]] QUADRAT_HD std::size_t at(std::size_t size, std::size_t i, int channel) const {
    const auto c = static_cast<std::size_t>(channel), n = static_cast<std::size_t>(components);
    return (c / n * size + i) * n + c % n;
  }
};

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "mesh/mesh_view.hpp"
#include "quadrat/core/macros.hpp"

/// The meshes of several systems, one after another along their first axis. Footprints do not wrap around along it, but
/// extend into mesh points beyond a mesh's end, which represent those at its beginning.
namespace quadrat::detail {

struct mesh_ends {
  std::size_t systems;
  std::size_t extent;   ///< of a mesh along the first axis
  std::size_t spacing;  ///< from one mesh to the next
  std::size_t layer;    ///< numbers of the mesh points at one place along the first axis

  /// Mesh points beyond the end of a mesh, along the first axis.
  [[nodiscard]] QUADRAT_HD std::size_t beyond() const { return spacing - extent; }
  /// The mesh points at the beginning that they represent.
  [[nodiscard]] QUADRAT_HD std::size_t shared() const { return beyond() < extent ? beyond() : extent; }

  struct place {
    std::size_t system;
    std::size_t at;  ///< along the first axis
    std::size_t number;
  };
  /// Number i of [system][at, below count][layer].
  [[nodiscard]] QUADRAT_HD place split(std::size_t i, std::size_t count) const {
    return {i / layer / count, i / layer % count, i % layer};
  }
  /// The meshes in an array of `held` numbers. Throws argument_error unless its size is exactly theirs.
  template <typename T>
  [[nodiscard]] mesh_view<T> view(T* meshes, std::size_t held) const {
    const mesh_view<T> all{meshes, {systems, spacing, layer}};
    require_whole(all, held);
    return all;
  }
};

/// Adds the contributions spread beyond the ends. Index: number of the shared mesh points.
template <typename T>
struct add_ends {
  mesh_ends ends;
  mesh_view<T> mesh;

  QUADRAT_HD void operator()(std::size_t i) const {
    const auto of = ends.split(i, ends.shared());
    T sum = mesh(of.system, of.at, of.number);
    for (std::size_t at = of.at + ends.extent; at < ends.spacing; at += ends.extent) {
      sum += mesh(of.system, at, of.number);
    }
    mesh(of.system, of.at, of.number) = sum;
  }
};

/// Copies the values to be interpolated beyond the ends. Index: number of the mesh points beyond.
template <typename T>
struct copy_ends {
  mesh_ends ends;
  mesh_view<T> mesh;

  QUADRAT_HD void operator()(std::size_t i) const {
    const auto of = ends.split(i, ends.beyond());
    mesh(of.system, of.at + ends.extent, of.number) = mesh(of.system, of.at % ends.extent, of.number);
  }
};

/// Copies between meshes with ends and meshes without. Index: number of the meshes without.
template <typename T>
struct leave_out_ends {
  mesh_ends ends;
  mesh_view<T> from;
  T* to;

  QUADRAT_HD void operator()(std::size_t i) const {
    const auto of = ends.split(i, ends.extent);
    to[i] = from(of.system, of.at, of.number);
  }
};
template <typename T>
struct make_room_for_ends {
  mesh_ends ends;
  const T* from;
  mesh_view<T> to;

  QUADRAT_HD void operator()(std::size_t i) const {
    const auto of = ends.split(i, ends.extent);
    to(of.system, of.at, of.number) = from[i];
  }
};

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "mesh/engine.hpp"
#include "mesh/sparse/rows.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

inline constexpr int most_group_size = 1024;

/// A mesh cut into blocks of group_size mesh points. Blocks are as cubic as the size allows, not rows of the fastest
/// axis. A block of 4^3 receives 19 mesh points of a footprint of 6^3 at a time; a row of 64 receives five or six. So a
/// footprint reserves space in a third as many groups, and writes longer pieces.
struct group_grid {
  mesh_shape shape;
  int block[3];   ///< mesh points of a group along each axis; their product is the group size
  int blocks[3];  ///< groups along each axis

  [[nodiscard]] QUADRAT_HD int group_size() const { return block[0] * block[1] * block[2]; }
  [[nodiscard]] QUADRAT_HD std::size_t groups() const {
    return static_cast<std::size_t>(blocks[0]) * static_cast<std::size_t>(blocks[1]) *
           static_cast<std::size_t>(blocks[2]);
  }
  [[nodiscard]] QUADRAT_HD std::size_t group(int a, int b, int c) const {
    return (static_cast<std::size_t>(a) * static_cast<std::size_t>(blocks[1]) + static_cast<std::size_t>(b)) *
               static_cast<std::size_t>(blocks[2]) +
           static_cast<std::size_t>(c);
  }
  /// The mesh point of a row of a group, or -1 past the end of the mesh.
  [[nodiscard]] QUADRAT_HD std::int64_t node(std::size_t group, int row) const {
    const auto planes = static_cast<std::size_t>(blocks[1]) * static_cast<std::size_t>(blocks[2]);
    const std::size_t in_plane = group % planes;
    const int i = static_cast<int>(group / planes) * block[0] + row / (block[1] * block[2]);
    const int j =
        static_cast<int>(in_plane / static_cast<std::size_t>(blocks[2])) * block[1] + row / block[2] % block[1];
    const int k = static_cast<int>(in_plane % static_cast<std::size_t>(blocks[2])) * block[2] + row % block[2];
    if (i >= shape.extent[0] || j >= shape.extent[1] || k >= shape.extent[2]) return -1;
    return static_cast<std::int64_t>(shape.node(i, j, k));
  }

  /// A mesh point of a footprint along an axis, and the piece of the footprint that shares its group.
  struct slot {
    int block;  ///< -1: clipped
    int local;  ///< its index in the group
    int start;  ///< first index of the piece
    int length;
  };
  [[nodiscard]] QUADRAT_HD slot locate(int first, int axis, int j) const {
    const int home = shape.home(first + j, axis);
    if (home < 0) return {-1, 0, 0, 0};
    const int local = home % block[axis];
    int start = j;
    while (start > 0 && follows(first + start, axis)) --start;
    int end = j + 1;
    while (end < shape.width[axis] && follows(first + end, axis)) ++end;
    return {home / block[axis], local, start, end - start};
  }

 private:
  /// Whether a mesh point and the one before it are neighbors in one group: false where a footprint wraps around.
  [[nodiscard]] QUADRAT_HD bool follows(int index, int axis) const {
    const int home = shape.home(index, axis);
    const int before = shape.home(index - 1, axis);
    return home >= 0 && before >= 0 && home == before + 1 && home % block[axis] != 0;
  }
};

[[nodiscard]] group_grid make_group_grid(const mesh_shape& shape, int group_size);

/// The contributions of a group are contiguous, [offsets[group], offsets[group + 1]), in pieces. A piece belongs to one
/// point, and its mesh points are distinct. The top bit of a column marks the first contribution of a piece.
template <typename T>
struct group_entries {
  static constexpr std::uint32_t first_of_piece = 0x80000000u;

  const std::uint64_t* offsets;
  T* weights;
  std::uint32_t* columns;
  std::uint16_t* rows;  ///< in the group
};

/// The destination of pieces of footprints: the next free place at cursors[group] or, with bases, base[first[i] + j]
/// for piece j of point i. Pieces of a point are numbered with the last axis fastest.
struct piece_places {
  std::uint64_t* cursors;
  const std::uint32_t* first;
  const std::uint64_t* base;
};

/// Adds the number of contributions to each group to counts[group].
template <typename T>
void count_groups(const cpu_context& context, const contribution_source<T>& source, const group_grid& grid,
                  std::uint64_t* counts);
/// Writes all contributions. Cursors start at the groups' offsets and move to their ends.
template <typename T>
void insert_in_groups(const cpu_context& context, const contribution_source<T>& source, const group_grid& grid,
                      const piece_places& places, const group_entries<T>& entries);
/// Writes the sums of all mesh points. `average`: mean number of contributions per group.
template <typename T>
void multiply_groups(const cpu_context& context, const group_grid& grid, const group_entries<T>& entries,
                     const channel_pair<T>& channels, double average);

#if QUADRAT_HAS_CUDA
// Asynchronous.
template <typename T>
void count_groups(const cuda_context& context, const contribution_source<T>& source, const group_grid& grid,
                  std::uint64_t* counts);
template <typename T>
void insert_in_groups(const cuda_context& context, const contribution_source<T>& source, const group_grid& grid,
                      const piece_places& places, const group_entries<T>& entries);
template <typename T>
void multiply_groups(const cuda_context& context, const group_grid& grid, const group_entries<T>& entries,
                     const channel_pair<T>& channels, double average);
#else
template <typename T>
void count_groups(const cuda_context& context, const contribution_source<T>&, const group_grid&, std::uint64_t*) {
  context.activate();
}
template <typename T>
void insert_in_groups(const cuda_context& context, const contribution_source<T>&, const group_grid&,
                      const piece_places&, const group_entries<T>&) {
  context.activate();
}
template <typename T>
void multiply_groups(const cuda_context& context, const group_grid&, const group_entries<T>&, const channel_pair<T>&,
                     double) {
  context.activate();
}
#endif

}  // namespace quadrat::detail

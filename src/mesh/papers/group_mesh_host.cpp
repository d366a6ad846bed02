// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include "mesh/papers/group_order.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/for_each_part.hpp"

namespace quadrat::detail {

/// The blocks that cut footprints into the fewest pieces; among equals, the one longest along the fastest axis.
group_grid make_group_grid(const mesh_shape& shape, int group_size) {
  group_grid best{};
  double least = 0;
  for (int a = 1; a <= group_size; ++a) {
    if (group_size % a != 0) continue;
    for (int b = 1; b <= group_size / a; ++b) {
      if (group_size / a % b != 0) continue;
      group_grid grid{shape, {a, b, group_size / a / b}, {}};
      double pieces = 1;
      for (int axis = 0; axis < 3; ++axis) {
        grid.blocks[axis] = (shape.extent[axis] + grid.block[axis] - 1) / grid.block[axis];
        pieces *= std::min(static_cast<double>(grid.blocks[axis]),
                           1.0 + static_cast<double>(shape.width[axis] - 1) / grid.block[axis]);
      }
      if (least == 0 || pieces < least) {
        least = pieces;
        best = grid;
      }
    }
  }
  return best;
}

std::size_t most_pieces(const group_grid& grid) {
  std::size_t most = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const int width = grid.shape.width[axis];
    const int extent = grid.shape.extent[axis];
    const int block = grid.block[axis];
    int pieces = width == 1 ? 1 : (width - 2) / block + 2;
    // If the last block of the mesh is smaller, wrapping around cuts once more; on small meshes, more often.
    if (extent % block != 0) ++pieces;
    if (extent < width) pieces = width;
    most *= static_cast<std::size_t>(std::min(pieces, width));
  }
  return most;
}

namespace {

/// The slots of a footprint along each axis.
struct footprint_slots {
  template <typename T>
  footprint_slots(const group_grid& grid, const placed_point<T>& point) {
    for (int axis = 0; axis < 3; ++axis) {
      for (int j = 0; j < grid.shape.width[axis]; ++j) at[axis][j] = grid.locate(point.first[axis], axis, j);
    }
  }

  /// Calls f(group, slots of its first mesh point) for each piece of the footprint.
  template <typename F>
  void for_each_piece(const group_grid& grid, const F& f) const {
    const auto starts = [&](int axis, int j) { return at[axis][j].block >= 0 && at[axis][j].start == j; };
    for (int a = 0; a < grid.shape.width[0]; ++a) {
      if (!starts(0, a)) continue;
      for (int b = 0; b < grid.shape.width[1]; ++b) {
        if (!starts(1, b)) continue;
        for (int c = 0; c < grid.shape.width[2]; ++c) {
          if (!starts(2, c)) continue;
          f(grid.group(at[0][a].block, at[1][b].block, at[2][c].block),
            std::array<group_grid::slot, 3>{at[0][a], at[1][b], at[2][c]});
        }
      }
    }
  }

  group_grid::slot at[3][mesh_window<double>::most_width];
};

[[nodiscard]] std::uint64_t piece_size(const std::array<group_grid::slot, 3>& piece) {
  std::uint64_t size = 1;
  for (const group_grid::slot& along : piece) size *= static_cast<std::uint64_t>(along.length);
  return size;
}

/// The weights of one point, axis by axis.
template <typename T>
struct axis_weights {
  axis_weights(const contribution_source<T>& source, const placed_point<T>& point) {
    for (int axis = 0; axis < 3; ++axis) {
      for (int j = 0; j < source.shape.width[axis]; ++j) at[axis][j] = source.weight(point, axis, j);
    }
  }
  T at[3][mesh_window<T>::most_width];
};

template <int Channels, typename T>
void multiply_group(const group_grid& grid, const group_entries<T>& entries, const channel_pair<T>& channels,
                    std::size_t group) {
  T sums[most_group_size * Channels];
  const int size = grid.group_size();
  std::fill(sums, sums + size * Channels, T(0));
  for (std::uint64_t e = entries.offsets[group]; e < entries.offsets[group + 1]; ++e) {
    const std::size_t point = entries.columns[e] & ~group_entries<T>::first_of_piece;
    for (int c = 0; c < Channels; ++c) {
      sums[entries.rows[e] * Channels + c] += entries.weights[e] * channels.value[c][point * channels.stride];
    }
  }
  for (int row = 0; row < size; ++row) {
    const std::int64_t node = grid.node(group, row);
    if (node < 0) continue;
    for (int c = 0; c < Channels; ++c) channels.store(c, static_cast<std::size_t>(node), sums[row * Channels + c]);
  }
}

}  // namespace

template <typename T>
void count_groups(const cpu_context& context, const contribution_source<T>& source, const group_grid& grid,
                  std::uint64_t* counts) {
  for_each(context, "mesh.count_groups", source.count, [&](std::size_t i) {
    footprint_slots(grid, source.points[i]).for_each_piece(grid, [&](std::size_t group, const auto& piece) {
      atomic_add(counts + group, piece_size(piece));
    });
  });
}

template <typename T>
void insert_in_groups(const cpu_context& context, const contribution_source<T>& source, const group_grid& grid,
                      const piece_places& places, const group_entries<T>& entries) {
  for_each(context, "mesh.insert_in_groups", source.count, [&](std::size_t i) {
    const axis_weights<T> weights(source, source.points[i]);
    std::size_t number = places.base != nullptr ? places.first[i] : 0;
    footprint_slots(grid, source.points[i]).for_each_piece(grid, [&](std::size_t group, const auto& piece) {
      std::uint64_t at =
          places.base != nullptr ? places.base[number++] : atomic_add(places.cursors + group, piece_size(piece));
      std::uint32_t mark = group_entries<T>::first_of_piece;
      for (int a = 0; a < piece[0].length; ++a) {
        for (int b = 0; b < piece[1].length; ++b) {
          for (int c = 0; c < piece[2].length; ++c) {
            entries.weights[at] = weights.at[0][piece[0].start + a] * weights.at[1][piece[1].start + b] *
                                  weights.at[2][piece[2].start + c];
            entries.columns[at] = static_cast<std::uint32_t>(i) | mark;
            entries.rows[at] = static_cast<std::uint16_t>(
                ((piece[0].local + a) * grid.block[1] + piece[1].local + b) * grid.block[2] + piece[2].local + c);
            mark = 0;
            ++at;
          }
        }
      }
    });
  });
}

template <typename T>
void multiply_groups(const cpu_context& context, const group_grid& grid, const group_entries<T>& entries,
                     const channel_pair<T>& channels, double /*average*/) {
  for_each_part(context.threads(), grid.groups(), [&](std::size_t group) {
    if (channels.count == 2) {
      multiply_group<2>(grid, entries, channels, group);
    } else {
      multiply_group<1>(grid, entries, channels, group);
    }
  });
}

#define QUADRAT_INSTANTIATE(T)                                                                                      \
  template void count_groups(const cpu_context&, const contribution_source<T>&, const group_grid&, std::uint64_t*); \
  template void insert_in_groups(const cpu_context&, const contribution_source<T>&, const group_grid&,              \
                                 const piece_places&, const group_entries<T>&);                                     \
  template void multiply_groups(const cpu_context&, const group_grid&, const group_entries<T>&,                     \
                                const channel_pair<T>&, double);
QUADRAT_INSTANTIATE(float)
QUADRAT_INSTANTIATE(double)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "distributed/fft/transposed_transform.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"

#if defined(__CUDACC__)
#include "quadrat/parallel/cuda_launch.hpp"
#endif

/// Transposes a matrix on a GPU, writing into the memories of several devices.
namespace quadrat::detail {

/// Transposes [row][column] to [column][row]. Each rank gets `width` columns, the last one fewer. Column c of rank r is
/// written to data[r] + (c - r * width) * stride + offset.
template <typename T>
struct transposition {
  static constexpr int most = 16;

  const moved_number<T>* from;
  std::size_t rows, columns;
  std::size_t width;
  std::size_t stride, offset;
  moved_number<T>* data[most];
};

#if defined(__CUDACC__)

inline constexpr unsigned transposed_tile = 32;
inline constexpr unsigned transposed_lines = 8;  ///< of a tile that a block handles at a time

template <typename T>
__global__ void __launch_bounds__(transposed_tile* transposed_lines)
    transpose_kernel(const __grid_constant__ transposition<T> what, std::uint32_t ranks, std::uint32_t tiles_of_rank) {
  // Raw bytes, because shared variables cannot have constructors. One more column avoids bank conflicts.
  __shared__ alignas(16) unsigned char memory[transposed_tile * (transposed_tile + 1) * sizeof(moved_number<T>)];
  auto* const tile = reinterpret_cast<moved_number<T>*>(memory);
  // Blocks that run at the same time write to different ranks: in order of columns all devices would write to one.
  const std::uint32_t turn = blockIdx.x % ranks, rest = blockIdx.x / ranks;
  const std::size_t first_column =
      (static_cast<std::size_t>(turn) * tiles_of_rank + rest % tiles_of_rank) * transposed_tile;
  const std::size_t first_row = static_cast<std::size_t>(rest / tiles_of_rank) * transposed_tile;
  for (unsigned line = threadIdx.y; line < transposed_tile; line += transposed_lines) {
    const std::size_t row = first_row + line, column = first_column + threadIdx.x;
    if (row < what.rows && column < what.columns) {
      tile[line * (transposed_tile + 1) + threadIdx.x] = what.from[row * what.columns + column];
    }
  }
  __syncthreads();
  for (unsigned line = threadIdx.y; line < transposed_tile; line += transposed_lines) {
    const std::size_t row = first_row + threadIdx.x, column = first_column + line;
    if (row >= what.rows || column >= what.columns) continue;
    const auto rank = static_cast<std::uint32_t>(column) / static_cast<std::uint32_t>(what.width);
    const std::size_t own = column - rank * what.width;
    what.data[rank][own * what.stride + what.offset + row] = tile[threadIdx.x * (transposed_tile + 1) + line];
  }
}

#endif

/// Does not wait. Throws argument_error beyond 2^32 - 1 columns, or 2^31 - 1 tiles.
template <typename T>
void transpose(const cuda_context& context, const char* name, const transposition<T>& what) {
#if defined(__CUDACC__)
  if (what.rows == 0 || what.columns == 0) return;
  require(what.columns <= 0xffffffffu, "a matrix of ", what.columns, " columns is too large to be transposed");
  const cuda_launch launch(context, name);
  const auto parts = [](std::size_t whole, std::size_t part) { return (whole + part - 1) / part; };
  const std::size_t ranks = parts(what.columns, what.width);
  const std::size_t tiles_of_rank = parts(parts(what.columns, transposed_tile), ranks);
  const std::size_t tiles = ranks * tiles_of_rank * parts(what.rows, transposed_tile);
  transpose_kernel<<<cuda_launch::blocks(tiles, 1), dim3(transposed_tile, transposed_lines), 0, context.stream()>>>(
      what, static_cast<std::uint32_t>(ranks), static_cast<std::uint32_t>(tiles_of_rank));
  launch.check();
#else
  static_cast<void>(name);
  static_cast<void>(what);
  context.activate();
  throw backend_error("a transposition was compiled by a host compiler; compile this source with nvcc");
#endif
}

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/for_each_part.hpp"

#if defined(__CUDACC__)
#include "quadrat/parallel/cuda_launch.hpp"
#endif

/// Sums over the stored modes of a real mesh, by shells of the wave number.
///
/// Modes that differ in the signs of k along the first two axes are one group, of up to four: they have the same place
/// among the shells. Groups with the same k along these axes are a row, along which k increases. Rows are dealt to
/// parts, each with sums of its own: on CPUs a part is the work of a thread, on GPUs of a warp. The order of additions
/// depends only on the mesh and the shells.
namespace quadrat::detail {

inline constexpr int most_shell_columns = 3;

/// Three axes, the last one halved. With two dimensions the first has one mode.
struct shell_mesh {
  int extent[3];
  const double* squares[3];  ///< (2 pi n / L)^2, by n >= 0, or by mode of the block
  const double* edges;       ///< squared, one more than shells
  std::uint32_t shells;
  int part[3];  ///< of a block, along its first axes: its modes, each of which is a group; 0: all, grouped by sign

  [[nodiscard]] std::size_t rows() const {
    return static_cast<std::size_t>(groups(0)) * static_cast<std::size_t>(groups(1));
  }
  /// Along an axis: modes n >= 0, or those of the block.
  [[nodiscard]] QUADRAT_HD int groups(int axis) const { return part[axis] > 0 ? part[axis] : extent[axis] / 2 + 1; }
  [[nodiscard]] QUADRAT_HD int stored(int axis) const { return part[axis] > 0 ? part[axis] : extent[axis]; }
  /// Whether n and -n are two modes of a group.
  [[nodiscard]] QUADRAT_HD bool mirrored(int n, int axis) const {
    return part[axis] == 0 && n != 0 && 2 * n != extent[axis];
  }

  /// The shell of a squared wave number. Below all shells: UINT32_MAX, one less than 0; above: `shells`.
  [[nodiscard]] QUADRAT_HD std::uint32_t shell(double square) const {
    std::uint32_t first = 0, last = shells + 1;  // the first edge above is among these
    while (first < last) {
      const std::uint32_t middle = (first + last) / 2;
      if (edges[middle] <= square) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    return first - 1;
  }
};

/// The modes (+-n_x, +-n_y, n_z), where n counts those of a block, and those of the other sign of n_z, which are not
/// stored.
struct mode_group {
  int n[3];
  double square;  ///< of the wave number

  /// Modes for each stored one.
  [[nodiscard]] QUADRAT_HD double times(const shell_mesh& mesh) const { return mesh.mirrored(n[2], 2) ? 2 : 1; }
};

/// Index: [group of parts][number]. Sums of `per` parts, in their order.
struct join_parts {
  const double* from;
  std::size_t size;  ///< of a part
  std::size_t parts;
  std::size_t per;
  double* to;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t first = i / size * per, last = first + per < parts ? first + per : parts;
    double sum = 0;
    for (std::size_t part = first; part < last; ++part) sum += from[part * size + i % size];
    to[i] = sum;
  }
};

/// values(group, numbers) gives the numbers of a group, of which `columns` are added.
template <typename Values>
void sum_rows(const cpu_context& context, const char* /*name*/, const shell_mesh& mesh, const Values& values,
              int columns, std::size_t parts, double* sums) {
  for_each_part(context.threads(), parts, [&](std::size_t part) {
    double* const own = sums + part * static_cast<std::size_t>(columns) * mesh.shells;
    for (std::size_t row = part; row < mesh.rows(); row += parts) {
      mode_group group{{static_cast<int>(row) / mesh.groups(1), static_cast<int>(row) % mesh.groups(1), 0}, 0};
      const double across = mesh.squares[0][group.n[0]] + mesh.squares[1][group.n[1]];
      std::uint32_t next = mesh.shell(across) + 1;  // the first edge above
      for (; group.n[2] < mesh.groups(2); ++group.n[2]) {
        group.square = across + mesh.squares[2][group.n[2]];
        while (next <= mesh.shells && mesh.edges[next] <= group.square) ++next;
        if (next == 0) continue;
        if (next > mesh.shells) break;
        double numbers[most_shell_columns];
        values(group, numbers);
        for (int c = 0; c < columns; ++c) own[static_cast<std::size_t>(c) * mesh.shells + next - 1] += numbers[c];
      }
    }
  });
}

#if defined(__CUDACC__)

/// Adds the values of lanes with one shell to the last of them. Shells do not decrease along the lanes.
__device__ inline void join_lanes_of_shells(std::uint32_t shell, int columns, double (&numbers)[most_shell_columns]) {
  constexpr unsigned all = 0xffffffffu;
  const unsigned lane = threadIdx.x % 32;
  for (unsigned apart = 1; apart < 32; apart *= 2) {
    const bool same = __shfl_up_sync(all, shell, apart) == shell && lane >= apart;
#pragma unroll
    for (int c = 0; c < most_shell_columns; ++c) {
      if (c < columns) {
        const double other = __shfl_up_sync(all, numbers[c], apart);
        if (same) numbers[c] += other;
      }
    }
  }
}

/// Warps are the parts.
template <typename Values>
__global__ void __launch_bounds__(cuda_launch::block)
    sum_rows_kernel(const __grid_constant__ shell_mesh mesh, const __grid_constant__ Values values, int columns,
                    std::size_t rows, std::size_t parts, double* sums) {
  constexpr unsigned all = 0xffffffffu;
  const unsigned lane = threadIdx.x % 32;
  const std::size_t part = (static_cast<std::size_t>(blockIdx.x) * cuda_launch::block + threadIdx.x) / 32;
  if (part >= parts) return;
  double* const own = sums + part * static_cast<std::size_t>(columns) * mesh.shells;
  const int middle = mesh.groups(1), last = mesh.groups(2);
  for (std::size_t row = part; row < rows; row += parts) {
    mode_group group{{static_cast<int>(row) / middle, static_cast<int>(row) % middle, 0}, 0};
    const double across = mesh.squares[0][group.n[0]] + mesh.squares[1][group.n[1]];
    for (int first = 0; first < last; first += 32) {
      group.n[2] = first + static_cast<int>(lane);
      std::uint32_t shell = mesh.shells;
      double numbers[most_shell_columns] = {0, 0, 0};
      if (group.n[2] < last) {
        group.square = across + mesh.squares[2][group.n[2]];
        shell = mesh.shell(group.square);
        if (shell < mesh.shells) values(group, numbers);
      }
      join_lanes_of_shells(shell, columns, numbers);
      const std::uint32_t right = __shfl_down_sync(all, shell, 1);
      if (shell < mesh.shells && (lane == 31 || right != shell)) {
#pragma unroll
        for (int c = 0; c < most_shell_columns; ++c) {
          if (c < columns) own[static_cast<std::size_t>(c) * mesh.shells + shell] += numbers[c];
        }
      }
      __syncwarp();                                          // the next lanes may add to the same sums
      if (__shfl_sync(all, shell, 0) == mesh.shells) break;  // all that follow are above the last shell
    }
  }
}

template <typename Values>
void sum_rows(const cuda_context& context, const char* name, const shell_mesh& mesh, const Values& values, int columns,
              std::size_t parts, double* sums) {
  const cuda_launch launch(context, name);
  sum_rows_kernel<<<cuda_launch::blocks(32 * parts), cuda_launch::block, 0, context.stream()>>>(
      mesh, values, columns, mesh.rows(), parts, sums);
  launch.check();
}

#endif

/// Parts for that many sums, each of which has memory of its own: enough for all lanes of a GPU, and for the threads of
/// any CPU.
template <typename Context>
[[nodiscard]] std::size_t shell_parts(std::size_t size) {
  constexpr bool on_cpu = std::is_same_v<Context, cpu_context>;
  constexpr std::size_t most_numbers = std::size_t{1} << (on_cpu ? 20 : 22), most = on_cpu ? 64 : 2048;
  return std::clamp<std::size_t>(most_numbers / size, on_cpu ? 1 : 32, most);
}

/// The sums of `columns` numbers over the groups of each shell: result[column][shell]. `memory` grows. Waits.
template <typename Context, typename Values>
[[nodiscard]] std::vector<double> sum_shells(const Context& context, const char* name, const shell_mesh& mesh,
                                             const Values& values, int columns, array<double, Context>& memory) {
  const std::size_t size = static_cast<std::size_t>(columns) * mesh.shells, parts = shell_parts<Context>(size);
  const std::size_t per = std::min<std::size_t>(parts, 64), joined = (parts + per - 1) / per;
  memory.resize_discarding(context, (parts + joined + 1) * size);
  double *const sums = memory.data(), *const groups = sums + parts * size, *const result = groups + joined * size;
  fill_bytes(context, sums, 0, parts * size * sizeof(double));
  sum_rows(context, name, mesh, values, columns, parts, sums);
  for_each(context, "spectral.join_parts", joined * size, join_parts{sums, size, parts, per, groups});
  for_each(context, "spectral.join_parts", size, join_parts{groups, size, joined, joined, result});
  return to_host(context, static_cast<const double*>(result), size);
}

}  // namespace quadrat::detail

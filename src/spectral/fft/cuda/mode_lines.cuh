// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

#include "core/cuda_check.hpp"
#include "core/shared_memory.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/cuda_launch.hpp"
#include "spectral/fft/cuda/butterfly.hpp"
#include "spectral/fft/libraries.hpp"

/// Fourier transforms of complex meshes in three dimensions on GPUs, axis by axis, without the lines that hold no
/// wanted modes. A block transforms a few neighboring lines in shared memory, by Stockham's algorithm.
namespace quadrat::detail {

inline constexpr int most_line_stages = 10, mode_line_threads = 256;

/// One length, a product of 2, 3 and 5.
template <typename T>
struct mode_line {
  int points, stages;
  int radix[most_line_stages];
  const fft_number<T>* roots;  ///< exp(-2 pi i m / points)
};

/// A transform with the sign 1 is the one with the sign -1 between numbers with their parts swapped.
template <typename T>
[[nodiscard]] __device__ __forceinline__ fft_number<T> swapped(const fft_number<T>& x, bool swap) {
  return swap ? fft_number<T>{x.im, x.re} : x;
}

/// Multiplies number r by root number * r. Factors other than the first, second and fourth are computed as products of
/// these, because reading them takes longer.
template <int Radix, typename T>
__device__ __forceinline__ void turn_few(const fft_number<T>* roots, int number, fft_number<T> (&v)[Radix]) {
  fft_number<T> turn[Radix];
#pragma unroll
  for (int r = 1; r < Radix; ++r) {
    const int low = r & 1 ? 1 : 2, rest = r - low;  // r is 1, 2 or 4, or a sum of smaller ones
    turn[r] = r == 1 || r == 2 || r == 4 ? roots[number * r] : turn[rest] * turn[low];
    v[r] = v[r] * turn[r];
  }
}

/// One stage, of a line for threads `lane`, lane + lanes, ...; `done` is the product of the radices before.
template <int Radix, typename T, typename Load, typename Store>
__device__ __forceinline__ void line_stage(const mode_line<T>& line, int done, int lane, int lanes, const Load& load,
                                           const Store& store) {
  const int step = line.points / Radix;
  for (int j = lane; j < step; j += lanes) {
    fft_number<T> v[Radix];
#pragma unroll
    for (int r = 0; r < Radix; ++r) v[r] = load(j + r * step);
    int to = j * Radix;
    if (done > 1) {
      const int block = j / done, k = j - block * done;
      to = block * done * Radix + k;
      turn_few(line.roots, step / done * k, v);
    }
    small_transform<Radix>(v);
#pragma unroll
    for (int r = 0; r < Radix; ++r) store(to + r * done, v[r]);
  }
}

template <typename T, typename Load, typename Store>
__device__ __forceinline__ void line_stage_of(const mode_line<T>& line, int radix, int done, int lane, int lanes,
                                              const Load& load, const Store& store) {
  switch (radix) {
    case 2:
      return line_stage<2>(line, done, lane, lanes, load, store);
    case 3:
      return line_stage<3>(line, done, lane, lanes, load, store);
    case 4:
      return line_stage<4>(line, done, lane, lanes, load, store);
    case 5:
      return line_stage<5>(line, done, lane, lanes, load, store);
    case 6:
      return line_stage<6>(line, done, lane, lanes, load, store);
    default:
      return line_stage<8>(line, done, lane, lanes, load, store);
  }
}

/// The place of point i of a line in shared memory; gaps avoid bank conflicts.
[[nodiscard]] QUADRAT_HD constexpr int line_place(int i) { return i + i / 8; }

/// All stages. Points are `apart` in each of the two buffers of a line.
template <typename T, typename Load, typename Store>
__device__ __forceinline__ void transform_line(const mode_line<T>& line, int lane, int lanes, fft_number<T>* buffer,
                                               fft_number<T>* other, int apart, const Load& load, const Store& store) {
  int done = 1;
  for (int s = 0; s < line.stages; ++s) {
    const int radix = line.radix[s];
    const bool first = s == 0, last = s + 1 == line.stages;
    const auto from = [&](int i) { return buffer[line_place(i) * apart]; };
    const auto to = [&](int i, const fft_number<T>& v) { other[line_place(i) * apart] = v; };
    if (first && last) {
      line_stage_of(line, radix, done, lane, lanes, load, store);
    } else if (first) {
      line_stage_of(line, radix, done, lane, lanes, load, to);
    } else if (last) {
      line_stage_of(line, radix, done, lane, lanes, from, store);
    } else {
      line_stage_of(line, radix, done, lane, lanes, from, to);
    }
    __syncthreads();
    fft_number<T>* const used = buffer;
    buffer = other;
    other = used;
    done *= radix;
  }
}

/// Indices of an axis in a band.
struct cuda_band {
  int low, high, points;

  [[nodiscard]] QUADRAT_HD int count() const { return low + high; }
  [[nodiscard]] QUADRAT_HD bool has(int i) const { return i < low || i >= points - high; }
  [[nodiscard]] QUADRAT_HD int index(int number) const { return number < low ? number : number + points - count(); }
};

/// Lines along the first or the second axis, and which of them are transformed: those at `second` and `last` along the
/// axes after the first; for lines along the second axis, those of all planes.
struct cuda_columns {
  cuda_band second, last;
  std::size_t plane, row, step;  ///< from one plane, row, and number of a line to the next
};

/// Line y of the grid's blocks is a plane, z a mesh. ToModes: writes only the numbers in `own`. Otherwise numbers
/// outside `own` count as zero.
template <typename T, int Lines, bool ToModes>
__global__ void __launch_bounds__(mode_line_threads, 3)
    transform_columns_kernel(const __grid_constant__ mode_line<T> line, fft_number<T>* mesh, std::size_t apart,
                             const __grid_constant__ cuda_columns columns, cuda_band own, bool swap) {
  extern __shared__ double2 line_memory[];
  auto* const memory = reinterpret_cast<fft_number<T>*>(line_memory);
  const int of_line = static_cast<int>(threadIdx.x) % Lines, lane = static_cast<int>(threadIdx.x) / Lines;
  const int column = static_cast<int>(blockIdx.x) * Lines + of_line;
  const bool there = column < columns.second.count() * columns.last.count();
  const int along_second = there ? column / columns.last.count() : 0,
            along_last = there ? column - along_second * columns.last.count() : 0;
  fft_number<T>* const at = mesh + blockIdx.z * apart + blockIdx.y * columns.plane +
                            static_cast<std::size_t>(columns.second.index(along_second)) * columns.row +
                            static_cast<std::size_t>(columns.last.index(along_last));
  const auto node = [&](int i) -> fft_number<T>& { return at[static_cast<std::size_t>(i) * columns.step]; };
  transform_line(
      line, lane, mode_line_threads / Lines, memory + of_line, memory + of_line + line_place(line.points) * Lines,
      Lines,
      [&](int i) {
        return ToModes || own.has(i) ? swapped(node(i), swap) : fft_number<T>{0, 0};
      },
      [&](int i, const fft_number<T>& v) {
        if (there && (!ToModes || own.has(i))) node(i) = swapped(v, swap);
      });
}

/// All lines along the last axis, of mesh z of the grid's blocks.
template <typename T, int Lines, bool ToModes>
__global__ void __launch_bounds__(mode_line_threads, 3)
    transform_rows_kernel(const __grid_constant__ mode_line<T> line, fft_number<T>* mesh, std::size_t apart, int rows,
                          cuda_band own, bool swap) {
  extern __shared__ double2 line_memory[];
  constexpr int lanes = mode_line_threads / Lines;
  const int of_line = static_cast<int>(threadIdx.x) / lanes, lane = static_cast<int>(threadIdx.x) % lanes;
  const int row = static_cast<int>(blockIdx.x) * Lines + of_line;
  const bool there = row < rows;
  fft_number<T>* const at =
      mesh + blockIdx.z * apart + static_cast<std::size_t>(there ? row : 0) * static_cast<std::size_t>(line.points);
  const int size = line_place(line.points);
  auto* const memory = reinterpret_cast<fft_number<T>*>(line_memory) + 2 * size * of_line;
  transform_line(
      line, lane, lanes, memory, memory + size, 1,
      [&](int q) {
        return ToModes || own.has(q) ? swapped(at[q], swap) : fft_number<T>{0, 0};
      },
      [&](int q, const fft_number<T>& v) {
        if (there && (!ToModes || own.has(q))) at[q] = swapped(v, swap);
      });
}

/// The largest points of a line.
inline constexpr int most_mode_line = 1024;
/// The most meshes of a launch.
inline constexpr int most_line_meshes = 65535;

/// The data of cuda_line for one length, with its roots on the device.
template <typename T>
class mode_line_plan {
 public:
  mode_line_plan() = default;
  mode_line_plan(const cuda_context& context, int points) {
    line_.points = points;
    int rest = points;
    const auto take = [&](int radix) {
      for (; rest % radix == 0; rest /= radix) line_.radix[line_.stages++] = radix;
    };
    for (const int radix : {8, 6, 4, 5, 3, 2}) take(radix);
    std::vector<std::complex<T>> roots;
    for (int m = 0; m < points; ++m) {
      const double angle = -2 * std::numbers::pi * m / points;
      roots.emplace_back(static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle)));
    }
    roots_ = to_device(context, roots);
    line_.roots = reinterpret_cast<const fft_number<T>*>(roots_.data());
  }
  [[nodiscard]] const mode_line<T>& line() const { return line_; }
  [[nodiscard]] std::size_t bytes() const { return roots_.bytes(); }

 private:
  mode_line<T> line_{};
  array<std::complex<T>, cuda_context> roots_;
};

template <typename T>
class mode_lines final : public mode_transform<T> {
 public:
  static constexpr int columns = sizeof(T) == 4 ? 8 : 4, rows = 4;  ///< lines of a block

  [[nodiscard]] static bool serves(const cuda_context& context, const transform_shape& shape) {
    if (shape.real || shape.count > most_line_meshes) return false;
    const std::size_t room = shared_memory_of_block(context);
    for (int axis = 0; axis < 3; ++axis) {
      const int extent = shape.extent[axis];
      if (extent < 2 || extent > most_mode_line || memory(extent, axis == 2 ? rows : columns) > room) return false;
    }
    return true;
  }
  mode_lines(const cuda_context& context, const transform_shape& shape) : context_(context), shape_(shape) {
    for (int axis = 0; axis < 3; ++axis) lines_[axis] = mode_line_plan<T>(context, shape.extent[axis]);
    context.activate();
    allow(transform_columns_kernel<T, columns, true>, columns);
    allow(transform_columns_kernel<T, columns, false>, columns);
    allow(transform_rows_kernel<T, rows, true>, rows);
    allow(transform_rows_kernel<T, rows, false>, rows);
  }

  [[nodiscard]] std::size_t spectrum_size() const override { return 0; }
  [[nodiscard]] std::size_t spectrum_row() const override { return static_cast<std::size_t>(shape_.extent[2]); }
  [[nodiscard]] std::size_t bytes() const override { return lines_[0].bytes() + lines_[1].bytes() + lines_[2].bytes(); }
  /// Modes outside the bands are not read.
  void clear(T*, std::complex<T>*) override {}
  /// Starts with the last axis, which is contiguous in memory. Later axes have fewer lines.
  void to_modes(T* mesh, std::complex<T>*, int sign) override {
    transform_rows<true>(mesh, sign);
    transform_columns<true>(mesh, 1, sign);
    transform_columns<true>(mesh, 0, sign);
  }
  void to_mesh(std::complex<T>*, T* mesh, int sign) override {
    transform_columns<false>(mesh, 0, sign);
    transform_columns<false>(mesh, 1, sign);
    transform_rows<false>(mesh, sign);
  }

 private:
  template <typename Kernel>
  void allow(Kernel* kernel, int lines) {
    const std::size_t bytes = std::min(memory(most_mode_line, lines), shared_memory_of_block(context_));
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
               "asking for shared memory");
  }
  [[nodiscard]] static std::size_t memory(int points, int lines) {
    return 2 * sizeof(fft_number<T>) * static_cast<std::size_t>(line_place(points)) * static_cast<std::size_t>(lines);
  }
  [[nodiscard]] cuda_band band(int axis) const {
    return {shape_.band[axis].low, shape_.band[axis].high, shape_.extent[axis]};
  }

  template <bool ToModes>
  void transform_columns(T* mesh, int axis, int sign) {
    const cuda_launch launch(context_, "spectral.lines");
    const auto row = static_cast<std::size_t>(shape_.extent[2]),
               plane = row * static_cast<std::size_t>(shape_.extent[1]);
    const cuda_columns those{axis == 0 ? band(1) : cuda_band{1, 0, 1}, band(2), plane, row, axis == 0 ? plane : row};
    const auto lines = static_cast<std::size_t>(those.second.count()) * static_cast<std::size_t>(those.last.count());
    const dim3 blocks(cuda_launch::blocks(lines, columns), axis == 0 ? 1u : static_cast<unsigned>(shape_.extent[0]),
                      static_cast<unsigned>(shape_.count));
    transform_columns_kernel<T, columns, ToModes>
        <<<blocks, mode_line_threads, memory(shape_.extent[axis], columns), context_.stream()>>>(
            lines_[axis].line(), reinterpret_cast<fft_number<T>*>(mesh), shape_.apart, those, band(axis), sign > 0);
    launch.check();
  }
  template <bool ToModes>
  void transform_rows(T* mesh, int sign) {
    const cuda_launch launch(context_, "spectral.lines");
    const dim3 blocks(cuda_launch::blocks(shape_.rows(), rows), 1, static_cast<unsigned>(shape_.count));
    transform_rows_kernel<T, rows, ToModes>
        <<<blocks, mode_line_threads, memory(shape_.extent[2], rows), context_.stream()>>>(
            lines_[2].line(), reinterpret_cast<fft_number<T>*>(mesh), shape_.apart, static_cast<int>(shape_.rows()),
            band(2), sign > 0);
    launch.check();
  }

  cuda_context context_;
  transform_shape shape_;
  mode_line_plan<T> lines_[3];
};

}  // namespace quadrat::detail

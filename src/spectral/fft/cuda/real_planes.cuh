// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>

#include "spectral/fft/cuda/mode_lines.cuh"

/// A real mesh to its modes, each multiplied by a factor, and back, in three launches: planes in the shared memory of a
/// block each, then lines along the first axis there and back, then planes again. For meshes so small that a library's
/// launches, and one for the factors, take longer than the work.
namespace quadrat::detail {

/// Threads of a block for planes; fewer where numbers take twice the registers.
template <typename T>
inline constexpr int plane_threads = sizeof(T) == 4 ? 1024 : 512;
/// Neighboring lines along the first axis of a block.
template <typename T>
inline constexpr int plane_lines = sizeof(T) == 4 ? 8 : 4;
/// From one number of these lines to the next in shared memory; odd, to avoid bank conflicts.
template <typename T>
inline constexpr int line_pitch = plane_lines<T> + 1;

/// A plane: rows of real numbers, taken two at a time as complex ones, then half of a spectrum.
template <typename T>
struct real_plane {
  mode_line<T> half, second;   ///< of half a row, and along the second axis
  const fft_number<T>* roots;  ///< exp(-2 pi i k / row)

  [[nodiscard]] QUADRAT_HD int rows() const { return second.points; }
  [[nodiscard]] QUADRAT_HD int modes() const { return half.points + 1; }
  /// From one row to the next in shared memory: odd, so that a column has no bank twice.
  [[nodiscard]] QUADRAT_HD int pitch() const { return modes() | 1; }
  [[nodiscard]] QUADRAT_HD int size() const { return rows() * pitch(); }
};

/// Transforms `lines` lines, at most as many as the block has threads, with the sign -1. Number i of line l is at l *
/// line_step + i * step. Returns the buffer with the result; the other one is free. All threads of the block take part.
template <int Threads, typename T>
__device__ fft_number<T>* transform_lines(const mode_line<T>& line, int lines, int line_step, int step,
                                          fft_number<T>* buffer, fft_number<T>* other) {
  const int lanes = Threads / lines, lane = static_cast<int>(threadIdx.x) / lines;
  const int first = static_cast<int>(threadIdx.x) % lines * line_step;
  int done = 1;
  for (int s = 0; s < line.stages; ++s) {
    const int radix = line.radix[s];
    if (lane < lanes) {
      line_stage_of(
          line, radix, done, lane, lanes, [&](int i) { return buffer[first + i * step]; },
          [&](int i, const fft_number<T>& v) { other[first + i * step] = v; });
    }
    __syncthreads();
    fft_number<T>* const used = buffer;
    buffer = other;
    other = used;
    done *= radix;
  }
  return buffer;
}

/// Calls f(row, k) for the modes k of each row up to the middle one, which stand for themselves and the one before the
/// end of the row.
template <typename T, typename F>
__device__ __forceinline__ void for_each_mode_pair(const real_plane<T>& plane, const F& f) {
  const int pairs = plane.half.points / 2 + 1, all = plane.rows() * pairs;
  for (int i = static_cast<int>(threadIdx.x); i < all; i += plane_threads<T>) f(i / pairs, i % pairs);
}

template <typename T>
[[nodiscard]] __device__ __forceinline__ fft_number<T> conjugate(const fft_number<T>& x) {
  return {x.re, -x.im};
}

/// Block: a plane.
template <typename T>
__global__ void __launch_bounds__(plane_threads<T>)
    planes_to_modes_kernel(const __grid_constant__ real_plane<T> plane, const fft_number<T>* __restrict__ mesh,
                           fft_number<T>* __restrict__ spectrum) {
  extern __shared__ double2 line_memory[];
  auto* const memory = reinterpret_cast<fft_number<T>*>(line_memory);
  const int half = plane.half.points, modes = plane.modes(), pitch = plane.pitch();
  const std::size_t number = blockIdx.x;
  mesh += number * static_cast<std::size_t>(plane.rows() * half);
  for (int i = static_cast<int>(threadIdx.x); i < plane.rows() * half; i += plane_threads<T>) {
    memory[i / half * pitch + i % half] = mesh[i];
  }
  __syncthreads();
  const fft_number<T>* const rows =
      transform_lines<plane_threads<T>>(plane.half, plane.rows(), pitch, 1, memory, memory + plane.size());
  fft_number<T>* const joined = rows == memory ? memory + plane.size() : memory;
  // The transforms of the even and the odd numbers of a row, and from these its modes.
  for_each_mode_pair(plane, [&](int row, int k) {
    const fft_number<T> a = rows[row * pitch + k], b = conjugate(rows[row * pitch + (k == 0 ? 0 : half - k)]);
    const fft_number<T> even{T(0.5) * (a.re + b.re), T(0.5) * (a.im + b.im)};
    const fft_number<T> odd = fft_number<T>{T(0.5) * (a.re - b.re), T(0.5) * (a.im - b.im)}.turned() * plane.roots[k];
    joined[row * pitch + k] = even + odd;
    joined[row * pitch + half - k] = conjugate(even - odd);
  });
  __syncthreads();
  const fft_number<T>* const result = transform_lines<plane_threads<T>>(
      plane.second, modes, 1, pitch, joined, joined == memory ? memory + plane.size() : memory);
  spectrum += number * static_cast<std::size_t>(plane.rows() * modes);
  for (int i = static_cast<int>(threadIdx.x); i < plane.rows() * modes; i += plane_threads<T>) {
    spectrum[i] = result[i / modes * pitch + i % modes];
  }
}

/// Block: a plane. Transforms with the sign 1, as ones with the sign -1 between numbers with their parts swapped.
template <typename T>
__global__ void __launch_bounds__(plane_threads<T>)
    planes_to_mesh_kernel(const __grid_constant__ real_plane<T> plane, const fft_number<T>* __restrict__ spectrum,
                          fft_number<T>* __restrict__ mesh) {
  extern __shared__ double2 line_memory[];
  auto* const memory = reinterpret_cast<fft_number<T>*>(line_memory);
  const int half = plane.half.points, modes = plane.modes(), pitch = plane.pitch();
  const std::size_t number = blockIdx.x;
  spectrum += number * static_cast<std::size_t>(plane.rows() * modes);
  for (int i = static_cast<int>(threadIdx.x); i < plane.rows() * modes; i += plane_threads<T>) {
    memory[i / modes * pitch + i % modes] = swapped(spectrum[i], true);
  }
  __syncthreads();
  const fft_number<T>* const columns =
      transform_lines<plane_threads<T>>(plane.second, modes, 1, pitch, memory, memory + plane.size());
  fft_number<T>* const split = columns == memory ? memory + plane.size() : memory;
  for_each_mode_pair(plane, [&](int row, int k) {
    const fft_number<T> a = swapped(columns[row * pitch + k], true),
                        b = conjugate(swapped(columns[row * pitch + half - k], true));
    const fft_number<T> even = a + b, odd = (a - b) * conjugate(plane.roots[k]);
    // Even + i odd, and the same of their conjugates.
    split[row * pitch + k] = {even.im + odd.re, even.re - odd.im};
    if (k > 0) split[row * pitch + half - k] = {odd.re - even.im, even.re + odd.im};
  });
  __syncthreads();
  const fft_number<T>* const result = transform_lines<plane_threads<T>>(
      plane.half, plane.rows(), pitch, 1, split, split == memory ? memory + plane.size() : memory);
  mesh += number * static_cast<std::size_t>(plane.rows() * half);
  for (int i = static_cast<int>(threadIdx.x); i < plane.rows() * half; i += plane_threads<T>) {
    mesh[i] = swapped(result[i / half * pitch + i % half], true);
  }
}

/// Lines along the first axis, neighboring ones of a block: to their modes, weigh(place, parts), and back.
template <typename T, typename Weigh>
__global__ void __launch_bounds__(mode_line_threads, 3)
    weigh_lines_kernel(const __grid_constant__ mode_line<T> line, fft_number<T>* spectrum, int row, int plane,
                       const __grid_constant__ Weigh weigh) {
  constexpr int lines = plane_lines<T>, pitch = line_pitch<T>, lanes = mode_line_threads / lines;
  extern __shared__ double2 line_memory[];
  const int of_line = static_cast<int>(threadIdx.x) % lines, lane = static_cast<int>(threadIdx.x) / lines;
  const int column = static_cast<int>(blockIdx.x) * lines + of_line;
  const bool there = column < plane;
  fft_number<T>* const at = spectrum + column;
  auto* const memory = reinterpret_cast<fft_number<T>*>(line_memory);
  fft_number<T>* const other = memory + line.points * pitch;
  if (there) {
    for (int i = lane; i < line.points; i += lanes) memory[of_line + i * pitch] = at[i * plane];
  }
  __syncthreads();
  fft_number<T>* const modes = transform_lines<mode_line_threads>(line, lines, 1, pitch, memory, other);
  if (there) {
    int place[3] = {lane, column / row, column % row};
    for (; place[0] < line.points; place[0] += lanes) {
      fft_number<T>& number = modes[of_line + place[0] * pitch];
      T parts[2] = {number.re, number.im};
      weigh(place, parts);
      number = {parts[1], parts[0]};
    }
  }
  __syncthreads();
  const fft_number<T>* const result =
      transform_lines<mode_line_threads>(line, lines, 1, pitch, modes, modes == memory ? other : memory);
  if (there) {
    for (int i = lane; i < line.points; i += lanes) at[i * plane] = swapped(result[of_line + i * pitch], true);
  }
}

/// See above. Modes are C-ordered, extent / 2 + 1 of them along the last axis.
template <typename T>
class real_planes {
 public:
  /// Whether blocks have room for planes, one for each multiprocessor.
  [[nodiscard]] static bool serves(const cuda_context& context, const transform_shape& shape) {
    constexpr std::size_t room_of_lines = 48'000;
    if (!shape.real || shape.count > 1 || shape.extent[0] > context.multiprocessors()) return false;
    for (const int extent : shape.extent) {
      if (extent < 2 || extent > plane_threads<T>) return false;
    }
    return plane_memory(shape) <= shared_memory_of_block(context) && line_memory(shape.extent[0]) <= room_of_lines;
  }
  real_planes(const cuda_context& context, const transform_shape& shape)
      : context_(context),
        first_(context, shape.extent[0]),
        second_(context, shape.extent[1]),
        half_(context, shape.extent[2] / 2),
        last_(context, shape.extent[2]),
        plane_bytes_(plane_memory(shape)) {
    context.activate();
    const auto allow = [](auto* kernel, std::size_t bytes) {
      check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
                 "asking for shared memory");
    };
    const std::size_t most = shared_memory_of_block(context);
    allow(planes_to_modes_kernel<T>, most);
    allow(planes_to_mesh_kernel<T>, most);
  }

  /// Replaces the mesh by the sum over its modes, as by mode_transform::to_modes with the sign -1, weigh(place, parts)
  /// of each, and to_mesh. The first places are modes modulo the extent; the last one is 0 to extent / 2, and factors
  /// of the others must be those of their negatives. `spectrum` is written. Asynchronous, allocates nothing. The same
  /// bits in every run.
  template <typename Weigh>
  void weigh(T* mesh, std::complex<T>* spectrum, const Weigh& weigh) const {
    auto* const pairs = reinterpret_cast<fft_number<T>*>(mesh);
    auto* const modes = reinterpret_cast<fft_number<T>*>(spectrum);
    const real_plane<T> plane{half_.line(), second_.line(), last_.line().roots};
    const int columns = plane.rows() * plane.modes();
    const auto planes = static_cast<unsigned>(first_.line().points);
    const cuda_launch launch(context_, "spectral.real_planes");
    planes_to_modes_kernel<T><<<planes, plane_threads<T>, plane_bytes_, context_.stream()>>>(plane, pairs, modes);
    launch.check();
    weigh_lines_kernel<T>
        <<<cuda_launch::blocks(static_cast<std::size_t>(columns), plane_lines<T>), mode_line_threads,
           line_memory(first_.line().points), context_.stream()>>>(first_.line(), modes, plane.modes(), columns, weigh);
    launch.check();
    planes_to_mesh_kernel<T><<<planes, plane_threads<T>, plane_bytes_, context_.stream()>>>(plane, modes, pairs);
    launch.check();
  }
  [[nodiscard]] std::size_t bytes() const { return first_.bytes() + second_.bytes() + half_.bytes() + last_.bytes(); }

 private:
  [[nodiscard]] static std::size_t plane_memory(const transform_shape& shape) {
    return 2 * sizeof(fft_number<T>) * static_cast<std::size_t>(shape.extent[1]) *
           static_cast<std::size_t>((shape.extent[2] / 2 + 1) | 1);
  }
  [[nodiscard]] static std::size_t line_memory(int points) {
    return 2 * sizeof(fft_number<T>) * static_cast<std::size_t>(points * line_pitch<T>);
  }

  cuda_context context_;
  mode_line_plan<T> first_, second_, half_, last_;
  std::size_t plane_bytes_;
};

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/particle/threads.hpp"

#include <algorithm>
#include <cstdint>

#include "mesh/footprint.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

/// Exact division of numbers below 2^12 by 1 to 256: the error of the rounded reciprocal stays below 2^20.
struct small_divisor {
  std::uint32_t divisor;
  std::uint32_t reciprocal;

  explicit small_divisor(int number)
      : divisor(static_cast<std::uint32_t>(number)), reciprocal(((1u << 20) + divisor - 1) / divisor) {}
  [[nodiscard]] QUADRAT_HD std::uint32_t quotient(std::uint32_t number) const { return number * reciprocal >> 20; }
};

inline constexpr int batch_lanes = 32;
inline constexpr int warps_of_block = 4;

/// The most points of a warp: as many as its lanes, or fewer where more would not fit into shared memory.
template <int Width>
inline constexpr int batch_points = Width <= mesh_window<double>::most_fixed_width ? batch_lanes : 8;

/// The points of one warp in shared memory. Weights and places are stored axis by axis. A point's stride is odd, so
/// that lanes that each write a point use different banks.
template <typename T, int Width>
struct warp_points {
  static constexpr int stride = 3 * Width | 1;
  T weight[batch_points<Width>][stride];
  int place[batch_points<Width>][stride];  ///< its part of the mesh point's number; -1 outside an open axis
  T value[batch_points<Width>][2];
};

/// The steps of a warp for a batch of points, with windows `Width` wide, or narrower if loops are not fixed. The warp
/// synchronizes between steps.
template <typename T, int Width>
struct batch_spreading {
  using batch_type = warp_points<T, Width>;

  mesh_shape shape;
  mesh_window<T> window;
  value_layout layout;
  const placed_point<T>* points;
  const T* values;
  T* mesh;
  small_divisor by_rows;    ///< rows of a footprint
  small_divisor by_second;  ///< rows in a plane of it
  int batch_size;           ///< points of a warp, 1 to batch_points

  [[nodiscard]] QUADRAT_HD int row_points() const { return fixed ? Width : shape.width[2]; }

  static constexpr bool fixed = Width <= mesh_window<T>::most_fixed_width;

  /// Called by one lane, for point i, if loops are fixed.
  QUADRAT_HD void prepare(batch_type& batch, int lane, std::size_t i) const {
    const placed_point<T> point = points[i];
    int unit = 1;
    const footprint<T, Width> weights(window, shape, point);
    QUADRAT_UNROLL
    for (int axis = 2; axis >= 0; --axis) {
      QUADRAT_UNROLL
      for (int j = 0; j < Width; ++j) {
        const int home = j < shape.width[axis] ? shape.home(point.first[axis] + j, axis) : -1;
        batch.weight[lane][axis * Width + j] = weights.weight[axis][j];
        batch.place[lane][axis * Width + j] = home < 0 ? -1 : home * unit;
      }
      unit *= shape.extent[axis];
    }
  }

  /// Each lane calls it, if loops are not fixed, for its part of the weights of `here` points from `first` on. One lane
  /// alone would compute them one after another.
  QUADRAT_HD void prepare_together(batch_type& batch, const T (&coefficient)[mesh_window<T>::most_terms][Width],
                                   int lane, int here, std::size_t first) const {
    for (int e = lane; e < here * 3 * Width; e += batch_lanes) {
      const int p = e / (3 * Width), at = e - p * 3 * Width, axis = at / Width, j = at - axis * Width;
      if (j >= shape.width[axis]) continue;
      const placed_point<T>& point = points[first + static_cast<std::size_t>(p)];
      const int home = shape.home(point.first[axis] + j, axis);
      const int unit = axis == 2 ? 1 : axis == 1 ? shape.extent[2] : shape.extent[1] * shape.extent[2];
      T weight = axis < shape.first_axis ? T(1) : T(0);
      for (int d = axis < shape.first_axis ? -1 : window.terms - 1; d >= 0; --d) {
        weight = weight * point.place[axis] + coefficient[d][j];
      }
      batch.weight[p][at] = weight;
      batch.place[p][at] = home < 0 ? -1 : home * unit;
    }
  }

  /// Called by one lane, for the components of point i from `channel` on.
  QUADRAT_HD void take_values(batch_type& batch, int lane, std::size_t i, int channel) const {
    for (int c = 0; c < layout.components; ++c) batch.value[lane][c] = values[layout.value(i, channel + c)];
  }

  /// Called by each lane, for its part of the rows of `here` points.
  QUADRAT_HD void add_rows(const batch_type& batch, int lane, int here, int channel) const {
    const int row_lanes = row_points() * layout.components;
    const int rows_at_once = batch_lanes / row_lanes;
    const int column = lane % row_lanes / layout.components;
    const int component = lane % layout.components;
    if (lane >= rows_at_once * row_lanes) return;
    T* base = mesh + layout.node(0, channel) + component;
    const std::uint32_t rows = static_cast<std::uint32_t>(here) * by_rows.divisor;
    for (auto row = static_cast<std::uint32_t>(lane / row_lanes); row < rows;
         row += static_cast<std::uint32_t>(rows_at_once)) {
      const std::uint32_t p = by_rows.quotient(row);
      const std::uint32_t in_point = row - p * by_rows.divisor;
      const std::uint32_t a = by_second.quotient(in_point);
      const std::uint32_t b = in_point - a * by_second.divisor;
      const int x = batch.place[p][a];
      const int y = batch.place[p][Width + b];
      const int z = batch.place[p][2 * Width + column];
      if ((x | y | z) < 0) continue;
      const T weight = batch.weight[p][a] * batch.weight[p][Width + b] * batch.weight[p][2 * Width + column];
      const auto node = static_cast<std::size_t>(x + y + z);
      atomic_add(base + node * static_cast<std::size_t>(layout.components), batch.value[p][component] * weight);
    }
  }
};

/// One warp per batch of points.
template <typename T, int Width>
__global__ void __launch_bounds__(batch_lanes* warps_of_block)
    particle_threads_kernel(std::size_t count, const __grid_constant__ batch_spreading<T, Width> work) {
  constexpr bool fixed = batch_spreading<T, Width>::fixed;
  __shared__ warp_points<T, Width> batches[warps_of_block];
  __shared__ T coefficient[fixed ? 1 : mesh_window<T>::most_terms][Width];
  if constexpr (!fixed) {
    for (int k = static_cast<int>(threadIdx.x); k < work.window.terms * Width; k += batch_lanes * warps_of_block) {
      coefficient[k / Width][k % Width] = work.window.coefficient[k / Width][k % Width];
    }
    __syncthreads();
  }
  const int warp = static_cast<int>(threadIdx.x) / batch_lanes;
  const int lane = static_cast<int>(threadIdx.x) % batch_lanes;
  const auto size = static_cast<std::size_t>(work.batch_size);
  const std::size_t first = (static_cast<std::size_t>(blockIdx.x) * warps_of_block + warp) * size;
  if (first >= count) return;  // the whole warp; there are no more barriers
  const int here = static_cast<int>(min(size, count - first));
  warp_points<T, Width>& batch = batches[warp];
  if constexpr (!fixed) {
    work.prepare_together(batch, coefficient, lane, here, first);
  } else {
    if (lane < here) work.prepare(batch, lane, first + lane);
  }
  for (int channel = 0; channel < work.layout.channels(); channel += work.layout.components) {
    if (lane < here) work.take_values(batch, lane, first + lane, channel);
    __syncwarp();
    work.add_rows(batch, lane, here, channel);
    __syncwarp();
  }
}

/// Points per warp: `most`, or fewer so that there are enough warps for a whole GPU.
[[nodiscard]] int batch_size_for(std::size_t count, int most) {
  constexpr std::size_t warps_worth_having = 8192;
  return static_cast<int>(std::clamp<std::size_t>(count / warps_worth_having, 1, static_cast<std::size_t>(most)));
}

}  // namespace

template <typename Context, typename T>
void particle_threads_engine<Context, T>::spread(const value_layout& layout, const T* values, T* mesh,
                                                 bool accumulate) {
  this->clear(layout, mesh, accumulate);
  if (this->count() == 0) return;
  const mesh_shape& shape = this->setup().shape;
  const cuda_launch launch(this->context(), "mesh.particle_threads");
  with_any_width(this->setup().window.width, [&](auto width) {
    const int batch_size = batch_size_for(this->count(), batch_points<decltype(width)::value>);
    const auto blocks = cuda_launch::blocks(this->count(), static_cast<unsigned>(batch_size * warps_of_block));
    const batch_spreading<T, decltype(width)::value> work{shape,
                                                          this->setup().window,
                                                          layout,
                                                          this->points(),
                                                          values,
                                                          mesh,
                                                          small_divisor(shape.width[0] * shape.width[1]),
                                                          small_divisor(shape.width[1]),
                                                          batch_size};
    particle_threads_kernel<<<blocks, batch_lanes * warps_of_block, 0, this->context().stream()>>>(this->count(), work);
  });
  launch.check();
}

template class particle_threads_engine<cuda_context, float>;
template class particle_threads_engine<cuda_context, double>;

}  // namespace quadrat::detail

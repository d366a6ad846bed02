// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ewald/short_range/cuda/short_range.hpp"

#include "quadrat/parallel/cuda_launch.hpp"
#include "search/cell_walk.hpp"

namespace quadrat::detail {

inline constexpr unsigned short_range_block = 128;

/// The polynomials of split_polynomial, unrolled: coefficients are operands from the kernel's arguments.
template <int Terms, typename T>
__device__ typename split_polynomial<T>::sums unrolled_split_at(const split_polynomial<T>& split, T squared_distance) {
  const T t = squared_distance * split.scale - T(1);
  T value = split.value[Terms - 1], slope = split.slope[Terms - 1];
#pragma unroll
  for (int d = Terms - 2; d >= 0; --d) {
    value = value * t + split.value[d];
    slope = slope * t + split.slope[d];
  }
  return {value, slope};
}

template <typename T>
__device__ T inverse_root(T x) {
  if constexpr (sizeof(T) == 4) {
    return rsqrtf(x);
  } else {
    return rsqrt(x);
  }
}

/// `lanes` threads per charge, a power of two, take its candidates in turn.
template <int Terms, bool Coulomb, typename T>
__global__ void __launch_bounds__(short_range_block)
    short_range_kernel(const __grid_constant__ add_short_range<T> task, const __grid_constant__ ewald_domain<T> domain,
                       unsigned lanes) {
  const unsigned index = blockIdx.x * short_range_block + threadIdx.x;
  const unsigned slot = index / lanes, lane = index % lanes;
  if (slot >= task.all.count) return;
  const placed_charge<T> own = task.all.charges[slot];
  T potential = T(0);
  vec<T, 3> field{};
  const image_rows<T, 3> walk(domain.grid, task.all.offsets, own.position, task.split.cutoff);
  walk.for_each_image([&](const vec<int, 3>& shift) {
    const vec<T, 3> from = own.position - domain.shape.translation(shift);
    walk.for_each_range(shift, [&](const row_range<3>& range) {
      for (std::uint32_t other = range.first + lane; other < range.last; other += lanes) {
        const placed_charge<T> at = task.all.charges[other];
        const vec<T, 3> separation = at.position - from;
        const T squared_distance = squared_norm(separation);
        if (!(squared_distance < task.split.squared_cutoff)) continue;
        if (squared_distance <= task.squared_close && task.is_left_out(slot, other, shift, squared_distance)) continue;
        const auto smooth = unrolled_split_at<Terms>(task.split, squared_distance);
        T value, slope;
        if constexpr (Coulomb) {
          value = inverse_root(squared_distance);
          slope = T(-0.5) * value * value * value;
        } else {
          const law_value<T> law(false, squared_distance);
          value = law.value;
          slope = law.slope;
        }
        potential += at.charge * (value - smooth.value);
        field += (at.charge * (slope - smooth.slope)) * separation;
      }
    });
  });
  const unsigned members = lanes == 32 ? 0xffffffffu : ((1u << lanes) - 1) << (threadIdx.x % 32 / lanes * lanes);
  for (unsigned far = lanes / 2; far > 0; far /= 2) {
    potential += __shfl_xor_sync(members, potential, far);
    for (int axis = 0; axis < 3; ++axis) field[axis] += __shfl_xor_sync(members, field[axis], far);
  }
  if (lane != 0) return;
  task.sums.potentials[slot] = potential;
  task.sums.fields[slot] = T(2) * field;
}

template <int Terms, typename T>
void launch_short_range(const cuda_context& context, const add_short_range<T>& task, const ewald_domain<T>& domain,
                        double row_candidates) {
  const unsigned lanes = walking_threads(task.all.count, row_candidates, context.multiprocessors() * 2048.0);
  const cuda_launch launch(context, "ewald.short_range");
  const unsigned blocks = cuda_launch::blocks(std::size_t{lanes} * task.all.count, short_range_block);
  if (task.coulomb) {
    short_range_kernel<Terms, true><<<blocks, short_range_block, 0, context.stream()>>>(task, domain, lanes);
  } else {
    short_range_kernel<Terms, false><<<blocks, short_range_block, 0, context.stream()>>>(task, domain, lanes);
  }
  launch.check();
}

template <typename T>
bool enqueue_short_range(const cuda_context& context, const add_short_range<T>& task, const ewald_domain<T>& domain,
                         double row_candidates) {
  const int terms = task.split.terms;
  if (task.all.count == 0) return true;
  if (terms <= 8) {
    launch_short_range<8>(context, task, domain, row_candidates);
  } else if (terms <= 12) {
    launch_short_range<12>(context, task, domain, row_candidates);
  } else if (terms <= 16) {
    launch_short_range<16>(context, task, domain, row_candidates);
  } else if (terms <= 24) {
    launch_short_range<24>(context, task, domain, row_candidates);
  } else {
    return false;
  }
  return true;
}

}  // namespace quadrat::detail

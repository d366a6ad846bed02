// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/fft/cuda/lines.hpp"

#include "quadrat/parallel/cuda_launch.hpp"

namespace quadrat::detail {

namespace {

constexpr int line_threads = 256;

/// Block x: lines of a group. Block y: group, if there are not too many; the rest follow.
template <bool Strided, typename T>
__global__ void __launch_bounds__(line_threads, sizeof(T) == 4 ? 3 : 2)
    line_kernel(const __grid_constant__ line_pass<T> pass) {
  extern __shared__ __align__(16) unsigned char line_memory[];
  for (int group = static_cast<int>(blockIdx.y); group < pass.groups; group += static_cast<int>(gridDim.y)) {
    const line_block<T> block{pass, reinterpret_cast<fft_number<T>*>(line_memory), group,
                              static_cast<int>(blockIdx.x) << pass.shift};
    for (int p = 0; p < pass.digits.passes; ++p) {
      __syncthreads();
      run_line_pass<Strided>(block, p, static_cast<int>(threadIdx.x), line_threads);
    }
  }
}

template <bool Strided, typename T>
void launch_lines(const cuda_context& context, const line_pass<T>& pass) {
  const cuda_launch launch(context, "spectral.lines");
  const std::size_t bytes = pass.memory() * sizeof(fft_number<T>);
  cudaFuncSetAttribute(line_kernel<Strided, T>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  constexpr int most_groups = 65535;
  const dim3 blocks(static_cast<unsigned>(pass.blocks_of_group()),
                    static_cast<unsigned>(pass.groups < most_groups ? pass.groups : most_groups));
  line_kernel<Strided, T><<<blocks, line_threads, bytes, context.stream()>>>(pass);
  launch.check();
}

}  // namespace

template <typename T>
void run_lines(const cuda_context& context, const line_pass<T>& pass) {
  if (pass.lines == 0 || pass.groups == 0) return;
  const bool strided = pass.from.line_step == 1 && pass.to.line_step == 1;
  (strided ? launch_lines<true, T> : launch_lines<false, T>)(context, pass);
}

template void run_lines(const cuda_context&, const line_pass<float>&);
template void run_lines(const cuda_context&, const line_pass<double>&);

}  // namespace quadrat::detail

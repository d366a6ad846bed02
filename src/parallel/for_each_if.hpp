// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "quadrat/parallel/for_each.hpp"

/// A loop that is rarely needed, when only the device knows whether it is.
namespace quadrat::detail {

/// As for_each, but does nothing if *flag is 0 when the loop is about to run.
template <typename Body>
void for_each_if(const cpu_context& context, const std::uint32_t* flag, const char* name, std::size_t count,
                 const Body& body) {
  if (*flag != 0) for_each(context, name, count, body);
}

#if defined(__CUDACC__)

template <typename Body>
__global__ void __launch_bounds__(cuda_launch::block)
    for_each_if_kernel(const std::uint32_t* flag, std::size_t count, Body body) {
  if (*flag == 0) return;
  const std::size_t width = static_cast<std::size_t>(gridDim.x) * cuda_launch::block;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * cuda_launch::block + threadIdx.x; i < count; i += width) {
    body(i);
  }
}

/// A few blocks loop over all indices, so that a launch without work is cheap.
template <typename Body>
void for_each_if(const cuda_context& context, const std::uint32_t* flag, const char* name, std::size_t count,
                 const Body& body) {
  if (count == 0) return;
  constexpr unsigned most_blocks = 2048;
  const cuda_launch launch(context, name);
  for_each_if_kernel<<<std::min(launch.blocks(count), most_blocks), cuda_launch::block, 0, context.stream()>>>(
      flag, count, body);
  launch.check();
}

#else

template <typename Body>
void for_each_if(const cuda_context& context, const std::uint32_t* /*flag*/, const char* name, std::size_t count,
                 const Body& body) {
  for_each(context, name, count, body);
}

#endif

}  // namespace quadrat::detail

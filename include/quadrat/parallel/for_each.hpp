// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/macros.hpp"

#if defined(__CUDACC__)
#include "quadrat/parallel/cuda_launch.hpp"
#endif

namespace quadrat {

/// Calls body(i) for i in [0, count), each once, in any order. The body is a host-device functor (captures by value).
/// CPU: static partition over the context's threads. Finished on return.
template <typename Body>
void for_each(const cpu_context& context, const char* /*name*/, std::size_t count, const Body& body) {
  const auto last = static_cast<std::int64_t>(count);
  // A team costs some microseconds to wake, which small loops are not worth.
  constexpr std::int64_t worth_a_team = 2048;
#pragma omp parallel for schedule(static) num_threads(context.threads()) if (last >= worth_a_team)
  for (std::int64_t i = 0; i < last; ++i) body(static_cast<std::size_t>(i));
}

/// CUDA: one thread an index, asynchronously on the context's stream, under `name` in profiles. Only in sources that
/// nvcc compiles. Throws backend_error when the launch is refused.
template <typename Body>
void for_each(const cuda_context& context, const char* name, std::size_t count, const Body& body) {
#if defined(__CUDACC__)
  if (count == 0) return;
  const cuda_launch launch(context, name);
  detail::for_each_kernel<<<launch.blocks(count), cuda_launch::block, 0, context.stream()>>>(count, body);
  launch.check();
#else
  static_cast<void>(name);
  static_cast<void>(count);
  static_cast<void>(body);
  context.activate();
  throw backend_error("for_each on a CUDA context was compiled by a host compiler; compile this source with nvcc");
#endif
}

}  // namespace quadrat

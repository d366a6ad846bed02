// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/parallel/for_each_part.hpp"

#if defined(__CUDACC__)
#include "quadrat/parallel/cuda_launch.hpp"
#endif

namespace quadrat {

/// Calls body(i) once for each i in [0, count), in any order. The body is a host-device functor, copied by value. CPU:
/// a static partition over the context's threads; finished on return. A body may throw. Then each thread stops at its
/// first exception, so some later indices are not visited. When all threads have stopped, the exception of the lowest
/// index that threw is rethrown.
template <typename Body>
void for_each(const cpu_context& context, const char* /*name*/, std::size_t count, const Body& body) {
  detail::team_shares(
      context.threads(), count,
      [](const void* of, std::size_t first, std::size_t last) {
        const Body& visit = *static_cast<const Body*>(of);
        for (std::size_t i = first; i < last; ++i) visit(i);
      },
      &body);
}

/// CUDA: one thread per index on the context's stream, under `name` in profiles. Does not wait. Allocates nothing. Can
/// be captured. Only in sources that nvcc compiles. Throws backend_error if the launch is refused.
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

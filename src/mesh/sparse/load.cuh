// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include "mesh/sparse/rows.hpp"

namespace quadrat::detail {

/// Loads an entry that a product reads only once, in one load that is evicted first: the values of points need the
/// caches.
__device__ inline mesh_entry<float> load_once(const mesh_entry<float>* entry) {
  const int2 words = __ldcs(reinterpret_cast<const int2*>(entry));
  return {__int_as_float(words.x), static_cast<std::uint32_t>(words.y)};
}
__device__ inline mesh_entry<double> load_once(const mesh_entry<double>* entry) {
  const int4 words = __ldcs(reinterpret_cast<const int4*>(entry));
  return {__hiloint2double(words.y, words.x), static_cast<std::uint32_t>(words.z)};
}

}  // namespace quadrat::detail

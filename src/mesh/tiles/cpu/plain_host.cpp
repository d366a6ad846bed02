// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "mesh/tiles/cpu/vector_lanes.hpp"

namespace quadrat::detail {

namespace {

/// For processors without a specialized set: every x86-64 and ARM has registers of 16 bytes. Products are rounded: a
/// fused operation might be a function call.
struct any_processor {
  static constexpr int bytes = 16;
  template <typename Vector>
  QUADRAT_TILE_INLINE static Vector fused(Vector a, Vector b, Vector c) {
    return a * b + c;
  }
  template <typename Vector>
  QUADRAT_TILE_INLINE static Vector fused_exactly(Vector a, Vector b, Vector c) {
    for (std::size_t k = 0; k < bytes / sizeof(a[0]); ++k) c[k] = std::fma(a[k], b[k], c[k]);
    return c;
  }
  template <typename Vector>
  QUADRAT_TILE_INLINE static Vector floor(Vector x) {
    for (std::size_t k = 0; k < bytes / sizeof(x[0]); ++k) x[k] = std::floor(x[k]);
    return x;
  }
};

}  // namespace

const tile_functions<float>* plain_tile_functions(float) {
  static const tile_functions<float> functions = make_tile_functions<vector_lanes<float, any_processor>>();
  return &functions;
}
const tile_functions<double>* plain_tile_functions(double) {
  static const tile_functions<double> functions = make_tile_functions<vector_lanes<double, any_processor>>();
  return &functions;
}

}  // namespace quadrat::detail

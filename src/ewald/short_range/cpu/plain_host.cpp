// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "ewald/short_range/cpu/lanes.hpp"

namespace quadrat::detail {

namespace {

/// For processors without a specialized set: every x86-64 and ARM has registers of 16 bytes. Products are rounded: a
/// fused operation might be a function call.
struct plain_registers {
  static constexpr int bytes = 16;
  template <typename Vector>
  QUADRAT_EWALD_INLINE static Vector fused(Vector a, Vector b, Vector c) {
    return a * b + c;
  }
  template <typename Vector>
  QUADRAT_EWALD_INLINE static Vector inverse_root(Vector a) {
    for (std::size_t lane = 0; lane < sizeof(Vector) / sizeof(a[0]); ++lane) a[lane] = 1 / std::sqrt(a[lane]);
    return a;
  }
  template <typename Mask>
  QUADRAT_EWALD_INLINE static bool any(Mask mask) {
    bool found = false;
    for (std::size_t lane = 0; lane < sizeof(Mask) / sizeof(mask[0]); ++lane) found = found || mask[lane] != 0;
    return found;
  }
  template <std::size_t Count, typename Mask, typename Vector, typename T>
  QUADRAT_EWALD_INLINE static std::size_t pack(Mask mask, const Vector* from, T* const* to) {
    std::size_t next = 0;
    for (std::size_t lane = 0; lane < sizeof(Mask) / sizeof(mask[0]); ++lane) {
      if (mask[lane] == 0) continue;
      QUADRAT_EWALD_UNROLL
      for (std::size_t k = 0; k < Count; ++k) to[k][next] = from[k][lane];
      ++next;
    }
    return next;
  }
};

}  // namespace

pair_lanes_function<float> plain_pair_lanes(float, bool virials) {
  return virials ? pair_lanes<float, plain_registers, true>::sum : pair_lanes<float, plain_registers, false>::sum;
}
pair_lanes_function<double> plain_pair_lanes(double, bool virials) {
  return virials ? pair_lanes<double, plain_registers, true>::sum : pair_lanes<double, plain_registers, false>::sum;
}

}  // namespace quadrat::detail

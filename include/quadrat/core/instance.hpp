// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "quadrat/core/config.hpp"

namespace quadrat {

class cpu_context;
class cuda_context;

namespace detail {

/// The types and dimensions that the library is instantiated for. The compiler rejects others with one readable line,
/// before the linker would: `static_assert(detail::instance<Context, T, D>::exists)`.
template <typename T, int D, int LeastD = 2>
struct numbers_instance {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "quadrat: T must be float or double");
  static_assert(LeastD <= D && D <= 3, "quadrat: D must be 2 or 3; for boxes, grids and meshes also 1");
  static constexpr bool exists = true;
};

template <typename Context, typename T = double, int D = 3, int LeastD = 2>
struct instance : numbers_instance<T, D, LeastD> {
  static_assert(std::is_same_v<Context, cpu_context> || std::is_same_v<Context, cuda_context>,
                "quadrat: Context must be quadrat::cpu_context or quadrat::cuda_context");
  static_assert(std::is_same_v<Context, cpu_context> || QUADRAT_HAS_CUDA != 0,
                "quadrat: Context must be quadrat::cpu_context: this build of the library has no CUDA");
};

}  // namespace detail

}  // namespace quadrat

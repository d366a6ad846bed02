// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "mesh/tiles/cpu/cost.hpp"
#include "mesh/tiles/cpu/engine.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// The multicoloring approach (particle-mesh-spreading, section 2; Liu and Chow 2014): blocks of points get colors such
/// that footprints of two blocks of one color have no mesh point in common. Color after color, threads take blocks and
/// add their points to the mesh without atomic operations. The result has the same bits for any number of threads.
/// Interpolation is that of `tiles`, whose sorted points it uses.
template <typename T>
class multicolor_engine : public cpu_tiles_engine<T> {
 public:
  using cpu_tiles_engine<T>::cpu_tiles_engine;
  void spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) override;

 private:
  template <int Width, int Components>
  void add_tile(std::uint32_t tile, const value_layout& layout, const T* values, T* mesh);
};

extern template class multicolor_engine<float>;
extern template class multicolor_engine<double>;

struct multicolor_method {
  static constexpr std::string_view name = "multicolor";
  static constexpr std::string_view summary = "blocks of points that cannot collide, color after color";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = false;
  static constexpr determinism reproducible = determinism::run_to_run;
  static bool sets_points_async(const spread_request& /*request*/) { return true; }
  /// It processes tiles like `tiles`, and is faster for few points, because it adds only what they reach.
  static method_cost cost(const spread_request& request) { return cpu_tiles_cost(request); }
  template <typename Context, typename T>
  using engine = multicolor_engine<T>;
};

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string_view>
#include <type_traits>

#include "models/granular/engine.hpp"
#include "models/granular/fused.hpp"
#include "quadrat/cells/methods.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/method_list.hpp"

namespace quadrat {

template <typename CellList>
class granular_cells_engine;

namespace detail {

/// Every cell list is a method of the model.
template <typename CellMethod>
struct granular_cells_method {
  static constexpr std::string_view name = CellMethod::name;
  static constexpr std::string_view summary = CellMethod::summary;
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr bool canonical = true;

  template <typename Context, typename T>
  [[nodiscard]] static std::unique_ptr<granular_engine<Context, T>> make(const Context& context,
                                                                         const granular_setup<T>& setup) {
    using cell_list_type = typename CellMethod::template type<Context, T, 3>;
    return std::make_unique<granular_cells_engine<cell_list_type>>(context, setup);
  }
};

struct granular_fused_method {
  static constexpr std::string_view name = "fused";
  static constexpr std::string_view summary = "counting sort that carries the grains, forces and motion in one kernel";
  static constexpr bool on_cpu = false;
  static constexpr bool on_cuda = QUADRAT_HAS_CUDA != 0;
  static constexpr bool canonical = false;

  template <typename Context, typename T>
  [[nodiscard]] static std::unique_ptr<granular_engine<Context, T>> make(const Context& context,
                                                                         const granular_setup<T>& setup) {
    return make_fused_granular_engine<T>(context, setup);
  }
};

/// Engines that are written for this model alone. A new one is a new file and a line here; `on_cuda` must be false
/// where the build has no CUDA backend, because its kernels are then not there.
using granular_model_methods = method_list<granular_fused_method>;

template <typename CellMethods, typename ModelMethods>
struct joined_granular_methods;
template <typename... CellMethods, typename... ModelMethods>
struct joined_granular_methods<method_list<CellMethods...>, method_list<ModelMethods...>> {
  using type = method_list<granular_cells_method<CellMethods>..., ModelMethods...>;
};

/// All methods of the model.
using granular_method_list = joined_granular_methods<cell_list_methods, granular_model_methods>::type;

/// The engine of that name. Throws argument_error for an unknown name, and for one that this backend lacks.
template <typename Context, typename T>
[[nodiscard]] std::unique_ptr<granular_engine<Context, T>> make_granular_engine(std::string_view name,
                                                                                const Context& context,
                                                                                const granular_setup<T>& setup);

}  // namespace detail

}  // namespace quadrat

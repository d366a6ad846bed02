// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string_view>
#include <type_traits>

#include "core/paper_methods.hpp"
#include "models/granular/engine.hpp"
#include "models/granular/fused.hpp"
#include "models/granular/kept_rows.hpp"
#include "quadrat/cells/methods.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/method_list.hpp"

namespace quadrat {

template <typename CellList>
class granular_cells_engine;

namespace detail {

/// Cell lists that the model has for comparison only; quadrat::papers has their engines.
using granular_paper_cells =
    method_list<cell_methods::fixed, cell_methods::fixed_row_major, cell_methods::linked_loose,
                cell_methods::linked_loose_low_vertex, cell_methods::linked_packed, cell_methods::linked_tight>;

struct library_method {};

/// Every cell list is a method of the model.
template <typename CellMethod>
struct granular_cells_method
    : std::conditional_t<granular_paper_cells::contains(CellMethod::name), paper_method, library_method> {
  static constexpr std::string_view name = CellMethod::name;
  static constexpr std::string_view summary = CellMethod::summary;
  static constexpr bool on_cpu = CellMethod::on_cpu;
  static constexpr bool on_cuda = CellMethod::on_cuda;
  static constexpr determinism reproducible = CellMethod::reproducible;

  static double cost(const cell_load& load)
    requires requires { CellMethod::cost(load); }
  {
    return CellMethod::cost(load);
  }

  template <typename Context, typename T>
  using engine = granular_cells_engine<typename CellMethod::template type<Context, T, 3>>;
  template <typename Context, typename T>
  [[nodiscard]] static std::unique_ptr<granular_engine<Context, T>> make(const Context& context,
                                                                         const granular_setup<T>& setup) {
    if constexpr (of_papers<granular_cells_method>) {
      return paper_engine<granular_cells_method, granular_engine_maker<Context, T>>(context, setup);
    } else {
      return std::make_unique<engine<Context, T>>(context, setup);
    }
  }
};

/// Engines written for this model, with their descriptors. To add one, add its file and a line here.
using granular_model_methods = method_list<granular_fused_method, granular_listed_method>;

template <typename CellMethods, typename ModelMethods>
struct joined_granular_methods;
template <typename... CellMethods, typename... ModelMethods>
struct joined_granular_methods<method_list<CellMethods...>, method_list<ModelMethods...>> {
  using type = method_list<granular_cells_method<CellMethods>..., ModelMethods...>;
};

/// All methods of the model.
using granular_method_list = joined_granular_methods<cell_list_methods, granular_model_methods>::type;

/// Makes the named engine. Throws argument_error for an unknown name, and for one that this backend or the context's
/// level of determinism lacks.
template <typename Context, typename T>
[[nodiscard]] std::unique_ptr<granular_engine<Context, T>> make_granular_engine(std::string_view name,
                                                                                const Context& context,
                                                                                const granular_setup<T>& setup);

}  // namespace detail

}  // namespace quadrat

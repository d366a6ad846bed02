// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/automatic.hpp"
#include "mesh/checks.hpp"
#include "mesh/choice.hpp"
#include "mesh/engine.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "tune/autotuner.hpp"

namespace quadrat {

namespace detail {

/// The points and methods of a plan. Its functions are in plan.cpp, those of spread_plan in plan_calls.cpp.
template <typename Context, typename T, int D>
struct plan_state {
  plan_state(const Context& where, const box<T, D>& box, const vec<int, D>& mesh, const mesh_window<T>& window,
             const spread_options& options, const plan_details& details)
      : context(where),
        domain(box),
        one(make_shape(domain, mesh, window, options.ends)),
        extents(mesh),
        setup{stacked(one, details.stack), window, options, details},
        faults(where) {
    check_spread_options(options, details);
    require_spread_method(options.method, context, window.width);
    require_autotune(options.autotune, context.reproducibility());
  }

  void set_points(const points_view<T, D>& points, const std::uint32_t* system_of_point);
  void set_points_async(const points_view<T, D>& points, const std::uint32_t* system_of_point);
  void check();
  void choose(const points_view<T, D>& points);
  [[nodiscard]] bool chooses() const { return is_automatic(setup.options.method); }
  void use_method(std::string_view name);
  void place(const points_view<T, D>& points, const std::uint32_t* system_of_point);
  [[nodiscard]] std::string advice(std::size_t needed, std::size_t points) const;
  [[nodiscard]] spread_request request_for(const points_view<T, D>& points);
  [[nodiscard]] std::string_view reason();
  void count_left_out(const point_placement<T>& placement);
  void require_input(const points_view<T, D>& points, const std::uint32_t* system_of_point) const;
  [[nodiscard]] point_placement<T> placement(const points_view<T, D>& points, const std::uint32_t* system_of_point);
  [[nodiscard]] std::string complaint(const points_view<T, D>& points, const std::uint32_t* system_of_point,
                                      const fault_report& fault) const;
  void spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) {
    tuner.use(context, [&] { engine->spread(layout, values, mesh, accumulate); });
  }
  void interpolate(const value_layout& layout, const T* mesh, T* values, bool accumulate) {
    tuner.use(context, [&] { engine->interpolate(layout, mesh, values, accumulate); });
  }
  void interpolate_gradient(const value_layout& layout, const T* mesh, T* values, T* gradients, bool accumulate);
  [[nodiscard]] value_layout layout(int components, const mesh_call& call, const void* values, const void* mesh);

  Context context;
  box<T, D> domain;
  mesh_shape one;  ///< of one system
  vec<int, D> extents;
  spread_setup<T> setup;
  fault_state<Context> faults;
  std::unique_ptr<spread_engine<Context, T>> engine;
  std::string_view method;         ///< of the engine
  bool sets_points_async = false;  ///< whether it does
  spread_choice choice;
  autotuner tuner;             ///< starts if options.autotune is set
  std::size_t chosen_for = 0;  ///< the number of points of the choice
  spread_request sampled{};    ///< with the last sample
  std::string reason_text;     ///< of the choice; made on first use
  std::mutex reason_lock;
  std::size_t count = 0;
  std::optional<std::size_t> room;  ///< points of the last set_points, if it succeeded
  mesh_left_out left_out;
  workspace<Context> scratch;
  bool usable = false;
  bool unchecked = false;  ///< faults may have been raised since set_points
};

}  // namespace detail

template <typename Context, typename T, int D>
struct spread_plan<Context, T, D>::implementation : detail::plan_state<Context, T, D> {
  using detail::plan_state<Context, T, D>::plan_state;
};

}  // namespace quadrat

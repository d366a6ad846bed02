// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "mesh/checks.hpp"
#include "mesh/choice.hpp"
#include "mesh/engine.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/workspace.hpp"
#include "tune/engine_in_use.hpp"
#include "tune/round_trials.hpp"

namespace quadrat {

/// What a plan is, for its functions in plan.cpp (points and methods) and plan_calls.cpp (the rest).
template <typename Context, typename T, int D>
struct spread_plan<Context, T, D>::implementation {
  implementation(const Context& where, const box<T, D>& box, const vec<int, D>& mesh, const mesh_window<T>& window,
                 const spread_options& options)
      : context(where),
        domain(box),
        one(detail::make_shape(domain, mesh, window)),
        extents(mesh),
        setup{detail::stacked(one, options.stack), window, options},
        faults(where) {
    detail::check_spread_options(options);
    detail::require_spread_method(options.method, context, window.width);
  }

  void set_points(const points_view<T, D>& points, const std::uint32_t* system_of_point);
  void set_points_asynchronously(const points_view<T, D>& points, const std::uint32_t* system_of_point);
  void check();
  void choose(const points_view<T, D>& points);
  void begin_trials();
  [[nodiscard]] auto maker(std::string_view name);
  void place(const points_view<T, D>& points, const std::uint32_t* system_of_point);
  void place_in_turn(const points_view<T, D>& points, const std::uint32_t* system_of_point);
  void note_capture();
  template <typename Work>
  void timed(const Work& work);
  [[nodiscard]] std::string advice(std::size_t needed, std::size_t points) const;
  [[nodiscard]] detail::spread_request request_for(const points_view<T, D>& points);
  [[nodiscard]] bool choice_holds(std::size_t points);
  [[nodiscard]] std::string_view reason();
  void count_left_out(const detail::point_placement<T>& placement);
  void require_input(const points_view<T, D>& points, const std::uint32_t* system_of_point) const;
  [[nodiscard]] detail::point_placement<T> placement(const points_view<T, D>& points,
                                                     const std::uint32_t* system_of_point);
  [[nodiscard]] std::string complaint(const points_view<T, D>& points, const std::uint32_t* system_of_point,
                                      const fault_report& fault) const;
  void spread(const detail::value_layout& layout, const T* values, T* mesh, bool accumulate) {
    timed([&] { engine->spread(layout, values, mesh, accumulate); });
  }
  void interpolate(const detail::value_layout& layout, const T* mesh, T* values, bool accumulate) {
    timed([&] { engine->interpolate(layout, mesh, values, accumulate); });
  }
  void interpolate_gradient(const detail::value_layout& layout, const T* mesh, T* values, T* gradients,
                            bool accumulate);
  [[nodiscard]] detail::value_layout layout(int components, const mesh_call& call, const void* values,
                                            const void* mesh);

  Context context;
  box<T, D> domain;
  detail::mesh_shape one;  ///< of one system
  vec<int, D> extents;
  detail::spread_setup<T> setup;
  fault_state<Context> faults;
  detail::engine_in_use<detail::spread_engine<Context, T>> engine;
  detail::spread_choice choice;
  detail::round_trials<Context> trials;  ///< at determinism none, once points have been looked at
  std::size_t chosen_for = 0;            ///< the number of points of the choice
  double unseen_ms = 0;                  ///< expected for the points of the choice, if they were not sampled
  double unseen_work_ms = 0;             ///< of all such points so far
  std::string reason_text;               ///< of the choice; made when it is asked for
  std::mutex reason_lock;
  std::size_t count = 0;
  std::optional<std::size_t> room;  ///< points of the last set_points, if it succeeded
  mesh_left_out left_out;
  workspace<Context> scratch;
  bool usable = false;
  bool unchecked = false;    ///< faults may have been raised since set_points
  bool captured = false;     ///< a graph may have the engine's work
  bool late_points = false;  ///< points have been set asynchronously
};

/// Work of a round.
template <typename Context, typename T, int D>
template <typename Work>
void spread_plan<Context, T, D>::implementation::timed(const Work& work) {
  trials.start(context);
  work();
  trials.stop(context);
}

}  // namespace quadrat

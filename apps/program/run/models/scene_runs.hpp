// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "program/run/models/model_plan.hpp"
#include "program/run/models/model_simulation.hpp"
#include "program/run/ranks/ranks.hpp"
#include "program/run/ranks/team.hpp"
#include "quadrat/io/scene.hpp"

/// Runs the scenes of a model, on one rank or on several: one template for all models.
namespace quadrat::program {

/// The tasks of a model without tasks.
struct no_tasks {
  template <typename Scene>
  no_tasks(communicator& /*ranks*/, const Scene& /*scene*/) {}
  template <typename Model>
  void perform(std::uint64_t /*task*/, Model& /*model*/) {}
};

/// The description of a model derives from scene_runs, which has the common parts. It defines
///   scene_type, particles     the name of the particles: "grains"
///   model, model_on_ranks     templates over context, precision and dimension
///   measured(statistics)      as_measurement
///   options<D>(scene)         the options of the model
///   start<D>(scene)           a tuple of the model's further arguments
///   apply(options, given, file)   replaces values of the scene by options of the command line
///   tasks<Model>              on each rank: work besides steps. Rank 0 calls perform(number, model) on all ranks,
///                             and passes the object to its simulation, if that takes one
struct scene_runs {
  template <typename Model>
  using tasks = no_tasks;
  template <typename Scene>
  static double time_step(const Scene& scene) {
    return scene.physics.time_step;
  }
  template <typename Scene>
  static void check_scene(const io::scene_file<Scene>& file) {
    check(file.scene, file.places);
  }
  /// The arguments on a rank of several: only rank 0 passes particles.
  template <typename Runs, int D, typename Scene>
  static auto start_of_rank(const Scene& scene, const communicator& ranks) {
    using start_type = decltype(Runs::template start<D>(scene));
    return ranks.rank() == 0 ? Runs::template start<D>(scene) : start_type();
  }
};

/// Calls make(context, T(), D) as the scene requests.
template <typename Scene, typename Make>
std::unique_ptr<simulation> with_scene_types(const Scene& scene, const io::run_table& run, const Make& make,
                                             int device = 0) {
  const auto in_dimension = [&](const auto& context, auto zero) -> std::unique_ptr<simulation> {
    if constexpr (requires { scene.box.dimension; }) {
      if (scene.box.dimension == 2) return make(context, zero, std::integral_constant<int, 2>());
    }
    return make(context, zero, std::integral_constant<int, 3>());
  };
  return with_run_types(run, in_dimension, device);
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks,clang-analyzer-unix.Malloc): as in with_run_types

template <typename Runs, template <typename, typename, int> class Simulation>
std::unique_ptr<simulation> make_alone(const typename Runs::scene_type& scene) {
  const auto make = [&]<typename Context, typename T, int D>(const Context& context, T,
                                                             std::integral_constant<int, D>) {
    using model_type = typename Runs::template model<Context, T, D>;
    const auto begin = [&](const auto&... start) {
      return model_type(context, Runs::template options<D>(scene), start...);
    };
    return std::make_unique<Simulation<model_type, T, D>>(std::apply(begin, Runs::template start<D>(scene)), scene);
  };
  return with_scene_types(scene, scene.run, make);
}

/// Runs one rank of several. Rank 0 returns the simulation; the others follow it and return none.
template <typename Runs, template <typename, typename, int> class Simulation, typename T, int D, typename Context>
std::unique_ptr<simulation> make_rank(const Context& context, const typename Runs::scene_type& scene,
                                      communicator& host) {
  using model_type = typename Runs::template model_on_ranks<Context, T, D>;
  using tasks_type = typename Runs::template tasks<model_type>;
  using simulation_type = Simulation<led<model_type>, T, D>;
  auto owned = device_ranks(host, context);
  communicator& ranks = owned == nullptr ? host : *owned;
  decltype(Runs::template start<D>(scene)) start;
  together(ranks, [&] { start = Runs::template start_of_rank<Runs, D>(scene, ranks); });
  const auto begin = [&](const auto&... given) {
    return model_type(context, ranks, Runs::template options<D>(scene), given...);
  };
  model_type model = std::apply(begin, start);
  start = {};
  tasks_type tasks(host, scene);
  if (ranks.rank() != 0) {
    const interruption asks;
    follow(ranks, model, [&](std::uint64_t task) { tasks.perform(task, model); });
    return nullptr;
  }
  led leader(std::move(owned), ranks, std::move(model));
  if constexpr (std::is_constructible_v<simulation_type, led<model_type>, decltype(scene), tasks_type>) {
    return std::make_unique<simulation_type>(std::move(leader), scene, std::move(tasks));
  } else {
    return std::make_unique<simulation_type>(std::move(leader), scene);
  }
}

/// See run_plan::make_on.
template <typename Runs, template <typename, typename, int> class Simulation>
std::unique_ptr<simulation> make_on_ranks(const typename Runs::scene_type& scene, communicator& host) {
  io::run_table run = scene.run;
  run.threads = threads_of_rank(run.threads, host);
  const auto make = [&]<typename Context, typename T, int D>(const Context& context, T,
                                                             std::integral_constant<int, D>) {
    return make_rank<Runs, Simulation, T, D>(context, scene, host);
  };
  return with_scene_types(scene, run, make, device_of_rank(host));
}

/// `Simulation`: a template over the model (or its stand-in on rank 0 that leads all ranks), precision and dimension.
template <typename Runs, template <typename, typename, int> class Simulation,
          template <typename, typename, int> class OnRanks = Simulation>
run_plan plan_of_scenes(const run_options& options) {
  using scene_type = typename Runs::scene_type;
  auto file = io::read_scene<scene_type>(options.scene);
  overrides<scene_type> given = apply_common(options, file);
  Runs::apply(options, given, file);
  Runs::check_scene(file);
  complete(file.scene, file.places);
  scene_type& scene = file.scene;
  scene.run.device = resolved(scene.run.device);
  run_plan plan;
  plan.name = scene.scene.name;
  plan.particles = Runs::particles;
  plan.output = scene.output;
  plan.steps = static_cast<std::uint64_t>(scene.run.steps);
  plan.time_step = Runs::time_step(scene);
  plan.precision = io::name_of(scene.run.precision);
  plan.text = to_text(scene);
  visit_keys(scene, settings_writer(plan.settings));
  plan.make = [scene] { return make_alone<Runs, Simulation>(scene); };
  plan.make_on = [scene](communicator& ranks) { return make_on_ranks<Runs, OnRanks>(scene, ranks); };
  return plan;
}

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "program/process/interruption.hpp"
#include "program/run/model_simulation.hpp"
#include "program/run/ranks/granular_team.hpp"
#include "program/run/ranks/ranks.hpp"
#include "quadrat/models/granular.hpp"

namespace quadrat::program {
namespace {

vec<double, 3> as_vec(const io::triple& t) { return {t[0], t[1], t[2]}; }

io::preview_stage stage_of(const io::granular_scene& scene) {
  io::preview_stage stage{as_vec(scene.box.lower), as_vec(scene.box.upper), scene.particles.radius,
                          as_vec(scene.physics.gravity)};
  if (scene.collider.radius) stage.collider = {as_vec(scene.collider.center.value()), *scene.collider.radius};
  return stage;
}

measurement as_measurement(const granular_statistics& s) {
  return {s.step,
          {{"kinetic_energy", s.kinetic_energy},
           {"contact_energy", s.contact_energy},
           {"gravitational_energy", s.gravitational_energy},
           {"kinetic_energy_per_particle", s.kinetic_energy_per_particle},
           {"mean_height", s.mean_height},
           {"contacts_per_particle", s.contacts_per_particle},
           {"candidates_per_particle", s.candidates_per_particle},
           {"largest_cell", static_cast<double>(s.largest_cell), true},
           {"max_speed", s.max_speed}}};
}

/// `Model`: granular, or led_granular for several ranks.
template <typename Model, typename T>
class granular_simulation final : public model_simulation<Model> {
  using base = model_simulation<Model>;
  using base::model_;

 public:
  granular_simulation(Model model, const io::granular_scene& scene) : base(std::move(model)), scene_(scene) {}

  measurement measure() override { return as_measurement(model_.measure()); }
  std::vector<std::string_view> measured_names() const override {
    return as_measurement(granular_statistics{}).names();
  }
  std::string in_words(const measurement& now) const override {
    return fmt::format(
        "mean height {:.4g}, kinetic energy {:.3g} a grain; {:.3g} contacts and {:.4g} candidates a grain, "
        "{} grains in the fullest cell",
        now["mean_height"], now["kinetic_energy_per_particle"], now["contacts_per_particle"],
        now["candidates_per_particle"], now["largest_cell"]);
  }

  io::particle_frame frame() override {
    const auto domain = make_box<double, 3>(as_vec(scene_.box.lower), as_vec(scene_.box.upper), {});
    io::particle_frame frame = particles_in(domain, model_.positions(), model_.velocities());
    frame.radii.assign(frame.positions.size(), static_cast<float>(scene_.particles.radius));
    return frame;
  }
  io::image draw() override {
    io::preview_options options = seen_by(scene_.camera);
    options.top_value = scene_.camera.speed;
    const auto positions = shown_vectors(model_.positions());
    const auto velocities = shown_vectors(model_.velocities());
    return io::draw_preview(stage_of(scene_), points_of(positions.data(), positions.size()),
                            points_of(velocities.data(), velocities.size()), options);
  }

  io::checkpoint save() override {
    const granular_state<T> state = model_.state();
    io::checkpoint result = base::begin_checkpoint(state);
    add_vectors(result, "velocities", state.velocities);
    result.add<particle_id>("storage_order", state.storage_order);
    return result;
  }
  void restore(const io::checkpoint& saved) override {
    this->require_size(saved);
    const std::size_t count = model_.size();
    model_.restore({saved.step, get_vectors<T, 3>(saved, "positions", count),
                    get_vectors<T, 3>(saved, "velocities", count), saved.get<particle_id>("storage_order")});
  }
  std::string method() const override { return model_.options().method; }
  std::vector<granular_rank_report> rank_reports() override {
    if constexpr (requires { model_.report(); }) return model_.report();
    return {};
  }

 private:
  io::granular_scene scene_;
};

granular_options options_of(const io::granular_scene& scene) {
  granular_options options;
  options.lower = scene.box.lower;
  options.upper = scene.box.upper;
  const io::int_triple& cells = scene.grid.cells.value();
  options.cells = {static_cast<int>(cells[0]), static_cast<int>(cells[1]), static_cast<int>(cells[2])};
  options.capacity = static_cast<std::size_t>(scene.grid.capacity);
  if (scene.run.method != "auto") options.method = scene.run.method;
  granular_parameters& p = options.parameters;
  p.radius = scene.particles.radius;
  p.time_step = scene.physics.time_step;
  p.gravity = scene.physics.gravity;
  p.spring = scene.physics.spring;
  p.damping = scene.physics.damping;
  p.shear = scene.physics.shear;
  p.attraction = scene.physics.attraction;
  p.global_damping = scene.physics.global_damping;
  p.wall_restitution = scene.physics.wall_restitution;
  if (scene.collider.radius) p.collider = {scene.collider.center.value(), *scene.collider.radius};
  return options;
}

granular_start start_of(io::start_state start) {
  switch (start) {
    case io::start_state::lattice:
      return granular_start::lattice;
    case io::start_state::left_half:
      return granular_start::left_half;
    case io::start_state::uniform_random:
      return granular_start::uniform_random;
  }
  throw argument_error("unknown start state");
}

std::vector<vec<double, 3>> positions_of(const io::granular_scene& scene) {
  const auto& grains = scene.particles;
  return granular_initial_positions(start_of(grains.start), static_cast<std::size_t>(grains.count), grains.radius,
                                    scene.box.lower, scene.box.upper, grains.jitter,
                                    static_cast<std::uint64_t>(grains.seed));
}

template <typename Context, typename T>
std::unique_ptr<simulation> make_in(const Context& context, T, const io::granular_scene& scene) {
  using model_type = granular<Context, T>;
  return std::make_unique<granular_simulation<model_type, T>>(
      model_type(context, options_of(scene), positions_of(scene)), scene);
}

template <typename Context, typename T>
std::unique_ptr<simulation> make_on_ranks(const Context& context, T, const io::granular_scene& scene,
                                          communicator& host) {
  auto owned = device_ranks(host, context);
  communicator& ranks = owned == nullptr ? host : *owned;
  std::vector<vec<double, 3>> positions;
  together(ranks, [&] {
    if (ranks.rank() == 0) positions = positions_of(scene);
  });
  distributed_granular<Context, T> model(context, ranks, options_of(scene), positions);
  if (ranks.rank() != 0) {
    const interruption left_to_rank_0;
    follow(ranks, model);
    return nullptr;
  }
  using leader = led_granular<Context, T>;
  return std::make_unique<granular_simulation<leader, T>>(leader(std::move(owned), ranks, std::move(model)), scene);
}

}  // namespace

std::unique_ptr<simulation> make_simulation(const io::granular_scene& scene) {
  return with_run_types(scene.run, [&](const auto& context, auto zero) { return make_in(context, zero, scene); });
}

std::unique_ptr<simulation> make_simulation(const io::granular_scene& scene, communicator& ranks) {
  io::run_table run = scene.run;
  run.threads = threads_of_rank(run, ranks);
  const auto make = [&](const auto& context, auto zero) { return make_on_ranks(context, zero, scene, ranks); };
  return with_run_types(run, make, device_of_rank(ranks));
}

}  // namespace quadrat::program

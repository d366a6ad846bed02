// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "program/run/model_simulation.hpp"
#include "quadrat/io/vtk.hpp"
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

template <typename Context, typename T>
class granular_simulation final : public model_simulation<granular<Context, T>> {
  using base = model_simulation<granular<Context, T>>;
  using base::model_;

 public:
  granular_simulation(granular<Context, T> model, const io::granular_scene& scene)
      : base(std::move(model)), scene_(scene) {}

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

  void write_frame(const std::filesystem::path& file, double time) override {
    const auto positions = shown_vectors(model_.positions());
    const auto velocities = shown_vectors(model_.velocities());
    io::write_vtp(file, points_of(positions.data(), positions.size()), points_of(velocities.data(), velocities.size()),
                  time);
  }
  io::image draw(const std::string& title, const std::string& subtitle) override {
    io::preview_options options = seen_by(scene_.camera, title, subtitle);
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

template <typename Context, typename T>
std::unique_ptr<simulation> make_in(const Context& context, T, const io::granular_scene& scene) {
  const auto& grains = scene.particles;
  const auto positions = granular_initial_positions(start_of(grains.start), static_cast<std::size_t>(grains.count),
                                                    grains.radius, scene.box.lower, scene.box.upper, grains.jitter,
                                                    static_cast<std::uint64_t>(grains.seed));
  return std::make_unique<granular_simulation<Context, T>>(granular<Context, T>(context, options_of(scene), positions),
                                                           scene);
}

}  // namespace

std::unique_ptr<simulation> make_simulation(const io::granular_scene& scene) {
  return with_run_types(scene.run, [&](const auto& context, auto zero) { return make_in(context, zero, scene); });
}

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "program/run/models/model_plan.hpp"
#include "program/run/models/model_simulation.hpp"
#include "program/run/ranks/team.hpp"
#include "quadrat/io/electrolyte_scene.hpp"
#include "quadrat/models/distributed_electrolyte.hpp"
#include "quadrat/models/electrolyte.hpp"

namespace quadrat::program {
namespace {

measurement as_measurement(const electrolyte_statistics& s) {
  return {s.step,
          {{"kinetic_energy", s.kinetic_energy},
           {"coulomb_energy", s.coulomb_energy},
           {"repulsion_energy", s.repulsion_energy},
           {"potential_energy", s.potential_energy},
           {"total_energy", s.total_energy},
           {"temperature", s.temperature},
           {"pressure", s.pressure},
           {"momentum_x", s.momentum[0]},
           {"momentum_y", s.momentum[1]},
           {"momentum_z", s.momentum[2]}}};
}

/// `Model`: electrolyte, or one that is led over ranks. `sums`: what it sums with.
template <typename Model, typename T>
class electrolyte_simulation final : public model_simulation<Model> {
  using base = model_simulation<Model>;
  using base::model_;

 public:
  electrolyte_simulation(Model model, const io::electrolyte_scene& scene, const electrostatics_report& sums)
      : base(std::move(model)), scene_(scene), sums_(sums) {
    for (const io::ion_kind& kind : scene.ions.species) {
      radii_.insert(radii_.end(), static_cast<std::size_t>(kind.count), static_cast<float>(kind.diameter / 2));
      charges_.insert(charges_.end(), static_cast<std::size_t>(kind.count), static_cast<float>(kind.charge));
    }
  }

  measurement measure() override { return as_measurement(model_.measure()); }
  std::vector<std::string_view> measured_names() const override {
    return as_measurement(electrolyte_statistics{}).names();
  }
  std::string in_words(const measurement& now) const override {
    const double ions = static_cast<double>(model_.size());
    return fmt::format("t = {:g}: temperature {:.4g}, potential energy {:.4g} an ion, pressure {:.4g}",
                       static_cast<double>(now.step) * scene_.physics.time_step, now["temperature"],
                       now["potential_energy"] / ions, now["pressure"]);
  }
  run_result result() const override {
    const electrostatics_report& r = sums_;
    return {
        {{"cutoff", r.parameters.cutoff},
         {"splitting", r.parameters.splitting},
         {"mesh_x", static_cast<double>(r.parameters.mesh[0]), true},
         {"mesh_y", static_cast<double>(r.parameters.mesh[1]), true},
         {"mesh_z", static_cast<double>(r.parameters.mesh[2]), true},
         {"order", static_cast<double>(r.parameters.order), true},
         {"predicted_error", r.error}},
        fmt::format("electrostatic forces by {}: cutoff {:.4g}, mesh {} x {} x {}, predicted error {:.2g}", r.method,
                    r.parameters.cutoff, r.parameters.mesh[0], r.parameters.mesh[1], r.parameters.mesh[2], r.error)};
  }

  io::particle_frame frame() override {
    const auto domain = make_box<double, 3>({}, model_.options().box, vec<bool, 3>::filled(true));
    io::particle_frame frame = particles_in(domain, model_.positions(), model_.velocities());
    frame.radii = radii_;
    frame.fields = {{"charge", charges_}};
    return frame;
  }
  io::image draw() override {
    io::preview_options options = seen_by(scene_.camera);
    options.top_value = scene_.camera.speed;
    const auto positions = shown_vectors(model_.positions());
    const auto velocities = shown_vectors(model_.velocities());
    const box<double, 3> domain = make_box<double, 3>({}, model_.options().box, vec<bool, 3>::filled(false));
    return io::draw_preview(stage_of_points(domain, positions.size()), points_of(positions.data(), positions.size()),
                            points_of(velocities.data(), velocities.size()), options);
  }

  io::checkpoint save() override {
    const electrolyte_state<T> state = model_.state();
    io::checkpoint result = base::begin_checkpoint(state);
    add_vectors(result, "velocities", state.velocities);
    return result;
  }
  void restore(const io::checkpoint& saved) override {
    this->require_size(saved);
    const std::size_t count = model_.size();
    model_.restore(
        {saved.step, get_vectors<T, 3>(saved, "positions", count), get_vectors<T, 3>(saved, "velocities", count)});
  }
  std::string method() const override { return std::string(sums_.method); }

 private:
  io::electrolyte_scene scene_;
  electrostatics_report sums_;
  std::vector<float> radii_, charges_;
};

template <typename Context, typename T>
std::unique_ptr<simulation> make_in(const Context& context, T, const io::electrolyte_scene& scene) {
  const electrolyte_options options = io::options_of(scene);
  electrolyte<Context, T> model(context, options, electrolyte_start(options));
  const electrostatics_report sums = model.report();
  return std::make_unique<electrolyte_simulation<electrolyte<Context, T>, T>>(std::move(model), scene, sums);
}

}  // namespace

template <>
std::unique_ptr<simulation> make_simulation(const io::electrolyte_scene& scene) {
  return with_run_types(scene.run, [&](const auto& context, auto zero) { return make_in(context, zero, scene); });
}

template <>
std::unique_ptr<simulation> make_simulation(const io::electrolyte_scene& scene, communicator& ranks) {
  const auto make = [&](const auto& context, auto zero, communicator& all) {
    const electrolyte_options options = io::options_of(scene);
    electrolyte_particles particles;
    together(all, [&] {
      if (all.rank() == 0) particles = electrolyte_start(options);
    });
    return distributed_electrolyte<std::remove_cvref_t<decltype(context)>, decltype(zero)>(context, all, options,
                                                                                           particles);
  };
  return simulation_of_team(scene.run, ranks, make, [&](auto model, auto zero) {
    electrostatics_report sums;
    model.task(0, [&](const auto& own) { sums = own.sums(); });
    return std::make_unique<electrolyte_simulation<decltype(model), decltype(zero)>>(std::move(model), scene, sums);
  });
}

run_plan plan_of_electrolyte(const run_options& options) {
  io::electrolyte_scene_file file = io::read_electrolyte_scene(options.scene);
  io::electrolyte_scene& scene = file.scene;
  overrides given = apply_common(options, file);
  given.apply(options.method, scene.electrostatics.method, "electrostatics.method", "--method");
  require(!options.particles, "--particles: ions are counted by kind; change ions.species in the scene");
  given.apply(options.seed, scene.ions.seed, "ions.seed", "--seed");
  io::check(scene, file.places);
  io::complete(scene, file.places);
  return plan_of(scene, "ions", scene.physics.time_step);
}

}  // namespace quadrat::program

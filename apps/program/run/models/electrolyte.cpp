// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "program/run/models/scene_runs.hpp"
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

struct electrolyte_runs : scene_runs {
  using scene_type = io::electrolyte_scene;
  static constexpr std::string_view particles = "ions";
  template <typename Context, typename T, int>
  using model = electrolyte<Context, T>;
  template <typename Context, typename T, int>
  using model_on_ranks = distributed_electrolyte<Context, T>;

  static measurement measured(const electrolyte_statistics& statistics) { return as_measurement(statistics); }
  template <int>
  static electrolyte_options options(const scene_type& scene) {
    return io::options_of(scene);
  }
  template <int>
  static auto start(const scene_type& scene) {
    return std::tuple(electrolyte_start(io::options_of(scene)));
  }
  static void apply(const run_options& options, overrides<scene_type>& given, io::scene_file<scene_type>& file) {
    given.apply(options.method, file.scene.electrostatics.method, "electrostatics.method", "--method");
    require(!options.particles, options.named("--particles"),
            ": ions are counted by kind; change ions.species in the scene");
    given.apply(options.seed, file.scene.ions.seed, "ions.seed", "--seed");
  }
};

template <typename Model, typename T, int D>
class electrolyte_simulation final : public model_simulation<electrolyte_runs, Model> {
  using base = model_simulation<electrolyte_runs, Model>;
  using base::model_, base::scene_;

 public:
  electrolyte_simulation(Model model, const io::electrolyte_scene& scene) : base(std::move(model), scene) {
    for (const io::ion_kind& kind : scene.ions.species) {
      radii_.insert(radii_.end(), static_cast<std::size_t>(kind.count), static_cast<float>(kind.diameter / 2));
      charges_.insert(charges_.end(), static_cast<std::size_t>(kind.count), static_cast<float>(kind.charge));
    }
  }

  std::string in_words(const measurement& now) const override {
    const double ions = static_cast<double>(model_.size());
    return fmt::format("t = {:g}: temperature {:.4g}, potential energy {:.4g} an ion, pressure {:.4g}",
                       static_cast<double>(now.step) * scene_.physics.time_step, now["temperature"],
                       now["potential_energy"] / ions, now["pressure"]);
  }
  run_result result() const override {
    const electrostatics_report& r = sums();
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
  std::string method() const override { return std::string(sums().method); }

 private:
  [[nodiscard]] const electrostatics_report& sums() const {
    if constexpr (requires { this->of_this_rank().sums(); }) {
      return this->of_this_rank().sums();
    } else {
      return model_.report();
    }
  }

  std::vector<float> radii_, charges_;
};

}  // namespace

run_plan plan_of_electrolyte(const run_options& options) {
  return plan_of_scenes<electrolyte_runs, electrolyte_simulation>(options);
}

}  // namespace quadrat::program

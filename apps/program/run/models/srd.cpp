// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "program/run/models/scene_runs.hpp"
#include "program/run/models/srd_flow.hpp"
#include "quadrat/io/srd_scene.hpp"
#include "quadrat/models/distributed_srd.hpp"
#include "quadrat/models/srd.hpp"

namespace quadrat::program {
namespace {

template <int D>
measurement as_measurement(const srd_statistics<D>& s) {
  measurement result{
      s.step, {{"kinetic_energy", s.kinetic_energy}, {"temperature", s.temperature}, {"momentum_x", s.momentum[0]}}};
  constexpr std::array<std::string_view, 2> others{"momentum_y", "momentum_z"};
  for (int axis = 1; axis < D; ++axis) {
    result.values.push_back({others[static_cast<std::size_t>(axis - 1)], s.momentum[axis]});
  }
  return result;
}

struct srd_runs : scene_runs {
  using scene_type = io::srd_scene;
  static constexpr std::string_view particles = "particles";
  template <typename Context, typename T, int D>
  using model = srd<Context, T, D>;
  template <typename Context, typename T, int D>
  using model_on_ranks = distributed_srd<Context, T, D>;

  template <int D>
  static measurement measured(const srd_statistics<D>& statistics) {
    return as_measurement(statistics);
  }
  template <int D>
  static srd_options<D> options(const scene_type& scene) {
    return io::options_of<D>(scene);
  }
  template <int D>
  static auto start(const scene_type& scene) {
    return std::tuple(io::particles_of<D>(scene));
  }
  static void apply(const run_options& options, overrides<scene_type>& given, io::scene_file<scene_type>& file) {
    scene_type& scene = file.scene;
    require(!options.method || *options.method == "auto", options.named("--method"),
            ": the SRD fluid has no neighbors to find");
    if (options.particles) {
      scene.particles.count = options.particles;
      scene.particles.per_cell.reset();
      file.places.set("particles.count", options.named("--particles"));
    }
    given.apply(options.seed, scene.particles.seed, "particles.seed", "--seed");
  }
};

template <typename Model, typename T, int D>
class srd_simulation final : public model_simulation<srd_runs, Model> {
  using base = model_simulation<srd_runs, Model>;
  using base::model_, base::scene_, base::shown;

 public:
  srd_simulation(Model model, const io::srd_scene& scene) : base(std::move(model), scene) {
    if (scene.measure.profile != io::profile_axis::none) profile_.emplace(scene);
    if (scene.particles.start == io::srd_start_state::shear_wave) wave_.emplace(scene);
  }

  void run(std::size_t steps) override {
    const std::uint64_t last = model_.step() + steps;
    const auto every = static_cast<std::uint64_t>(scene_.measure.every);
    sample();
    while (model_.step() < last) {
      const std::uint64_t next = profile_ || wave_ ? (model_.step() / every + 1) * every : last;
      base::run(std::min(last, next) - model_.step());
      sample();
    }
  }
  std::string in_words(const measurement& now) const override {
    return fmt::format("t = {:g}: temperature {:.4g}, kinetic energy {:.4g} a particle, mean velocity along x {:.3g}",
                       static_cast<double>(now.step) * scene_.physics.time_step, now["temperature"],
                       now["kinetic_energy"] / static_cast<double>(model_.size()), now["momentum_x"] / total_mass());
  }
  std::vector<run_csv> tables() const override {
    std::vector<run_csv> result;
    if (wave_) result.push_back({"steps", wave_->as_csv()});
    if (profile_) result.push_back({"profile", profile_->as_csv()});
    return result;
  }
  run_result result() const override {
    if (wave_) return wave_->result();
    return profile_ ? profile_->result() : run_result{};
  }

  io::particle_frame frame() override {
    vec<bool, D> periodic;
    for (int axis = 0; axis < D; ++axis) {
      periodic[axis] = scene_.box.boundaries[static_cast<std::size_t>(axis)] == io::srd_boundary::periodic;
    }
    return particles_in(make_box<double, D>({}, box_size(), periodic), shown().positions(), shown().velocities());
  }
  io::image draw() override {
    io::preview_options options = seen_by(scene_.camera);
    if (D == 2) look_down(options);
    options.top_value = scene_.camera.speed;
    const auto positions = shown_vectors(shown().positions());
    const auto velocities = shown_vectors(shown().velocities());
    const box<double, D> domain = make_box<double, D>({}, box_size(), vec<bool, D>::filled(false));
    return io::draw_preview(stage_of_points(domain, positions.size()), points_of(positions.data(), positions.size()),
                            points_of(velocities.data(), velocities.size()), options);
  }

  io::checkpoint save() override {
    const srd_state<T, D> state = model_.state();
    io::checkpoint result = base::begin_checkpoint(state);
    add_vectors(result, "velocities", state.velocities);
    result.add<std::uint64_t>("next_sample", std::span(&next_sample_, 1));
    if (profile_) profile_->save(result);
    if (wave_) wave_->save(result);
    return result;
  }
  void restore(const io::checkpoint& saved) override {
    this->require_size(saved);
    const std::size_t count = model_.size();
    model_.restore(
        {saved.step, get_vectors<T, D>(saved, "positions", count), get_vectors<T, D>(saved, "velocities", count)});
    const std::vector<std::uint64_t> next = saved.get<std::uint64_t>("next_sample");
    if (next.size() != 1) throw io_error("the number of the next sample in the checkpoint is cut");
    next_sample_ = next[0];
    if (profile_) profile_->restore(saved);
    if (wave_) wave_->restore(saved);
  }
  std::string method() const override {
    const srd_options<D>& o = model_.options();
    return fmt::format("{} sums", srd_sums_names[static_cast<std::size_t>(o.sums)]);
  }

 private:
  /// Takes the samples that are due at this step, once.
  void sample() {
    const std::uint64_t step = model_.step();
    const auto& m = scene_.measure;
    if (step < next_sample_ || step % static_cast<std::uint64_t>(m.every) != 0) return;
    next_sample_ = step + 1;
    if (wave_) wave_->add(step, shown().shear_amplitude());
    const bool in_range =
        step >= static_cast<std::uint64_t>(m.from) && (!m.to || step <= static_cast<std::uint64_t>(*m.to));
    if (!profile_ || !in_range) return;
    std::vector<mean_profile::slice> bins;
    for (const srd_profile_bin<D>& one :
         shown().velocity_profile(static_cast<int>(m.profile), static_cast<int>(m.bins.value()))) {
      mean_profile::slice bin{static_cast<double>(one.count), {}};
      for (int axis = 0; axis < D; ++axis) bin.velocity[axis] = one.velocity[axis];
      bins.push_back(bin);
    }
    profile_->add(bins);
  }

  [[nodiscard]] double total_mass() const {
    const auto solutes = static_cast<double>(scene_.solutes.count);
    const double fluid = (static_cast<double>(model_.size()) - solutes) * scene_.particles.mass;
    return fluid + solutes * scene_.solutes.mass.value_or(0);
  }
  [[nodiscard]] vec<double, D> box_size() const {
    return cast<double>(model_.options().cells) * model_.options().cell_edge;
  }

  std::optional<mean_profile> profile_;
  std::optional<wave_decay> wave_;
  std::uint64_t next_sample_ = 0;  ///< the first step that has not been sampled
};

}  // namespace

run_plan plan_of_srd(const run_options& options) { return plan_of_scenes<srd_runs, srd_simulation>(options); }

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "program/run/models/scene_runs.hpp"
#include "program/run/ranks/shared_files.hpp"
#include "quadrat/io/granular_scene.hpp"
#include "quadrat/models/distributed_granular.hpp"
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

template <typename T>
io::particle_frame frame_of(const io::granular_scene& scene, const std::vector<vec<T, 3>>& positions,
                            const std::vector<vec<T, 3>>& velocities) {
  const auto domain = make_box<double, 3>(as_vec(scene.box.lower), as_vec(scene.box.upper), {});
  io::particle_frame frame = particles_in(domain, positions, velocities);
  frame.radii.assign(frame.positions.size(), static_cast<float>(scene.particles.radius));
  return frame;
}

template <typename T>
io::image picture_of(const io::granular_scene& scene, const std::vector<vec<T, 3>>& given_positions,
                     const std::vector<vec<T, 3>>& given_velocities) {
  io::preview_options options = seen_by(scene.camera);
  options.top_value = scene.camera.speed;
  const auto positions = shown_vectors(given_positions), velocities = shown_vectors(given_velocities);
  return io::draw_preview(stage_of(scene), points_of(positions.data(), positions.size()),
                          points_of(velocities.data(), velocities.size()), options);
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

granular_options options_of(const io::granular_scene& scene) {
  granular_options options;
  options.lower = scene.box.lower;
  options.upper = scene.box.upper;
  const io::int_triple& cells = scene.grid.cells.value();
  // The model may choose coarser cells, but only if the grid is the default one.
  if (cells != io::default_cells(scene)) {
    options.cells = {static_cast<int>(cells[0]), static_cast<int>(cells[1]), static_cast<int>(cells[2])};
  }
  options.capacity = static_cast<std::size_t>(scene.grid.capacity);
  options.method = scene.run.method;
  options.autotune = scene.run.autotune && scene.run.deterministic == determinism::none;
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

granular_start start_of(io::granular_start_state start) {
  switch (start) {
    case io::granular_start_state::lattice:
      return granular_start::lattice;
    case io::granular_start_state::left_half:
      return granular_start::left_half;
    case io::granular_start_state::uniform_random:
      return granular_start::uniform_random;
  }
  throw argument_error("unknown start state");
}

std::vector<vec<double, 3>> positions_of(const io::granular_scene& scene, std::size_t first = 0,
                                         std::size_t number = granular_all) {
  const auto& grains = scene.particles;
  return granular_initial_positions(start_of(grains.start), static_cast<std::size_t>(grains.count), grains.radius,
                                    scene.box.lower, scene.box.upper, grains.jitter,
                                    static_cast<std::uint64_t>(grains.seed), first, number);
}

/// The methods that run on the scene's device, and the one that the scene names: if that does not run there, the
/// model's error says so.
std::vector<std::string_view> granular_method_names(const io::granular_scene& scene) {
  const bool cuda = resolved(scene.run.device) == io::device_choice::cuda;
  std::vector<std::string_view> names{"auto"};
  for (const granular_method& method : granular_methods()) {
    if ((cuda ? method.on_cuda : method.on_cpu) || method.name == scene.run.method) names.push_back(method.name);
  }
  return names;
}

struct granular_runs : scene_runs {
  using scene_type = io::granular_scene;
  static constexpr std::string_view particles = "grains";
  template <typename Context, typename T, int>
  using model = granular<Context, T>;
  template <typename Context, typename T, int>
  using model_on_ranks = distributed_granular<Context, T>;

  static measurement measured(const granular_statistics& statistics) { return as_measurement(statistics); }
  template <int>
  static granular_options options(const scene_type& scene) {
    return options_of(scene);
  }
  template <int>
  static auto start(const scene_type& scene) {
    return std::tuple(positions_of(scene));
  }
  template <typename, int>
  static auto start_of_rank(const scene_type& scene, const communicator& ranks) {
    const key_share own = keys_of_rank(static_cast<std::uint64_t>(scene.particles.count), ranks.rank(), ranks.size());
    return std::tuple(
        positions_of(scene, static_cast<std::size_t>(own.first), static_cast<std::size_t>(own.end - own.first)));
  }
  static void apply(const run_options& options, overrides<scene_type>& given, io::scene_file<scene_type>& file) {
    given.apply(options.method, file.scene.run.method, "run.method", "--method");
    given.apply(options.particles, file.scene.particles.count, "particles.count", "--particles");
    given.apply(options.seed, file.scene.particles.seed, "particles.seed", "--seed");
  }
  static void check_scene(const io::scene_file<scene_type>& file) {
    check(file.scene, file.places, granular_method_names(file.scene));
  }

  template <typename Model>
  struct tasks;
  template <typename Context, typename T>
  struct tasks<distributed_granular<Context, T>> : shared_files<Context, T> {
    using files = shared_files<Context, T>;
    tasks(communicator& ranks, const scene_type& scene)
        : files(ranks, [scene](const auto& some) { return frame_of(scene, some.positions, some.velocities); }) {}
    void perform(std::uint64_t what, distributed_granular<Context, T>& model) {
      files::perform(static_cast<typename files::task>(what), model);
    }
  };
};

template <typename Model, typename T, int D>
class granular_simulation : public model_simulation<granular_runs, Model> {
  using base = model_simulation<granular_runs, Model>;

 protected:
  using base::model_, base::scene_;

 public:
  using base::base;

  std::string in_words(const measurement& now) const override {
    return fmt::format(
        "mean height {:.4g}, kinetic energy {:.3g} a grain; {:.3g} contacts and {:.4g} candidates a grain, "
        "{} grains in the fullest cell",
        now["mean_height"], now["kinetic_energy_per_particle"], now["contacts_per_particle"],
        now["candidates_per_particle"], now["largest_cell"]);
  }

  io::particle_frame frame() override { return frame_of(scene_, model_.positions(), model_.velocities()); }
  io::image draw() override { return picture_of(scene_, model_.positions(), model_.velocities()); }

  io::checkpoint save() override {
    const granular_state<T> state = model_.state();
    io::checkpoint result = base::begin_checkpoint(state);
    add_vectors(result, "velocities", state.velocities);
    result.add<particle_id>("storage_order", state.storage_order);
    add_text(result, "variant", state.variant);
    return result;
  }
  void restore(const io::checkpoint& saved) override {
    this->require_size(saved);
    const std::size_t count = model_.size();
    model_.restore({saved.step, get_vectors<T, 3>(saved, "positions", count),
                    get_vectors<T, 3>(saved, "velocities", count), saved.get<particle_id>("storage_order"),
                    get_text(saved, "variant")});
  }
  std::string method() const override { return model_.options().method; }
};

/// The same over ranks; no rank holds all grains.
template <typename Model, typename T, int D>
class granular_on_ranks final : public granular_simulation<Model, T, D> {
  using base = granular_simulation<Model, T, D>;
  using base::model_;
  using files_type = granular_runs::tasks<typename Model::model_type>;
  using task = typename files_type::task;

 public:
  granular_on_ranks(Model model, const io::granular_scene& scene, files_type files)
      : base(std::move(model), scene), files_(std::move(files)) {}

  bool shares_files() const override { return true; }
  void write_frame(const std::filesystem::path& file, double time) override {
    files_.file = file;
    files_.time = time;
    perform(task::frame);
  }
  void write_checkpoint(const std::filesystem::path& file, const io::checkpoint& rest) override {
    files_.file = file;
    files_.rest = rest;
    files_.rest.step = model_.step();
    files_.rest.particles = model_.size();
    files_.rest.precision_bytes = sizeof(T);
    // As one rank writes it, with a method that does not reorder grains.
    files_.rest.arrays.insert(files_.rest.arrays.begin(), {"storage_order", io::element_type_of<particle_id>, 1, {}});
    perform(task::save);
    files_.rest = {};
  }
  io::checkpoint read_checkpoint(const std::filesystem::path& file) override {
    files_.file = file;
    perform(task::load);
    return std::move(files_.rest);
  }
  void restore(const io::checkpoint& saved) override {
    this->require_size(saved);
    perform(task::restore);
  }
  /// If there are very many grains, only every n-th one is drawn.
  io::image draw() override {
    constexpr std::size_t most = 4'000'000;
    files_.stride = std::max<std::size_t>(1, (model_.size() + most - 1) / most);
    perform(task::sample);
    const granular_state<T> some = std::exchange(files_.sampled, {});
    return picture_of(this->scene_, some.positions, some.velocities);
  }

 private:
  void perform(task what) {
    const auto number = static_cast<std::uint64_t>(what);
    model_.task(number, [&](auto& model) { files_.perform(number, model); });
  }

  files_type files_;
};

}  // namespace

run_plan plan_of_granular(const run_options& options) {
  return plan_of_scenes<granular_runs, granular_simulation, granular_on_ranks>(options);
}

}  // namespace quadrat::program

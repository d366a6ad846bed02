// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "program/run/models/scene_runs.hpp"
#include "quadrat/io/circles_scene.hpp"
#include "quadrat/models/circles.hpp"
#include "quadrat/models/distributed_circles.hpp"

namespace quadrat::program {
namespace {

measurement as_measurement(const circles_statistics& s) {
  return {s.step,
          {{"mean_neighbors", s.mean_neighbors},
           {"neighbor_deviation", s.neighbor_deviation},
           {"most_neighbors", static_cast<double>(s.most_neighbors), true},
           {"candidates_per_agent", s.candidates_per_agent},
           {"mean_displacement", s.mean_displacement},
           {"max_displacement", s.max_displacement}}};
}

io::preview_options picture_options(const io::circles_scene& scene) {
  io::preview_options options = seen_by(scene.camera);
  if (scene.box.dimension == 2) look_down(options);
  options.top_value = scene.camera.neighbors;
  options.scale = "neighbors";
  return options;
}

[[nodiscard]] circles_options options_of(const io::circles_scene& scene) {
  return {io::parameters_of(scene),
          scene.search.order,
          scene.search.cell_list,
          static_cast<int>(scene.search.cells_per_reach),
          0,
          false,
          scene.run.autotune && scene.run.deterministic == determinism::none};
}

struct circles_runs : scene_runs {
  using scene_type = io::circles_scene;
  static constexpr std::string_view particles = "agents";
  template <typename Context, typename T, int D>
  using model = circles<Context, T, D>;
  template <typename Context, typename T, int D>
  using model_on_ranks = distributed_circles<Context, T, D>;

  static measurement measured(const circles_statistics& statistics) { return as_measurement(statistics); }
  template <int>
  static circles_options options(const scene_type& scene) {
    return options_of(scene);
  }
  template <int D>
  static auto start(const scene_type& scene) {
    return std::tuple(circles_initial_positions<D>(io::parameters_of(scene),
                                                   static_cast<std::size_t>(*scene.agents.count),
                                                   static_cast<std::uint64_t>(scene.agents.seed)));
  }
  static void apply(const run_options& options, overrides<scene_type>& given, io::scene_file<scene_type>& file) {
    scene_type& scene = file.scene;
    given.apply(options.method, scene.search.order, "search.order", "--method");
    if (options.particles) {
      scene.agents.count = options.particles;
      scene.agents.density.reset();
      file.places.set("agents.count", options.named("--particles"));
    }
    given.apply(options.seed, scene.agents.seed, "agents.seed", "--seed");
  }
  static double time_step(const scene_type& /*scene*/) { return 1; }

  /// The other ranks record the same number of steps.
  template <typename Model>
  struct tasks : no_tasks {
    using no_tasks::no_tasks;
    static void perform(std::uint64_t steps, Model& model) {
      std::vector<circles_record> none;
      static_cast<void>(model.record(static_cast<std::size_t>(steps), asked_to_stop, none));
    }
  };
};

template <typename Model, typename T, int D>
class circles_simulation final : public model_simulation<circles_runs, Model> {
  using base = model_simulation<circles_runs, Model>;
  using base::model_, base::scene_, base::shown;

 public:
  using base::base;

  void run(std::size_t steps) override {
    if (!scene_.output.record) return base::run(steps);
    const std::vector<circles_record> taken = record(steps);
    records_.insert(records_.end(), taken.begin(), taken.end());
  }
  std::string in_words(const measurement& now) const override {
    return fmt::format(
        "{:.4g} neighbors an agent, standard deviation {:.4g}, most {}; {:.4g} candidates an agent; the next step "
        "moves an agent by {:.3g}",
        now["mean_neighbors"], now["neighbor_deviation"], now["most_neighbors"], now["candidates_per_agent"],
        now["mean_displacement"]);
  }
  std::vector<run_csv> tables() const override {
    if (!scene_.output.record) return {};
    std::string text = "step,milliseconds,mean_neighbors,neighbor_deviation,mean_displacement\n";
    for (const circles_record& one : records_) {
      text += fmt::format("{},{:.6g},{},{},{}\n", one.step, one.milliseconds, one.mean_neighbors,
                          one.neighbor_deviation, one.mean_displacement);
    }
    return {{"steps", text}};
  }

  io::particle_frame frame() override {
    io::particle_frame frame = particles_in(circles_box<D>(io::parameters_of(scene_)), shown().positions());
    frame.fields = {{"neighbors", shown_neighbors()}};
    return frame;
  }
  io::image draw() override {
    const auto positions = shown_vectors(shown().positions());
    const auto values = shown_neighbors();
    return io::draw_preview(stage_of_points(circles_box<D>(io::parameters_of(scene_)), positions.size()),
                            points_of(positions.data(), positions.size()), std::span<const float>(values),
                            picture_options(scene_));
  }

  io::checkpoint save() override {
    const circles_state<T, D> state = model_.state();
    io::checkpoint result = base::begin_checkpoint(state);
    result.add<particle_id>("storage_order", state.storage_order);
    add_text(result, "variant", state.variant);
    std::vector<double> rows;
    for (const circles_record& one : records_) {
      rows.insert(rows.end(), {static_cast<double>(one.step), one.milliseconds, one.mean_neighbors,
                               one.neighbor_deviation, one.mean_displacement});
    }
    result.add<double>("records", rows, record_columns);
    return result;
  }
  void restore(const io::checkpoint& saved) override {
    this->require_size(saved);
    model_.restore({saved.step, get_vectors<T, D>(saved, "positions", model_.size()),
                    saved.get<particle_id>("storage_order"), get_text(saved, "variant")});
    const std::vector<double> rows = saved.get<double>("records");
    if (rows.size() % record_columns != 0) throw io_error("the records of steps in the checkpoint are cut");
    records_.clear();
    for (std::size_t k = 0; k < rows.size(); k += record_columns) {
      records_.push_back({static_cast<std::uint64_t>(rows[k]), rows[k + 1], rows[k + 2], rows[k + 3], rows[k + 4]});
    }
  }
  std::string method() const override {
    const circles_options& o = model_.options();
    return fmt::format("{} over {}", o.order, o.cell_list);
  }

 private:
  static constexpr std::size_t record_columns = 5;

  [[nodiscard]] std::vector<circles_record> record(std::size_t steps) {
    if constexpr (requires { model_.record(steps); }) {
      return model_.record(steps);
    } else {
      std::vector<circles_record> taken;
      // The other ranks record the same number of steps.
      model_.task(steps, [&](auto& model) { ask_to_stop(model.record(steps, asked_to_stop, taken)); });
      return taken;
    }
  }
  [[nodiscard]] std::vector<float> shown_neighbors() {
    const std::vector<std::uint32_t> counts = shown().neighbors();
    return {counts.begin(), counts.end()};
  }

  std::vector<circles_record> records_;
};

}  // namespace

run_plan plan_of_circles(const run_options& options) {
  return plan_of_scenes<circles_runs, circles_simulation>(options);
}

}  // namespace quadrat::program

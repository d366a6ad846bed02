// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model_simulation.hpp"
#include "quadrat/io/preview.hpp"
#include "quadrat/io/vtk.hpp"
#include "quadrat/models/circles.hpp"

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

/// Agents are points; in the picture they are as large as leaves room between them at the start.
template <int D>
io::preview_stage stage_of(const io::circles_scene& scene) {
  const box<double, D> domain = circles_box<D>(io::parameters_of(scene));
  const double longest = domain.length[0];
  const double spacing = longest / std::pow(static_cast<double>(*scene.agents.count), 1.0 / D);
  io::preview_stage stage{{}, {}, std::clamp(0.25 * spacing, longest / 400, longest / 120)};
  for (int axis = 0; axis < 3; ++axis) {
    stage.lower[axis] = axis < D ? domain.lower[axis] : -stage.radius;
    stage.upper[axis] = axis < D ? domain.upper(axis) : stage.radius;
  }
  if (D == 2) stage.down = {0, 0, -1};
  return stage;
}

/// In 2D from above, x to the right and y up.
io::preview_options picture_options(const io::circles_scene& scene) {
  io::preview_options options;
  options.azimuth = scene.box.dimension == 2 ? -90 : scene.camera.azimuth;
  options.elevation = scene.box.dimension == 2 ? 89 : scene.camera.elevation;
  options.zoom = scene.camera.zoom;
  options.top_value = scene.camera.neighbors;
  options.scale = "neighbors";
  return options;
}

template <typename Context, typename T, int D>
class circles_simulation final : public model_simulation<circles<Context, T, D>> {
  using base = model_simulation<circles<Context, T, D>>;
  using base::model_;

 public:
  circles_simulation(circles<Context, T, D> model, const io::circles_scene& scene)
      : base(std::move(model)), scene_(scene) {}

  void run(std::size_t steps) override {
    if (scene_.output.record) {
      const std::vector<circles_record> taken = model_.record(steps);
      records_.insert(records_.end(), taken.begin(), taken.end());
    } else {
      model_.advance(steps);
      model_.check();
    }
  }
  measurement measure() override { return as_measurement(model_.measure()); }
  std::vector<std::string_view> measured_names() const override {
    std::vector<std::string_view> names;
    for (const measured_value& one : as_measurement(circles_statistics{}).values) names.push_back(one.name);
    return names;
  }
  std::string in_words(const measurement& now) const override {
    return fmt::format(
        "{:.4g} neighbors an agent, standard deviation {:.4g}, most {}; {:.4g} candidates an agent; the next step "
        "moves an agent by {:.3g}",
        now["mean_neighbors"], now["neighbor_deviation"], now["most_neighbors"], now["candidates_per_agent"],
        now["mean_displacement"]);
  }
  std::string step_table() const override {
    if (!scene_.output.record) return {};
    std::string text = "step,milliseconds,mean_neighbors,neighbor_deviation,mean_displacement\n";
    for (const circles_record& one : records_) {
      text += fmt::format("{},{:.6g},{},{},{}\n", one.step, one.milliseconds, one.mean_neighbors,
                          one.neighbor_deviation, one.mean_displacement);
    }
    return text;
  }

  void write_frame(const std::filesystem::path& file, double time) override {
    const auto positions = shown_vectors(model_.positions());
    const auto values = shown_neighbors();
    io::write_vtp(file, points_of(positions.data(), positions.size()), "neighbors", std::span<const float>(values),
                  time);
  }
  io::image draw(const std::string& title, const std::string& subtitle) override {
    io::preview_options options = picture_options(scene_);
    options.title = title;
    options.subtitle = subtitle;
    const auto positions = shown_vectors(model_.positions());
    const auto values = shown_neighbors();
    return io::draw_preview(stage_of<D>(scene_), points_of(positions.data(), positions.size()),
                            std::span<const float>(values), options);
  }

  io::checkpoint save() override {
    const circles_state<T, D> state = model_.state();
    io::checkpoint result;
    result.step = state.step;
    result.particles = state.positions.size();
    result.precision_bytes = sizeof(T);
    add_vectors(result, "positions", state.positions);
    result.add<particle_id>("storage_order", state.storage_order);
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
    model_.restore(
        {saved.step, get_vectors<T, D>(saved, "positions", model_.size()), saved.get<particle_id>("storage_order")});
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

  [[nodiscard]] std::vector<float> shown_neighbors() {
    const std::vector<std::uint32_t> counts = model_.neighbors();
    return {counts.begin(), counts.end()};
  }

  io::circles_scene scene_;
  std::vector<circles_record> records_;
};

template <typename T, int D, typename Context>
std::unique_ptr<simulation> make_in(const Context& context, const io::circles_scene& scene) {
  const circles_options options{io::parameters_of(scene),
                                scene.search.order,
                                scene.search.cell_list,
                                static_cast<int>(scene.search.cells_per_reach),
                                0,
                                false};
  const auto positions = circles_initial_positions<D>(options.parameters, static_cast<std::size_t>(*scene.agents.count),
                                                      static_cast<std::uint64_t>(scene.agents.seed));
  return std::make_unique<circles_simulation<Context, T, D>>(circles<Context, T, D>(context, options, positions),
                                                             scene);
}

template <int D, typename Context>
std::unique_ptr<simulation> make_on(const Context& context, const io::circles_scene& scene) {
  return scene.run.precision == io::number_precision::float64 ? make_in<double, D>(context, scene)
                                                              : make_in<float, D>(context, scene);
}

}  // namespace

std::unique_ptr<simulation> make_simulation(const io::circles_scene& scene) {
  return with_run_context(scene.run, [&](const auto& context) {
    return scene.box.dimension == 2 ? make_on<2>(context, scene) : make_on<3>(context, scene);
  });
}

}  // namespace quadrat::program

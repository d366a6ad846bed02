// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/built_backend.hpp"
#include "program/device.hpp"
#include "program/run/simulation.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/io/preview.hpp"

namespace quadrat::program {

template <typename T, int D>
void add_vectors(io::checkpoint& state, const std::string& name, const std::vector<vec<T, D>>& values) {
  const T* const first = values.empty() ? nullptr : values.front().component;
  state.add<T>(name, std::span(first, D * values.size()), D);
}

template <typename T, int D>
std::vector<vec<T, D>> get_vectors(const io::checkpoint& state, std::string_view name, std::size_t count) {
  const std::vector<T> values = state.get<T>(name);
  if (values.size() != D * count) {
    throw io_error(
        message("the checkpoint holds ", values.size(), " numbers of \"", name, "\"; expected ", D, " x ", count));
  }
  std::vector<vec<T, D>> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (int axis = 0; axis < D; ++axis) result[i][axis] = values[D * i + static_cast<std::size_t>(axis)];
  }
  return result;
}

/// Stores a short text as an array; reading gives "" if the checkpoint has none.
inline void add_text(io::checkpoint& state, const std::string& name, std::string_view text) {
  state.add<std::uint8_t>(name, std::vector<std::uint8_t>(text.begin(), text.end()));
}
inline std::string get_text(const io::checkpoint& state, std::string_view name) {
  if (!state.has(name)) return {};
  const std::vector<std::uint8_t> text = state.get<std::uint8_t>(name);
  return {text.begin(), text.end()};
}

/// Converts to single precision and three dimensions, for files and pictures.
template <typename T, int D>
std::vector<vec<float, 3>> shown_vectors(const std::vector<vec<T, D>>& values) {
  std::vector<vec<float, 3>> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    result[i] = {};
    for (int axis = 0; axis < D; ++axis) result[i][axis] = static_cast<float>(values[i][axis]);
  }
  return result;
}

/// Converts the scene's camera to options of a picture.
inline io::preview_options seen_by(const io::camera_table& camera) {
  io::preview_options options;
  options.azimuth = camera.azimuth;
  options.elevation = camera.elevation;
  options.zoom = camera.zoom;
  return options;
}

/// A frame of these particles in this box. Velocities are optional.
template <typename T, int D>
io::particle_frame particles_in(const box<double, D>& domain, const std::vector<vec<T, D>>& positions,
                                const std::vector<vec<T, D>>& velocities = {}) {
  io::particle_frame frame;
  frame.positions = shown_vectors(positions);
  frame.velocities = shown_vectors(velocities);
  for (int axis = 0; axis < 3; ++axis) {
    frame.lower[axis] = axis < D ? domain.lower[axis] : -0.5;
    frame.upper[axis] = axis < D ? domain.upper(axis) : 0.5;
    frame.periodic[axis] = axis < D && domain.periodic[axis];
  }
  return frame;
}

/// For points without a size: a radius that leaves room between them if they are distributed evenly.
template <int D>
io::preview_stage stage_of_points(const box<double, D>& domain, std::size_t count) {
  double longest = 0, volume = 1;
  for (int axis = 0; axis < D; ++axis) {
    longest = std::max(longest, domain.length[axis]);
    volume *= domain.length[axis];
  }
  const double spacing = std::pow(volume / static_cast<double>(count), 1.0 / D);
  io::preview_stage stage{{}, {}, std::clamp(0.25 * spacing, longest / 400, longest / 120)};
  for (int axis = 0; axis < 3; ++axis) {
    stage.lower[axis] = axis < D ? domain.lower[axis] : -stage.radius;
    stage.upper[axis] = axis < D ? domain.upper(axis) : stage.radius;
  }
  if (D == 2) stage.down = {0, 0, -1};
  return stage;
}

/// Looks from above, x to the right and y up: for scenes in two dimensions.
inline void look_down(io::preview_options& options) {
  options.azimuth = -90;
  options.elevation = 89;
}

/// The parts of a simulation that all models share. `Runs`: the description of the model (scene_runs.hpp).
template <typename Runs, typename Model>
class model_simulation : public simulation {
  using context_type = std::remove_cvref_t<decltype(std::declval<const Model&>().context())>;
  static constexpr bool on_cpu = std::is_same_v<context_type, cpu_context>;

 public:
  using scene_type = typename Runs::scene_type;

  model_simulation(Model model, const scene_type& scene) : model_(std::move(model)), scene_(scene) {}

  void run(std::size_t steps) override {
    model_.advance(steps);
    model_.check();
  }
  measurement measure() override { return Runs::measured(model_.measure()); }
  std::vector<std::string_view> measured_names() const override {
    return Runs::measured(decltype(std::declval<Model&>().measure()){}).names();
  }
  std::uint64_t step() const override { return model_.step(); }
  std::optional<explanation> explained() const override {
    if constexpr (requires { model_.explanation(); }) return model_.explanation();
    return {};
  }
  std::size_t size() const override { return model_.size(); }
  std::size_t memory_bytes() const override { return model_.bytes(); }
  std::string backend() const override { return on_cpu ? "cpu" : "cuda"; }
  std::string device_name() const override {
    if constexpr (on_cpu) {
      return cpu_name();
    } else {
      for (const device_description& device : cuda_devices()) {
        if (device.index == model_.context().device()) return device.name;
      }
      return "GPU";
    }
  }
  std::vector<rank_report> rank_reports() override {
    if constexpr (requires {
                    { model_.report() } -> std::same_as<std::vector<rank_report>>;
                  })
      return model_.report();
    return {};
  }
  int threads() const override {
    if constexpr (on_cpu) {
      return model_.context().threads();
    } else {
      return 0;
    }
  }

 protected:
  void require_size(const io::checkpoint& saved) const {
    if (saved.particles == size()) return;
    throw io_error(message("the checkpoint holds ", saved.particles, " particles, not ", size()));
  }

  /// A checkpoint with the entries that all models have.
  template <typename State>
  [[nodiscard]] static io::checkpoint begin_checkpoint(const State& state) {
    io::checkpoint result;
    result.step = state.step;
    result.particles = state.positions.size();
    result.precision_bytes = sizeof(state.positions[0][0]);
    add_vectors(result, "positions", state.positions);
    return result;
  }

  /// The model of this rank, if it is one of several: for what needs no other rank.
  [[nodiscard]] const auto& of_this_rank() const {
    if constexpr (requires { model_.of_this_rank(); }) {
      return model_.of_this_rank();
    } else {
      return model_;
    }
  }

  /// The model to look at; over ranks, the model of one rank on rank 0.
  [[nodiscard]] auto& shown() {
    if constexpr (requires { model_.shown(); }) {
      return model_.shown();
    } else {
      return model_;
    }
  }

  Model model_;
  scene_type scene_;
};

/// Calls make(context, T()) with the context and precision T of [run]. The analyzer loses track of ownership when a
/// unique_ptr is converted to one of the base class.
template <typename Make>
std::unique_ptr<simulation> with_run_types(const io::run_table& run, Make&& make, int device = 0) {
  const auto in_precision = [&](const auto& context) {
    // NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks,clang-analyzer-unix.Malloc)
    if (run.precision == io::number_precision::float64) return make(context, double());
    return make(context, float());
  };
  // NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks,clang-analyzer-unix.Malloc)
  if (run.device == io::device_choice::cuda) {
    cuda_context::options chosen;
    chosen.reproducibility = run.deterministic;
    chosen.device = device;
    return detail::with_new_context<cuda_context>(chosen, in_precision);
  }
  cpu_context::options chosen;
  chosen.threads = static_cast<int>(run.threads);
  chosen.reproducibility = run.deterministic;
  return in_precision(cpu_context(chosen));
}

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <csignal>
#include <memory>
#include <string_view>
#include <utility>

#include "own_process.hpp"
#include "program/process/stopwatch.hpp"
#include "program/run/output_folder.hpp"
#include "program/run/plan.hpp"
#include "program/run/recorder.hpp"
#include "program/run/summary.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/atomic_file.hpp"
#include "scene_run.hpp"

namespace quadrat::python {

namespace {

using nlohmann::literals::operator""_json_pointer;

/// The arrays of a checkpoint that are of use to Python, under the names that frames use.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> state_names{
    {{"positions", "positions"}, {"velocities", "velocity"}, {"angular_velocities", "angular_velocity"}}};

template <typename Value>
[[nodiscard]] state_array floats_of(std::string name, const std::vector<Value>& values) {
  const auto* const first = reinterpret_cast<const std::byte*>(values.data());
  std::vector<std::size_t> shape{values.size()};
  if (sizeof(Value) > sizeof(float)) shape.push_back(sizeof(Value) / sizeof(float));
  return {std::move(name), false, std::move(shape), {first, first + values.size() * sizeof(Value)}};
}

class scene_on final : public scene_run {
 public:
  explicit scene_on(program::run_plan plan)
      : plan_(std::move(plan)), threads_(plan_.settings.value("/run/threads"_json_pointer, 0)), model_(make()) {}

  [[nodiscard]] scene_facts facts() const override {
    scene_facts result;
    result.name = plan_.name;
    result.particles = plan_.particles;
    result.precision = plan_.precision;
    result.method = model_->method();
    result.device = model_->backend();
    result.steps = plan_.steps;
    result.frame_every = plan_.output.frame_every;
    result.statistics_every = plan_.output.statistics_every;
    result.time_step = plan_.time_step;
    result.settings = plan_.settings.dump();
    return result;
  }
  void advance(std::uint64_t steps) override {
    require_own_threads(threads_);
    const program::stopwatch time(report_.simulation_seconds);
    model_->run(steps);
  }
  [[nodiscard]] std::uint64_t step() const override { return model_->step(); }
  [[nodiscard]] std::size_t size() const override { return model_->size(); }

  [[nodiscard]] std::vector<state_array> state() override {
    require_own_threads(threads_);
    io::checkpoint saved = model_->save();
    std::vector<state_array> result;
    for (io::checkpoint_array& array : saved.arrays) {
      const auto name = std::ranges::find(state_names, array.name, [](const auto& names) { return names.first; });
      if (name == state_names.end()) continue;
      const std::size_t width = io::size_of(array.type) * array.components;
      const bool wide = array.type != io::element_type::float32;
      result.push_back(
          {std::string(name->second), wide, {array.bytes.size() / width, array.components}, std::move(array.bytes)});
    }
    return result;
  }
  [[nodiscard]] scene_frame frame() override {
    require_own_threads(threads_);
    const io::particle_frame found = model_->frame();
    scene_frame result;
    result.arrays.push_back(floats_of("positions", found.positions));
    if (!found.velocities.empty()) result.arrays.push_back(floats_of("velocity", found.velocities));
    if (!found.radii.empty()) result.arrays.push_back(floats_of("radius", found.radii));
    for (const io::particle_field& field : found.fields) result.arrays.push_back(floats_of(field.name, field.values));
    for (int axis = 0; axis < 3; ++axis) {
      result.lower.push_back(found.lower[axis]);
      result.upper.push_back(found.upper[axis]);
      result.periodic.push_back(found.periodic[axis] ? 1 : 0);
    }
    return result;
  }
  [[nodiscard]] std::vector<std::pair<std::string, double>> measure() override {
    require_own_threads(threads_);
    std::vector<std::pair<std::string, double>> result;
    for (const program::measured_value& one : model_->measure().values) {
      result.emplace_back(std::string(one.name), one.value);
    }
    return result;
  }

  void begin_record(bool overwrite) override {
    folder_ = std::make_unique<program::output_folder>(plan_.output.directory);
    records_ = std::make_unique<program::recorder>(plan_, *model_, *folder_);
    report_ = {};
    records_->begin(overwrite);
  }
  void record() override {
    require_own_threads(threads_);
    records_->record();
  }
  void end_record(bool complete) override {
    require_own_threads(threads_);
    records_->save_last(!complete);
    report_.statistics = complete ? records_->finish() : records_->interrupt();
    report_.signal = complete ? 0 : SIGINT;
    report_.last_step = model_->step();
    report_.measuring_seconds = records_->measuring_seconds();
    report_.writing_seconds = records_->writing_seconds();
    report_.total_seconds = report_.simulation_seconds + report_.measuring_seconds + report_.writing_seconds;
    report_.frames = records_->frames();
    const std::string summary = program::as_json(report_, plan_, *model_, *folder_).dump(2);
    io::write_text_file(folder_->claim(folder_->summary()), summary + "\n");
    records_.reset();
    folder_.reset();
  }

 private:
  [[nodiscard]] std::unique_ptr<program::simulation> make() const {
    require_own_threads(threads_);
    return plan_.make();
  }

  program::run_plan plan_;
  int threads_;  ///< of the scene; 0: all
  std::unique_ptr<program::simulation> model_;
  // Of what is written.
  std::unique_ptr<program::output_folder> folder_;
  std::unique_ptr<program::recorder> records_;
  program::run_report report_;
};

[[nodiscard]] std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace

std::unique_ptr<scene_run> open_scene(const scene_settings& settings) {
  program::run_options options;
  options.from_python = true;
  options.scene = settings.file;
  options.device = unless_empty(settings.device);
  options.method = unless_empty(settings.method);
  options.precision = unless_empty(settings.precision);
  options.deterministic = unless_empty(settings.deterministic);
  options.autotune = settings.autotune;
  options.steps = settings.steps;
  options.particles = settings.particles;
  options.threads = settings.threads;
  options.seed = settings.seed;
  options.frame_every = settings.frame_every;
  options.statistics_every = settings.statistics_every;
  options.output = unless_empty(settings.output);
  return std::make_unique<scene_on>(program::load_plan(options));
}

}  // namespace quadrat::python

// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <utility>

#include "instances.hpp"
#include "own_process.hpp"
#include "program/run/plan.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

namespace {

using nlohmann::literals::operator""_json_pointer;

[[nodiscard]] number type_of(io::element_type type) {
  switch (type) {
    case io::element_type::float32:
      return number::float32;
    case io::element_type::float64:
      return number::float64;
    case io::element_type::uint32:
      return number::uint32;
    case io::element_type::uint64:
      return number::uint64;
    default:
      return number::other;
  }
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
    return result;
  }
  void advance(std::uint64_t steps) override {
    require_own_threads(threads_);
    model_->run(steps);
  }
  [[nodiscard]] std::uint64_t step() const override { return model_->step(); }
  [[nodiscard]] std::size_t size() const override { return model_->size(); }

  /// What a checkpoint holds. Arrays of bytes, such as the state of random numbers, say nothing to others.
  [[nodiscard]] std::vector<state_array> state() override {
    require_own_threads(threads_);
    io::checkpoint saved = model_->save();
    std::vector<state_array> result;
    for (io::checkpoint_array& array : saved.arrays) {
      const number type = type_of(array.type);
      const std::size_t width = io::size_of(array.type) * array.components;
      if (type == number::other || width == 0) continue;
      std::vector<std::size_t> shape{array.bytes.size() / width};
      if (array.components > 1) shape.push_back(array.components);
      result.push_back({std::move(array.name), type, std::move(shape), std::move(array.bytes)});
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

 private:
  [[nodiscard]] std::unique_ptr<program::simulation> make() const {
    require_own_threads(threads_);
    return plan_.make();
  }

  program::run_plan plan_;
  int threads_;  ///< of the scene; 0: all
  std::unique_ptr<program::simulation> model_;
};

[[nodiscard]] std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace

std::unique_ptr<scene_run> open_scene(const scene_settings& settings) {
  program::run_options options;
  options.scene = settings.file;
  options.device = unless_empty(settings.device);
  options.method = unless_empty(settings.method);
  options.precision = unless_empty(settings.precision);
  options.deterministic = unless_empty(settings.deterministic);
  options.steps = settings.steps;
  options.particles = settings.particles;
  options.threads = settings.threads;
  options.seed = settings.seed;
  return std::make_unique<scene_on>(program::load_plan(options));
}

}  // namespace quadrat::python

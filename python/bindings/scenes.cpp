// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "cuda_library.hpp"
#include "modules.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

namespace {

class scene_simulation {
 public:
  /// `gpu`: by the library for GPUs, which also runs scenes on the CPU.
  scene_simulation(bool gpu, std::string file, std::string device, std::string method, std::string precision,
                   std::string deterministic, std::optional<std::int64_t> steps, std::optional<std::int64_t> particles,
                   std::optional<std::int64_t> threads, std::optional<std::int64_t> seed) {
    scene_settings settings{std::move(file),
                            std::move(device),
                            std::move(method),
                            std::move(precision),
                            std::move(deterministic),
                            steps,
                            particles,
                            threads,
                            seed};
    backend& engine = gpu ? cuda_backend() : cpu_backend();
    run_ = unlocked([&] { return engine.open_scene(settings); });
  }

  void advance(std::uint64_t steps) {
    const turn mine(mutex_);
    unlocked([&] { run_->advance(steps); });
  }
  [[nodiscard]] std::uint64_t step() {
    const turn mine(mutex_);
    return run_->step();
  }
  [[nodiscard]] std::size_t size() {
    const turn mine(mutex_);
    return run_->size();
  }
  [[nodiscard]] nb::dict state() {
    const turn mine(mutex_);
    const std::vector<state_array> arrays = unlocked([&] { return run_->state(); });
    nb::dict result;
    for (const state_array& array : arrays) {
      results made({}, cpu_backend());
      void* const memory = made.add(array.type, array.shape);
      if (!array.bytes.empty()) std::memcpy(memory, array.bytes.data(), array.bytes.size());
      result[array.name.c_str()] = made.take(0);
    }
    return result;
  }
  [[nodiscard]] nb::dict measure() {
    const turn mine(mutex_);
    const auto values = unlocked([&] { return run_->measure(); });
    nb::dict result;
    for (const auto& [name, value] : values) result[name.c_str()] = value;
    return result;
  }
  [[nodiscard]] nb::dict facts() {
    const turn mine(mutex_);
    const scene_facts found = run_->facts();
    nb::dict result;
    result["name"] = found.name;
    result["particles"] = found.particles;
    result["precision"] = found.precision;
    result["method"] = found.method;
    result["device"] = found.device;
    result["steps"] = found.steps;
    result["frame_every"] = found.frame_every;
    result["statistics_every"] = found.statistics_every;
    result["time_step"] = found.time_step;
    return result;
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<scene_run> run_;
};

}  // namespace

void add_scenes(nb::module_& module) {
  using whole = std::optional<std::int64_t>;
  nb::class_<scene_simulation>(module, "SceneSimulation")
      .def(
          nb::init<bool, std::string, std::string, std::string, std::string, std::string, whole, whole, whole, whole>(),
          nb::arg("gpu"), nb::arg("file"), nb::arg("device"), nb::arg("method"), nb::arg("precision"),
          nb::arg("deterministic"), nb::arg("steps").none(), nb::arg("particles").none(), nb::arg("threads").none(),
          nb::arg("seed").none())
      .def("advance", &scene_simulation::advance)
      .def("step", &scene_simulation::step)
      .def("size", &scene_simulation::size)
      .def("state", &scene_simulation::state)
      .def("measure", &scene_simulation::measure)
      .def("facts", &scene_simulation::facts);
}

}  // namespace quadrat::python

// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "modules.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

namespace {

class scene_simulation {
 public:
  /// `gpu`: by the library for GPUs, which also runs scenes on the CPU.
  scene_simulation(bool gpu, std::string file, std::string device, std::string method, std::string precision,
                   std::string deterministic, std::string output, std::optional<bool> autotune,
                   std::optional<std::int64_t> steps, std::optional<std::int64_t> particles,
                   std::optional<std::int64_t> threads, std::optional<std::int64_t> seed,
                   std::optional<std::int64_t> frame_every, std::optional<std::int64_t> statistics_every) {
    const scene_settings settings{std::move(file),
                                  std::move(device),
                                  std::move(method),
                                  std::move(precision),
                                  std::move(deterministic),
                                  std::move(output),
                                  autotune,
                                  steps,
                                  particles,
                                  threads,
                                  seed,
                                  frame_every,
                                  statistics_every};
    open_scene_function* const open = gpu ? cuda_functions().open_scene : nullptr;
    if (gpu && open == nullptr) throw nb::import_error("the installed library for GPUs has no scenes");
    run_ = unlocked([&] { return gpu ? std::unique_ptr<scene_run>(open(settings)) : open_scene(settings); });
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
    return as_dict(unlocked([&] { return run_->state(); }));
  }
  /// (arrays, lower, upper, periodic)
  [[nodiscard]] nb::tuple frame() {
    const turn mine(mutex_);
    const scene_frame found = unlocked([&] { return run_->frame(); });
    nb::list periodic;
    for (const unsigned char wraps : found.periodic) periodic.append(nb::bool_(wraps != 0));
    return nb::make_tuple(as_dict(found.arrays), found.lower, found.upper, periodic);
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
    result["settings"] = found.settings;
    return result;
  }
  void begin_record(bool overwrite) {
    const turn mine(mutex_);
    unlocked([&] { run_->begin_record(overwrite); });
  }
  void record() {
    const turn mine(mutex_);
    unlocked([&] { run_->record(); });
  }
  void end_record(bool complete) {
    const turn mine(mutex_);
    unlocked([&] { run_->end_record(complete); });
  }

 private:
  [[nodiscard]] static nb::dict as_dict(const std::vector<state_array>& arrays) {
    nb::dict result;
    for (const state_array& array : arrays) {
      results made({});
      void* const memory = made.add(array.wide ? number::float64 : number::float32, array.shape);
      if (!array.bytes.empty()) std::memcpy(memory, array.bytes.data(), array.bytes.size());
      result[array.name.c_str()] = made.take(0);
    }
    return result;
  }

  std::mutex mutex_;
  std::unique_ptr<scene_run> run_;
};

}  // namespace

void add_scenes(nb::module_& module) {
  using whole = std::optional<std::int64_t>;
  nb::class_<scene_simulation>(module, "SceneSimulation")
      .def(nb::init<bool, std::string, std::string, std::string, std::string, std::string, std::string,
                    std::optional<bool>, whole, whole, whole, whole, whole, whole>(),
           nb::arg("gpu"), nb::arg("file"), nb::arg("device"), nb::arg("method"), nb::arg("precision"),
           nb::arg("deterministic"), nb::arg("output"), nb::arg("autotune").none(), nb::arg("steps").none(),
           nb::arg("particles").none(), nb::arg("threads").none(), nb::arg("seed").none(),
           nb::arg("frame_every").none(), nb::arg("statistics_every").none())
      .def("advance", &scene_simulation::advance)
      .def("step", &scene_simulation::step)
      .def("size", &scene_simulation::size)
      .def("state", &scene_simulation::state)
      .def("frame", &scene_simulation::frame)
      .def("begin_record", &scene_simulation::begin_record, nb::arg("overwrite"))
      .def("record", &scene_simulation::record)
      .def("end_record", &scene_simulation::end_record, nb::arg("complete"))
      .def("measure", &scene_simulation::measure)
      .def("facts", &scene_simulation::facts);
}

}  // namespace quadrat::python

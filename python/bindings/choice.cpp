// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "cuda_library.hpp"
#include "interface.hpp"
#include "modules.hpp"
#include "quadrat/core/error.hpp"

namespace nb = nanobind;

namespace quadrat::python {

namespace {

[[nodiscard]] bool has_gpu(const std::string& device, bool gpus) {
  return device != "cpu" && gpus && cuda_backend().devices() > 0;
}

/// Names; of "cuda" without the package for GPUs, its ImportError.
[[nodiscard]] std::vector<std::string> methods(int task, const std::string& device, bool gpus) {
  backend& engine = device == "cuda" || has_gpu(device, gpus) ? cuda_backend() : cpu_backend();
  return engine.methods(static_cast<method_task>(task));
}

/// As (text, JSON). `device`: "cpu", "cuda" or "auto". `gpus`: whether the package for GPUs is installed.
[[nodiscard]] nb::tuple choose(int task, double count, std::vector<int> cells, int order, double uses, double keys,
                               bool wide, const std::string& device, bool gpus, int level, int threads) {
  const described_load load{count, std::move(cells), order, uses, keys, wide};
  const auto wanted = static_cast<method_task>(task);
  const auto wanted_level = static_cast<determinism>(level);
  explanation found;
  if (has_gpu(device, gpus)) {
    found = cuda_backend().choose({0, threads, wanted_level}, wanted, load);
  } else if (device == "cuda") {
    found = choose_method(wanted, load, shipped_profile(true), wanted_level);
  } else {
    found = cpu_backend().choose({-1, threads, wanted_level}, wanted, load);
  }
  return nb::make_tuple(found.text(), found.json());
}

}  // namespace

void add_choice(nb::module_& module) {
  module.def("methods", &methods, nb::arg("task"), nb::arg("device"), nb::arg("gpus"));
  module.def("choose", &choose, nb::arg("task"), nb::arg("count"), nb::arg("cells"), nb::arg("order"), nb::arg("uses"),
             nb::arg("keys"), nb::arg("wide"), nb::arg("device"), nb::arg("gpus"), nb::arg("level"),
             nb::arg("threads"));
}

}  // namespace quadrat::python

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

/// As (text, JSON). `device`: "cpu", "cuda" or "auto". `gpus`: whether the package for GPUs is installed.
[[nodiscard]] nb::tuple choose(int task, double count, std::vector<int> cells, int order, double uses, double keys,
                               bool wide, const std::string& device, bool gpus, bool run_to_run, int threads) {
  const described_load load{count, std::move(cells), order, uses, keys, wide};
  const auto wanted = static_cast<method_task>(task);
  const bool gpu = device != "cpu" && gpus && cuda_backend().devices() > 0;
  explanation found;
  if (gpu) {
    found = cuda_backend().choose({0, threads, run_to_run}, wanted, load);
  } else if (device == "cuda") {
    const determinism level = run_to_run ? determinism::run_to_run : determinism::none;
    found = choose_method(wanted, load, shipped_profile(true), level);
  } else {
    found = cpu_backend().choose({-1, threads, run_to_run}, wanted, load);
  }
  return nb::make_tuple(found.text(), found.json());
}

}  // namespace

void add_choice(nb::module_& module) {
  nb::list tasks;
  for (const auto name : method_task_names) tasks.append(nb::str(name.data(), name.size()));
  module.attr("method_tasks") = nb::tuple(tasks);
  module.def("choose", &choose, nb::arg("task"), nb::arg("count"), nb::arg("cells"), nb::arg("order"), nb::arg("uses"),
             nb::arg("keys"), nb::arg("wide"), nb::arg("device"), nb::arg("gpus"), nb::arg("run_to_run"),
             nb::arg("threads"));
}

}  // namespace quadrat::python

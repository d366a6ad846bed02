// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "modules.hpp"

namespace nb = nanobind;

namespace quadrat::python {

namespace {

[[nodiscard]] bool has_gpu(const std::string& device, bool gpus) {
  if (device == "cpu" || !gpus) return false;
  int count = 0;
  check(cuda_functions(), cuda_functions().cuda_device_count(&count));
  return count > 0;
}

/// Names; of "cuda" without the package for GPUs, its ImportError.
[[nodiscard]] std::vector<std::string> methods(int task, const std::string& device, bool gpus) {
  const bool cuda = device == "cuda" || has_gpu(device, gpus);
  const c_functions& library = cuda ? cuda_functions() : cpu_functions();
  const char* names = nullptr;
  check(library, library.method_names(cuda ? QUADRAT_CUDA : QUADRAT_CPU, task, &names));
  std::vector<std::string> result;
  for (const char* end = nullptr; (end = std::strchr(names, '\n')) != nullptr; names = end + 1) {
    result.emplace_back(names, end);
  }
  return result;
}

/// As (text, JSON). `device`: "cpu", "cuda" or "auto". `gpus`: whether the package for GPUs is installed.
[[nodiscard]] nb::tuple choose(int task, double count, const std::vector<int>& cells, int order, double uses,
                               double keys, bool wide, const std::string& device, bool gpus, int level, int threads) {
  auto load = sized<quadrat_load>();
  load.task = task;
  load.count = count;
  std::copy(cells.begin(), cells.end(), load.cells);
  load.order = order;
  load.uses = meant(uses);
  load.keys = keys;
  load.type = wide ? QUADRAT_FLOAT64 : QUADRAT_FLOAT32;
  const bool here = has_gpu(device, gpus);
  load.shipped_gpu = device == "cuda" && !here ? 1 : 0;
  const place where{here ? &cuda_functions() : &cpu_functions(), here ? 0 : -1, threads, level};
  const std::unique_ptr<choice_handle> choice = made_at<choice_handle>(where, &load);
  const auto found = choice->get(&c_functions::choice_explanation);
  return nb::make_tuple(found.text, found.json);
}

}  // namespace

void add_choice(nb::module_& module) {
  module.def("methods", &methods, nb::arg("task"), nb::arg("device"), nb::arg("gpus"));
  module.def("choose", &choose, nb::arg("task"), nb::arg("count"), nb::arg("cells"), nb::arg("order"), nb::arg("uses"),
             nb::arg("keys"), nb::arg("wide"), nb::arg("device"), nb::arg("gpus"), nb::arg("level"),
             nb::arg("threads"));
}

}  // namespace quadrat::python

// SPDX-License-Identifier: BSD-3-Clause
#include "cuda_library.hpp"

#include <dlfcn.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <string>

#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

namespace nb = nanobind;

namespace {

template <typename Function>
[[nodiscard]] Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

/// quadrat._cuda finds the file, loads the libraries that it needs from their wheels, and raises the ImportError.
[[nodiscard]] backend* open_library() {
  const nb::object finder = nb::module_::import_("quadrat._cuda");
  const std::string path = nb::cast<std::string>(nb::str(nb::object(finder.attr("library")())));
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw nb::import_error(message("quadrat-cuda13 cannot be opened: ", dlerror()).c_str());
  auto* const interface = find<int()>(library, "quadrat_python_interface");
  auto* const version = find<const char*()>(library, "quadrat_python_version");
  auto* const made = find<backend*()>(library, "quadrat_python_backend");
  if (interface == nullptr || version == nullptr || made == nullptr || interface() != interface_version ||
      std::string(version()) != QUADRAT_VERSION) {
    throw nb::import_error(message("quadrat ", QUADRAT_VERSION, " and quadrat-cuda13 ",
                                   version != nullptr ? version() : "of another kind",
                                   " do not fit; install both with: pip install --upgrade 'quadrat[cuda13]'")
                               .c_str());
  }
  return made();
}

}  // namespace

backend& cuda_backend() {
  // Not a static with a guard: finding the library runs Python code, which may switch threads. Opening it twice gives
  // the same library.
  static std::atomic<backend*> opened{nullptr};
  if (opened == nullptr) opened = open_library();
  return *opened;
}

}  // namespace quadrat::python

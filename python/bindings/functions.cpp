// SPDX-License-Identifier: BSD-3-Clause
#include "functions.hpp"

#include <dlfcn.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <string>

#include "interruption.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

namespace nb = nanobind;

namespace {

/// Finds functions of a library by name.
class finder {
 public:
  explicit finder(void* library) : library_(library) {}
  template <typename Function>
  void find(Function*& found, const char* name) {
    found = reinterpret_cast<Function*>(dlsym(library_, name));
    complete_ = complete_ && found != nullptr;
  }
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  void* library_;
  bool complete_ = true;
};

/// quadrat._cuda finds the file, loads the libraries that it needs from their wheels, and raises the ImportError.
[[nodiscard]] const c_functions* open_library() {
  const nb::object path_finder = nb::module_::import_("quadrat._cuda");
  const std::string path = nb::cast<std::string>(nb::str(nb::object(path_finder.attr("library")())));
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw nb::import_error(message("the library for GPUs cannot be opened: ", dlerror()).c_str());
  auto* const made = new c_functions;
  finder functions(library);
#define QUADRAT_FUNCTION(name) functions.find(made->name, "quadrat_" #name);
#include "functions.def"
#undef QUADRAT_FUNCTION
  const std::string version = made->version != nullptr ? made->version() : "of another kind";
  if (!functions.complete() || version != QUADRAT_VERSION) {
    throw nb::import_error(message("quadrat ", QUADRAT_VERSION, " and ", path.substr(path.rfind('/') + 1), " ", version,
                                   " do not fit; install both with: pip install --upgrade 'quadrat[cuda13]', or cuda12")
                               .c_str());
  }
  functions.find(made->open_scene, open_scene_name);
  return made;
}

/// The exception for a lack of host or device memory, with the library's message.
class memory_error final : public std::bad_alloc {
 public:
  explicit memory_error(const char* words) : words_(words) {}
  [[nodiscard]] const char* what() const noexcept override { return words_.c_str(); }

 private:
  std::string words_;
};

}  // namespace

const c_functions& cpu_functions() {
  static constexpr c_functions linked{
#define QUADRAT_FUNCTION(name) .name = &quadrat_##name,
#include "functions.def"
#undef QUADRAT_FUNCTION
  };
  return linked;
}

const c_functions& cuda_functions() {
  // Not a static with a guard: finding the library runs Python code, which may switch threads. Opening it twice gives
  // the same library.
  static std::atomic<const c_functions*> opened{nullptr};
  if (opened == nullptr) opened = open_library();
  return *opened;
}

void check(const c_functions& library, int status) {
  throw_interruption();
  if (status == QUADRAT_OK) return;
  const char* const words = library.error_message();
  switch (status) {
    case QUADRAT_ARGUMENT_ERROR:
      throw argument_error(words);
    case QUADRAT_DATA_ERROR:
      throw data_error(words);
    case QUADRAT_OVERFLOW_ERROR:
      throw overflow_error(words, static_cast<std::uint64_t>(library.error_number()));
    case QUADRAT_BACKEND_ERROR:
      throw backend_error(words);
    case QUADRAT_MEMORY_ERROR:
      throw memory_error(words);
    default:
      throw std::runtime_error(words);
  }
}

}  // namespace quadrat::python

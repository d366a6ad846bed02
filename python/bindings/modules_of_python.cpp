// SPDX-License-Identifier: BSD-3-Clause
#include "modules_of_python.hpp"

#include <atomic>

namespace quadrat::python {

namespace nb = nanobind;

namespace {

// Not statics with a guard: imports may switch threads. What a second thread makes meanwhile is the same.
template <typename Modules, typename Make>
const Modules& made_once(std::atomic<const Modules*>& found, const Make& make) {
  if (const Modules* const known = found) return *known;
  auto* const made = new Modules;
  make(*made);
  found = made;
  return *made;
}

}  // namespace

const python_modules& python_modules::get() {
  static constinit std::atomic<const python_modules*> found{nullptr};
  return made_once(found, [](python_modules& made) {
    made.numpy = nb::module_::import_("numpy");
    made.numpy_array = made.numpy.attr("ndarray");
    made.numpy_empty = made.numpy.attr("empty");
    const char* const names[] = {"bool",    "int32",   "int64",     "uint32",     "uint64",
                                 "float32", "float64", "complex64", "complex128", "object"};
    for (std::size_t k = 0; k < 10; ++k) made.types[k] = made.numpy.attr("dtype")(names[k]);
  });
}

const torch_modules& torch_modules::get() {
  static constinit std::atomic<const torch_modules*> found{nullptr};
  return made_once(found, [](torch_modules& made) {
    const nb::object torch = nb::module_::import_("torch");
    made.empty = torch.attr("empty");
    made.from_numpy = torch.attr("from_numpy");
    made.strided = torch.attr("strided");
    made.is_grad_enabled = torch.attr("is_grad_enabled");
    made.unpack_dual = nb::module_::import_("torch.autograd.forward_ad").attr("unpack_dual");
    made.current_stream = nb::getattr(torch.attr("_C"), "_cuda_getCurrentRawStream", nb::none());
    const char* const names[] = {"bool", "int32", "int64", "", "", "float32", "float64", "complex64", "complex128", ""};
    for (std::size_t k = 0; k < 10; ++k) {
      made.types[k] = names[k][0] != 0 ? nb::object(torch.attr(names[k])) : nb::object(nb::none());
    }
  });
}

std::uintptr_t torch_modules::stream_of(int device) const {
  if (!current_stream.is_none()) return nb::cast<std::uintptr_t>(current_stream(device));
  const nb::object stream = nb::module_::import_("torch").attr("cuda").attr("current_stream")(device);
  return nb::cast<std::uintptr_t>(stream.attr("cuda_stream"));
}

}  // namespace quadrat::python

// SPDX-License-Identifier: BSD-3-Clause
#include "arrays.hpp"
#include "modules_of_python.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::python {

namespace {

[[nodiscard]] nb::tuple tuple_of(const std::vector<std::size_t>& shape) {
  nb::list extents;
  for (const std::size_t extent : shape) extents.append(extent);
  return nb::tuple(extents);
}

[[nodiscard]] nb::dlpack::dtype dlpack_type(number type) {
  switch (type) {
    case number::int32:
      return nb::dtype<std::int32_t>();
    case number::int64:
      return nb::dtype<std::int64_t>();
    case number::float32:
      return nb::dtype<float>();
    case number::float64:
      return nb::dtype<double>();
    case number::complex64:
      return {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Complex), 64, 1};
    default:
      return {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Complex), 128, 1};
  }
}

[[nodiscard]] std::size_t bytes_of(number type) {
  return type == number::complex128 ? 16 : type == number::int32 || type == number::float32 ? 4 : 8;
}

[[nodiscard]] nb::object device_array(const origin_of_arrays& where, number type, const std::vector<std::size_t>& shape,
                                      void*& memory) {
  std::size_t bytes = bytes_of(type);
  for (const std::size_t extent : shape) bytes *= extent;
  auto held = std::make_unique<device_memory>(where.at(0), bytes);
  memory = held->get();
  const nb::capsule owner(held.get(), [](void* pointer) noexcept { delete static_cast<device_memory*>(pointer); });
  static_cast<void>(held.release());
  return nb::ndarray<nb::array_api>(memory, shape.size(), shape.data(), owner, nullptr, dlpack_type(type),
                                    nb::device::cuda::value, where.device)
      .cast();
}

}  // namespace

void* results::add(number type, const std::vector<std::size_t>& shape) {
  const python_modules& modules = python_modules::get();
  void* memory = nullptr;
  if (!where_.on_gpu()) {
    arrays_.push_back(modules.numpy_empty(tuple_of(shape), modules.numpy_type(type)));
    Py_buffer view;
    if (PyObject_GetBuffer(arrays_.back().ptr(), &view, PyBUF_WRITABLE) != 0) throw nb::python_error();
    memory = view.buf;
    PyBuffer_Release(&view);
  } else if (where_.owner == library::torch) {
    const torch_modules& torch = torch_modules::get();
    arrays_.push_back(
        torch.empty(tuple_of(shape), nb::arg("dtype") = torch.type_of(type), nb::arg("device") = where_.device));
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    memory = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(arrays_.back().attr("data_ptr")()));
  } else if (where_.owner == library::cupy) {
    const nb::object cupy = nb::module_::import_("cupy");
    const std::string name(name_of(type));
    const nb::object scope = cupy.attr("cuda").attr("Device")(where_.device);
    scope.attr("__enter__")();
    arrays_.push_back(cupy.attr("empty")(tuple_of(shape), nb::arg("dtype") = name.c_str()));
    scope.attr("__exit__")(nb::none(), nb::none(), nb::none());
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    memory = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(arrays_.back().attr("data").attr("ptr")));
  } else {
    arrays_.push_back(device_array(where_, type, shape, memory));
  }
  return memory;
}

results::~results() {
  if (writer_ == nullptr || !where_.on_gpu() || std::uncaught_exceptions() <= exceptions_) return;
  try {
    writer_->synchronize();
  } catch (...) {  // the error that is on its way says more
  }
}

void results::prepare(worker& writer) {
  writer_ = &writer;
  if (!where_.on_gpu() || arrays_.empty()) return;
  // The library's memory may have been freed by someone whose work is still in its current stream.
  if (where_.owner == library::torch) writer.wait_for(torch_modules::get().stream_of(where_.device));
  if (where_.owner == library::cupy) arrays_.back().attr("__dlpack__")(nb::arg("stream") = writer.stream());
}

nb::object results::take(std::size_t k) {
  const nb::object& array = arrays_[k];
  if (where_.owner == library::jax) {
    const nb::object jax = nb::module_::import_("jax");
    if (where_.on_gpu()) return jax.attr("dlpack").attr("from_dlpack")(array);
    return jax.attr("device_put")(array, nb::object(jax.attr("devices")("cpu")[0]));
  }
  if (where_.owner == library::torch && !where_.on_gpu()) {
    return torch_modules::get().from_numpy(array);
  }
  return array;
}

}  // namespace quadrat::python

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>

#include "arrays.hpp"

namespace quadrat::python {

/// What is looked up once: objects of NumPy. Kept until the process ends.
struct python_modules {
  nanobind::object numpy, numpy_array, numpy_empty;
  nanobind::object types[10];

  [[nodiscard]] nanobind::handle numpy_type(number type) const { return types[static_cast<std::size_t>(type)]; }

  /// The interpreter's lock must be held, here and below.
  static const python_modules& get();
};

/// The same of PyTorch, for calls with its arrays.
struct torch_modules {
  nanobind::object empty, from_numpy, current_stream, strided, is_grad_enabled, unpack_dual;
  nanobind::object types[10];

  [[nodiscard]] nanobind::handle type_of(number type) const { return types[static_cast<std::size_t>(type)]; }
  /// The stream that this thread's work goes to, as an integer.
  [[nodiscard]] std::uintptr_t stream_of(int device) const;

  static const torch_modules& get();
};

}  // namespace quadrat::python

// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <exception>

#include "arrays.hpp"
#include "modules.hpp"
#include "quadrat/core/error.hpp"

namespace nb = nanobind;

namespace {

/// The library's errors as Python's, with the same words.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const quadrat::overflow_error& e) {
    PyErr_SetString(PyExc_OverflowError, e.what());
  } catch (const quadrat::backend_error& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (const quadrat::io_error& e) {
    PyErr_SetString(PyExc_OSError, e.what());
  } catch (const quadrat::error& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const quadrat::out_of_memory& e) {
    PyErr_SetString(PyExc_MemoryError, e.what());
  }
}

}  // namespace

NB_MODULE(_core, module) {
  using quadrat::python::boxes_in;
  nb::register_exception_translator(translate);
  nb::class_<boxes_in>(module, "Boxes")
      .def("__init__", [](boxes_in* self, decltype(boxes_in::vectors) vectors, decltype(boxes_in::origins) origins,
                          decltype(boxes_in::periodic) periodic) {
        new (self) boxes_in{std::move(vectors), std::move(origins), std::move(periodic)};
      });
  quadrat::python::add_search(module);
  quadrat::python::add_mesh(module);
  quadrat::python::add_transforms(module);
  quadrat::python::add_electrostatics(module);
  quadrat::python::add_keyed(module);
}

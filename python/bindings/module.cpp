// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/nanobind.h>

#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "arrays.hpp"
#include "modules.hpp"
#include "quadrat/core/config.hpp"
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
    // The one for the memory of a device is told from others by its words alone.
    const bool memory = std::string_view(e.what()).starts_with("CUDA: out of memory");
    PyErr_SetString(memory ? PyExc_MemoryError : PyExc_RuntimeError, e.what());
  } catch (const quadrat::io_error& e) {
    PyErr_SetString(PyExc_OSError, e.what());
  } catch (const quadrat::error& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const std::bad_alloc& e) {
    PyErr_SetString(PyExc_MemoryError, e.what());
  }
}

}  // namespace

NB_MODULE(_core, module) {
  nb::register_exception_translator(translate);
  module.def("work_seconds", [] { return std::exchange(quadrat::python::work_seconds(), 0.0); });
  module.attr("version") = QUADRAT_VERSION;
  quadrat::python::add_choice(module);
  quadrat::python::add_frames(module);
  quadrat::python::add_scenes(module);
  quadrat::python::add_lists(module);
  quadrat::python::add_search(module);
  quadrat::python::add_counts(module);
  quadrat::python::add_bodies(module);
  quadrat::python::add_mesh(module);
  quadrat::python::add_spectra(module);
  quadrat::python::add_transforms(module);
  quadrat::python::add_electrostatics(module);
  quadrat::python::add_mobility(module);
  quadrat::python::add_keyed(module);
  quadrat::python::add_jax(module);
}

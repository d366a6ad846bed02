// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

/// Each adds what it has to the module.
namespace quadrat::python {

void add_bodies(nanobind::module_& module);
void add_choice(nanobind::module_& module);
void add_frames(nanobind::module_& module);
void add_scenes(nanobind::module_& module);
void add_lists(nanobind::module_& module);
void add_search(nanobind::module_& module);
void add_counts(nanobind::module_& module);
void add_spectra(nanobind::module_& module);
void add_mesh(nanobind::module_& module);
void add_transforms(nanobind::module_& module);
void add_electrostatics(nanobind::module_& module);
void add_mobility(nanobind::module_& module);
void add_keyed(nanobind::module_& module);
void add_jax(nanobind::module_& module);

}  // namespace quadrat::python

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/context.hpp"

/// Each sets the makers of the engines in `papers` of a module, for the backend of the argument, which may be null.
namespace quadrat::detail {

void link_contact_papers(const cpu_context* backend);
void link_contact_papers(const cuda_context* backend);
void link_mesh_papers(const cpu_context* backend);
void link_mesh_papers(const cuda_context* backend);
void link_keyed_papers(const cpu_context* backend);
void link_keyed_papers(const cuda_context* backend);
void link_granular_papers(const cpu_context* backend);
void link_granular_papers(const cuda_context* backend);

}  // namespace quadrat::detail

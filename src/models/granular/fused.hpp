// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "models/granular/engine.hpp"

namespace quadrat {

/// The engine of the method "fused": a counting sort that carries the grains along, forces and motion in one kernel,
/// for CUDA alone. Order within a cell: of arrival at determinism none, of id at run_to_run (two more passes over 4
/// bytes a grain). It has no level canonical: throws argument_error then.
template <typename T>
[[nodiscard]] std::unique_ptr<granular_engine<cuda_context, T>> make_fused_granular_engine(
    const cuda_context& context, const detail::granular_setup<T>& setup);

}  // namespace quadrat

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "c/entry.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/spectral/nufft_plan.hpp"

/// Options of transforms.
namespace quadrat::c {

[[nodiscard]] inline nufft_options nufft_options_of(const quadrat_nufft_options& given) {
  nufft_options result;
  result.values = given.real != 0 ? nufft_values::real : nufft_values::complex;
  result.order = given.fft_order != 0 ? mode_order::fft : mode_order::centered;
  for (int axis = 0; axis < given.dimension; ++axis) {
    result.period[axis] = given.period[axis];
    result.origin[axis] = given.origin[axis];
  }
  result.oversampling = given.oversampling;
  result.systems = or_default(given.systems, 1);
  result.method = text_of(given.method);
  return result;
}

template <int D>
[[nodiscard]] vec<int, D> modes_of(const quadrat_nufft_options& given) {
  vec<int, D> result{};
  for (int axis = 0; axis < D; ++axis) result[axis] = given.modes[axis];
  return result;
}

}  // namespace quadrat::c

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "interface.hpp"

namespace quadrat::python {

/// The backend in the package quadrat_cuda13, which is opened at the first call. Throws ImportError with pip's command
/// where it is not installed or does not fit.
[[nodiscard]] backend& cuda_backend();

}  // namespace quadrat::python

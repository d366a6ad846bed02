// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "quadrat/core/config.hpp"

/// Marks a public name that a later minor version removes: since which version, and what to use instead, as text.
///
///     QUADRAT_DEPRECATED("0.2", "quadrat::build") void rebuild();
#define QUADRAT_DEPRECATED(since, instead) [[deprecated("since Quadrat " since ", use " instead)]]

namespace quadrat {

/// The version of the library that the program runs with, as "0.1.0". QUADRAT_VERSION is that of the headers which the
/// program was compiled with; a shared library may be another patch of the same minor version. Does not wait, allocates
/// nothing, never fails.
[[nodiscard]] std::string_view version() noexcept;

}  // namespace quadrat

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>

#include "quadrat/core/context.hpp"

namespace quadrat::detail {

/// The memory that a method would need, for the check and its message.
struct memory_demand {
  std::string_view method;
  std::string_view what;    ///< what it is for: "points"
  std::size_t needed;       ///< bytes
  std::size_t held;         ///< bytes that it has already
  std::string_view advice;  ///< a sentence that says what needs less
};

/// Throws argument_error if more bytes are needed than `most` or, with `most` 0, than the held and the free memory
/// together.
void require_memory(const memory_resource& memory, const memory_demand& demand, std::size_t most);

/// Throws argument_error, "`what` needs ...", if more bytes are needed than the held and the free memory together.
/// Queries the free memory only if much is needed.
void require_memory(const memory_resource& memory, std::string_view what, std::size_t needed, std::size_t held,
                    std::string_view advice);

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>

#include "quadrat/core/context.hpp"

namespace quadrat::detail {

/// What a method would take, for the message that it is too much.
struct memory_demand {
  std::string_view method;
  std::string_view what;   ///< it is for: "points"
  std::size_t needed;      ///< bytes
  std::size_t held;        ///< bytes that it has already
  std::string_view least;  ///< which methods need the least: "The methods particle and tiles need"
};

/// Throws argument_error when the bytes that are needed are more than `most`, or, where that is 0, than what is held
/// and the free memory make together.
void require_memory(const memory_resource& memory, const memory_demand& demand, std::size_t most);

/// Throws argument_error, "`what` needs ...", when the bytes that are needed are more than what is held and the free
/// memory make together. Asks for the free memory only where much is needed.
void require_memory(const memory_resource& memory, std::string_view what, std::size_t needed, std::size_t held,
                    std::string_view advice);

}  // namespace quadrat::detail

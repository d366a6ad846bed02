// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/method_list.hpp"

#include "core/suggestion.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::detail {

void throw_unknown_method(std::string_view kind, std::string_view name, std::span<const std::string_view> valid) {
  throw argument_error(
      message("unknown ", kind, " \"", name, "\"; valid, nearest first: ", joined(nearest_first(name, valid))));
}

}  // namespace quadrat::detail

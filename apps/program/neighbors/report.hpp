// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "program/neighbors/box.hpp"
#include "program/neighbors/options.hpp"
#include "program/neighbors/search.hpp"
#include "program/particle_file.hpp"

namespace quadrat::program {

/// The output of `quadrat neighbors --json` (described in docs/guides/neighbors.md).
[[nodiscard]] nlohmann::ordered_json as_json(const neighbors_report& report, const neighbors_options& options,
                                             const particle_file& particles, const search_box& box);

/// A few lines for people.
[[nodiscard]] std::string as_text(const neighbors_report& report, const neighbors_options& options,
                                  const particle_file& particles, const search_box& box);

}  // namespace quadrat::program

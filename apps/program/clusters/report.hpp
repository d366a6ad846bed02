// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "program/clusters/options.hpp"
#include "program/clusters/search.hpp"
#include "program/neighbors/box.hpp"
#include "program/particle_file.hpp"

namespace quadrat::program {

/// The output of `quadrat clusters --json` (described in docs/guides/clusters.md).
[[nodiscard]] nlohmann::ordered_json as_json(const clusters_report& report, const clusters_options& options,
                                             const particle_file& particles, const search_box& box);

/// A few lines for people.
[[nodiscard]] std::string as_text(const clusters_report& report, const clusters_options& options,
                                  const particle_file& particles, const search_box& box);

}  // namespace quadrat::program

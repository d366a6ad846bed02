// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "program/clusters/options.hpp"
#include "program/clusters/search.hpp"
#include "program/neighbors/box.hpp"
#include "program/particle_file.hpp"

namespace quadrat::program {

/// What `quadrat clusters --json` prints (docs/guides/clusters.md describes it).
[[nodiscard]] nlohmann::ordered_json as_json(const clusters_report& report, const clusters_options& options,
                                             const particle_file& particles, const search_box& box);

/// The same for people, in a few lines.
[[nodiscard]] std::string as_text(const clusters_report& report, const clusters_options& options,
                                  const particle_file& particles, const search_box& box);

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "program/contacts/options.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/io/bodies_file.hpp"

namespace quadrat::program {

/// The walls, box and masks of the command line.
struct contact_surroundings {
  std::optional<box<double, 3>> domain;
  std::vector<plane<double>> planes;
  pair_masks masks = all_groups_meet();
};

/// Throws argument_error that names the option if its value is impossible.
[[nodiscard]] contact_surroundings surroundings_of(const contacts_options& options);

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "program/contacts/options.hpp"
#include "program/contacts/scene.hpp"
#include "program/contacts/search.hpp"
#include "quadrat/io/bodies_file.hpp"

namespace quadrat::program {

/// The output of `quadrat contacts --json` (described in docs/guides/contacts.md).
[[nodiscard]] nlohmann::ordered_json as_json(const contacts_report& report, const contacts_options& options,
                                             const io::body_list& bodies, const contact_surroundings& surroundings);

/// A few lines for people.
[[nodiscard]] std::string as_text(const contacts_report& report, const contacts_options& options,
                                  const io::body_list& bodies, const contact_surroundings& surroundings);

}  // namespace quadrat::program

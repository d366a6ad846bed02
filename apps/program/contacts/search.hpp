// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "program/contacts/options.hpp"
#include "program/contacts/scene.hpp"
#include "program/device_options.hpp"
#include "quadrat/io/bodies_file.hpp"
#include "quadrat/tune/explanation.hpp"

namespace quadrat::program {

/// What a search for contacts found, and how.
struct contacts_report {
  used_device device;
  std::string method, reason;
  quadrat::explanation explanation;
  double bin_size = 0;
  std::uint64_t contacts = 0;
  std::size_t memory_bytes = 0;
  double reading_seconds = 0, search_seconds = 0, writing_seconds = 0, total_seconds = 0;
};

/// Searches, and writes the output if there is one. Throws what the library throws, and io_error.
[[nodiscard]] contacts_report find_contacts(const contacts_options& options, const io::body_list& bodies,
                                            const contact_surroundings& surroundings);

}  // namespace quadrat::program

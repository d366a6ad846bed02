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

/// The result of a search for contacts, and data about it.
struct contacts_report {
  used_device device;
  std::string method, reason;
  quadrat::explanation explanation;
  double bin_size = 0;
  std::uint64_t contacts = 0;
  std::size_t memory_bytes = 0;
  double reading_seconds = 0, search_seconds = 0, writing_seconds = 0, total_seconds = 0;
};

/// Finds contacts, and writes them if there is an output. Throws what the library throws, and io_error.
[[nodiscard]] contacts_report find_contacts(const contacts_options& options, const io::body_list& bodies,
                                            const contact_surroundings& surroundings);

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "harness/session.hpp"
#include "quadrat/core/method.hpp"

namespace quadrat::bench {

/// One series of measurements of a topic.
struct operation {
  std::string_view name;
  std::string_view summary;  ///< one line
  int figure;                ///< of the paper; 0: none
  void (*run)(const session&);
};

struct topic {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::span<const operation> operations;
  std::vector<method_info> (*methods)();  ///< what --method can name, on all devices
};

/// The list of topics. To add one, add a folder and an entry here.
[[nodiscard]] std::span<const topic> topics();

/// Throws argument_error for a topic, operation or figure that does not exist, and for a method that does not run on
/// the chosen device. The message names valid ones.
void check(const settings& asked);

/// Runs the requested operations, prints the results and writes the file. Returns the number of failed rows. Throws
/// argument_error as `check`, and io_error.
[[nodiscard]] std::size_t run(const settings& asked);

}  // namespace quadrat::bench

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace quadrat::program {

/// The options that divide a range into bins: LOW,HIGH, and their number.
struct bin_options {
  std::string range_option, number_option;  ///< "--k" and "--bins"
  std::string what;                         ///< "wave numbers"
  std::optional<std::string> range{};
  std::int64_t number = 0;
  bool logarithmic = false;

  /// Adds both options.
  void add_to(CLI::App& command);
  /// The edges of the bins; empty if there is no range. Throws argument_error that names the option.
  [[nodiscard]] std::vector<double> edges() const;
};

}  // namespace quadrat::program

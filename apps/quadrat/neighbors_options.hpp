// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace quadrat::program {

/// The command line of `quadrat neighbors`.
struct neighbors_options {
  std::string points;
  double cutoff = 0;
  std::optional<std::string> box, origin, periodic;
  bool half = false;
  std::string method;  ///< empty: chosen
  std::string device = "auto";
  std::optional<std::string> precision;
  std::int64_t threads = 0;
  std::optional<std::string> output;
  bool json = false;
  bool quiet = false;
};

}  // namespace quadrat::program

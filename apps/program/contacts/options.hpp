// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "program/box_options.hpp"
#include "program/device_options.hpp"

namespace quadrat::program {

/// The command line of `quadrat contacts`.
struct contacts_options {
  std::string bodies;
  std::vector<std::string> planes, apart;
  box_options box;
  std::string method;  ///< empty: chosen automatically
  double bin_size = 0;
  device_options device;
  std::string precision = "double";
  std::optional<std::string> output;
  bool json = false;
  bool explain = false;
  bool quiet = false;
};

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
#include "program/bin_options.hpp"

#include <CLI/CLI.hpp>
#include <cmath>

#include "program/box_options.hpp"
#include "program/option_checks.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::program {

void bin_options::add_to(CLI::App& command) {
  command.add_option(range_option, range, "range of the bins")->type_name("LOW,HIGH");
  command.add_option(number_option, number, "number of bins of " + range_option)
      ->check(whole_number(1, 65536))
      ->type_name("N");
}

std::vector<double> bin_options::edges() const {
  if (!range) {
    require(number == 0, number_option, " needs ", range_option, " LOW,HIGH");
    require(!logarithmic, "--log needs ", range_option, " LOW,HIGH");
    return {};
  }
  const std::vector<double> ends = numbers_of_option(range_option.c_str(), *range);
  require(ends.size() == 2 && ends[0] >= 0 && ends[1] > ends[0], range_option, " is ", *range, "; two increasing ",
          what, " from 0 on are needed");
  require(number > 0, range_option, " needs ", number_option, " N");
  require(!logarithmic || ends[0] > 0, range_option, " begins at 0; logarithmic bins begin above");
  std::vector<double> result;
  for (std::int64_t i = 0; i <= number; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(number);
    result.push_back(logarithmic ? ends[0] * std::pow(ends[1] / ends[0], part) : ends[0] + part * (ends[1] - ends[0]));
  }
  result.back() = ends[1];
  return result;
}

}  // namespace quadrat::program

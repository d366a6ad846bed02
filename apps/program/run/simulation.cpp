// SPDX-License-Identifier: BSD-3-Clause
#include "program/run/simulation.hpp"

namespace quadrat::program {

double measurement::operator[](std::string_view name) const {
  for (const measured_value& one : values) {
    if (one.name == name) return one.value;
  }
  return 0;
}

std::vector<std::string_view> measurement::names() const {
  std::vector<std::string_view> result;
  for (const measured_value& one : values) result.push_back(one.name);
  return result;
}

}  // namespace quadrat::program

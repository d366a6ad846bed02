// SPDX-License-Identifier: BSD-3-Clause
#include "simulation.hpp"

namespace quadrat::program {

double measurement::operator[](std::string_view name) const {
  for (const measured_value& one : values) {
    if (one.name == name) return one.value;
  }
  return 0;
}

}  // namespace quadrat::program

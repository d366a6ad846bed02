// SPDX-License-Identifier: BSD-3-Clause
#include "statistics_table.hpp"

#include <fmt/format.h>

#include <span>

#include "quadrat/core/error.hpp"

namespace quadrat::program {

void statistics_table::add(const granular_statistics& s) {
  if (has(s.step)) return;
  values_.insert(values_.end(),
                 {static_cast<double>(s.step), s.kinetic_energy, s.contact_energy, s.gravitational_energy,
                  s.kinetic_energy_per_particle, s.mean_height, s.contacts_per_particle, s.candidates_per_particle,
                  static_cast<double>(s.largest_cell), s.max_speed});
}

bool statistics_table::has(std::uint64_t step) const {
  return !values_.empty() && values_[values_.size() - columns] == static_cast<double>(step);
}

std::string statistics_table::as_csv(double time_step) const {
  std::string text =
      "step,time,kinetic_energy,contact_energy,gravitational_energy,kinetic_energy_per_particle,mean_height,"
      "contacts_per_particle,candidates_per_particle,largest_cell,max_speed\n";
  for (std::size_t row = 0; row < values_.size(); row += columns) {
    text += fmt::format("{},{}", values_[row], values_[row] * time_step);
    for (std::size_t column = 1; column < columns; ++column) text += fmt::format(",{}", values_[row + column]);
    text += '\n';
  }
  return text;
}

void statistics_table::save(io::checkpoint& state) const {
  state.add<double>("statistics", std::span(values_), columns);
}

void statistics_table::restore(const io::checkpoint& state) {
  values_ = state.get<double>("statistics");
  if (values_.size() % columns != 0) throw io_error("the statistics in the checkpoint are cut");
}

}  // namespace quadrat::program

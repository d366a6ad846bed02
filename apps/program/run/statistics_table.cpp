// SPDX-License-Identifier: BSD-3-Clause
#include "program/run/statistics_table.hpp"

#include <fmt/format.h>

#include <span>

#include "quadrat/core/error.hpp"

namespace quadrat::program {

void statistics_table::add(const measurement& row) {
  if (has(row.step)) return;
  values_.push_back(static_cast<double>(row.step));
  for (const measured_value& one : row.values) values_.push_back(one.value);
}

bool statistics_table::has(std::uint64_t step) const {
  return !values_.empty() && values_[values_.size() - columns()] == static_cast<double>(step);
}

std::string statistics_table::as_csv(double time_step) const {
  std::string text = "step,time";
  for (const std::string_view name : names_) text += fmt::format(",{}", name);
  text += '\n';
  for (std::size_t row = 0; row < values_.size(); row += columns()) {
    text += fmt::format("{},{}", values_[row], values_[row] * time_step);
    for (std::size_t column = 1; column < columns(); ++column) text += fmt::format(",{}", values_[row + column]);
    text += '\n';
  }
  return text;
}

void statistics_table::save(io::checkpoint& state) const {
  state.add<double>("statistics", std::span(values_), columns());
}

void statistics_table::restore(const io::checkpoint& state) {
  values_ = state.get<double>("statistics");
  if (values_.size() % columns() != 0) throw io_error("the statistics in the checkpoint are cut");
}

}  // namespace quadrat::program

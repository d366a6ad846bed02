// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "program/run/simulation.hpp"
#include "quadrat/io/checkpoint.hpp"

namespace quadrat::program {

/// The measurements of a run. A checkpoint includes them, so that a continued run has all rows.
class statistics_table {
 public:
  /// `names`: those of the values of every measurement.
  explicit statistics_table(std::vector<std::string_view> names) : names_(std::move(names)) {}

  void add(const measurement& row);
  [[nodiscard]] bool has(std::uint64_t step) const;
  [[nodiscard]] std::string as_csv(double time_step) const;

  void save(io::checkpoint& state) const;
  void restore(const io::checkpoint& state);

 private:
  /// The step and the values of a measurement.
  [[nodiscard]] std::size_t columns() const { return names_.size() + 1; }

  std::vector<std::string_view> names_;
  std::vector<double> values_;
};

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "quadrat/io/checkpoint.hpp"
#include "quadrat/models/granular.hpp"

namespace quadrat::program {

/// What was measured in the course of a run. It travels with the checkpoint, so that a continued run has all of it.
class statistics_table {
 public:
  void add(const granular_statistics& row);
  [[nodiscard]] bool has(std::uint64_t step) const;
  [[nodiscard]] std::string as_csv(double time_step) const;

  void save(io::checkpoint& state) const;
  void restore(const io::checkpoint& state);

 private:
  /// step, then the numbers of granular_statistics in the order of the columns.
  static constexpr std::size_t columns = 10;
  std::vector<double> values_;
};

}  // namespace quadrat::program

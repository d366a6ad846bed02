// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/core/vec.hpp"
#include "quadrat/io/csv.hpp"
#include "quadrat/io/npy.hpp"

namespace quadrat::program {

/// Some entries of a list, on the host. Arrays that the output does not need are empty.
template <typename T, int D>
struct pair_block {
  std::vector<std::int64_t> first, second;
  std::vector<vec<int, D>> shifts;
  std::vector<vec<T, D>> vectors;
  std::vector<T> squared;
};

/// Receives the entries of a list in order.
template <typename T, int D>
class pair_output {
 public:
  virtual ~pair_output() = default;
  virtual void write(const pair_block<T, D>& block) = 0;
  virtual void commit() = 0;
};

/// Writes pairs as P x 2 integers.
template <typename T, int D>
class npy_pair_output final : public pair_output<T, D> {
 public:
  npy_pair_output(const std::string& file, std::size_t pairs) : out_(file, io::npy_type::int64, {pairs, 2}) {}
  void write(const pair_block<T, D>& block) override {
    rows_.clear();
    for (std::size_t k = 0; k < block.first.size(); ++k) {
      rows_.insert(rows_.end(), {block.first[k], block.second[k]});
    }
    out_.write(std::span<const std::int64_t>(rows_));
  }
  void commit() override { out_.commit(); }

 private:
  io::npy_writer out_;
  std::vector<std::int64_t> rows_;
};

/// The names of the columns of pairs, depending on the dimension: i, j, sx, ..., dx, ..., d.
[[nodiscard]] inline std::vector<std::string_view> pair_columns(int dimension, bool vectors) {
  static constexpr std::array<std::string_view, 3> shifts{"sx", "sy", "sz"}, components{"dx", "dy", "dz"};
  std::vector<std::string_view> names{"i", "j"};
  names.insert(names.end(), shifts.begin(), shifts.begin() + dimension);
  if (vectors) names.insert(names.end(), components.begin(), components.begin() + dimension);
  names.push_back("d");
  return names;
}

/// Writes i, j, shift, vector and distance.
template <typename T, int D>
class csv_pair_output final : public pair_output<T, D> {
 public:
  csv_pair_output(const std::string& file, int dimension)
      : out_(file, pair_columns(dimension, true)), dimension_(dimension) {}
  void write(const pair_block<T, D>& block) override {
    for (std::size_t k = 0; k < block.first.size(); ++k) {
      out_.add(block.first[k]);
      out_.add(block.second[k]);
      for (int axis = 0; axis < dimension_; ++axis) out_.add(block.shifts[k][axis]);
      for (int axis = 0; axis < dimension_; ++axis) out_.add(block.vectors[k][axis]);
      out_.add(std::sqrt(block.squared[k]));
      out_.end_row();
    }
  }
  void commit() override { out_.commit(); }

 private:
  io::csv_writer out_;
  int dimension_;
};

}  // namespace quadrat::program

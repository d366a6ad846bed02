// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "program/mesh/values.hpp"
#include "program/neighbors/box.hpp"
#include "program/pairs/options.hpp"
#include "program/particle_file.hpp"
#include "program/run/summary.hpp"
#include "quadrat/search/pair_counts.hpp"

namespace quadrat::program {

/// Points with weights and regions, as they were read.
struct counted_set {
  particle_file particles;
  std::optional<value_file> weights;
  std::vector<std::uint32_t> regions;  ///< by point; empty without regions
  std::vector<double> region_weights;  ///< the sum of the weights in each region
  double weight = 0;                   ///< the sum of the weights
  double squares = 0;                  ///< of their squares
};

/// What is counted.
struct found_pairs {
  used_device device;
  pair_counts_result pairs;
  std::optional<pair_counts_result> data_randoms, other_randoms, random_pairs;
  std::size_t memory_bytes = 0;  ///< of one rank; 0: not known
  double counting_seconds = 0;
  int ranks = 1;
};

/// What `quadrat pairs` reads and finds.
struct pairs_run : found_pairs {
  counted_set data;
  std::optional<counted_set> others, randoms;
  std::optional<search_box> box;  ///< none of angles
  pair_counts_options options;
  std::string estimator;  ///< empty: counts only
  bool weighted = false;
  bool single = false;
  std::vector<double> correlation, projected;
  std::vector<double> errors;      ///< of the correlation, with regions
  std::vector<double> covariance;  ///< of `projected` if there is one, else of the correlation
  double reading_seconds = 0, total_seconds = 0;
};

/// Reads the points and checks the options. Throws argument_error that names the option, and io_error.
[[nodiscard]] pairs_run read_pairs_run(const pairs_options& options);

/// Computes the correlation function, and its errors where there are regions.
void correlate(pairs_run& run);

/// Counts, on one rank or several, and computes the correlation function. Of several processes only the first one gets
/// the results.
void count(const pairs_options& options, pairs_run& run);

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "quadrat/core/vec.hpp"
#include "quadrat/hydro/mobility.hpp"

/// Chooses parameters for an accuracy.
namespace quadrat::detail {

struct mobility_request {
  std::string method{};  ///< empty or "auto": chosen
  double accuracy = 0;
  double radius = 1;
  mobility_parameters given{};
  vec<double, 3> box{};
  double spheres = 0;
  double crowding = 1;  ///< pairs of neighbors, relative to spheres at random places
  bool cuda = false;
  bool single_precision = false;
};

/// The smallest accuracy that can be requested.
[[nodiscard]] double least_mobility_accuracy(bool single_precision);

struct mobility_choice {
  std::string_view method{};
  std::string_view reason{};
  mobility_parameters parameters{};
  double tolerance = 0;     ///< of the non-uniform Fourier transforms
  double oversampling = 0;  ///< of these; 0: chosen by them
  double neighbors = 0;     ///< expected
  double near_error = 0;
  double wave_error = 0;
  double transform_error = 0;
  double cost = 0;  ///< expected seconds; only ratios matter

  [[nodiscard]] double error() const;
};

/// Throws argument_error if no method serves.
[[nodiscard]] mobility_choice choose_mobility(const mobility_request& request);

}  // namespace quadrat::detail

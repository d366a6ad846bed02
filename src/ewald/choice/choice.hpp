// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ewald/splitting.hpp"
#include "quadrat/ewald/electrostatics.hpp"
#include "quadrat/mesh/window.hpp"
#include "quadrat/tune/explanation.hpp"
#include "tune/choice.hpp"

/// Predicted errors of Ewald sums, and the parameters expected to reach an accuracy in the least time.
namespace quadrat::detail {

/// The input of the estimates for a system. Lengths and charges in the user's units, k = 1.
struct charged_system {
  double points;
  double sum_of_squares;  ///< of the charges
  vec<vec<double, 3>, 3> vectors;
  /// The sum over the charges; it shows few large charges among many small ones. 0: all of one size.
  double sum_of_fourth_powers = 0;
  /// The mean number of points near a point, relative to random points in the whole cell, for distances of about the
  /// cutoff. It is large for a cluster, or for a drop in a large cell. Below 1 counts as 1.
  double crowding = 1;
  /// The same for boxes twice, four times, ... as long as those of `crowding`, up to one with all points. Empty: not
  /// known, assumed equal.
  std::vector<double> wider_crowding{};
  double box = 0;  ///< edge of the boxes of `crowding`
  /// The variance of the charge of equal boxes, relative to charges of random signs: how much more errors of neighbors
  /// add up in charged clusters. Below 1 counts as 1.
  double coherence = 1;
  double companions = 0;  ///< mean number of other points in the box of a point
  /// The mean square potential of the longest waves (ewald/long_waves.hpp), relative to charges of random signs at
  /// random places. Below 1 counts as 1.
  double long_waves = 1;
  double net_charge = 0;
  [[nodiscard]] double volume() const;
  /// The crowding at distances up to this.
  [[nodiscard]] double crowding_within(double distance) const;
  /// q^2 / d^2 (dispersion: c^2 / d^7); 0 without charges.
  [[nodiscard]] double reference_force(pair_law law) const;
};

struct ewald_errors {
  double short_range = 0;  ///< root mean square, in units of the reference force
  double mesh = 0;
  /// For a charge's half of the energies and virials of its pairs, in units of the reference force times (volume /
  /// points)^(1/3).
  double energy = 0;
  double virial = 0;
  [[nodiscard]] double total() const;
};

/// The parameters on which errors depend. `method`: spme, esp or direct, whose "mesh" is the largest mode along each
/// axis.
struct ewald_setup {
  std::string_view method;
  pair_law law;
  ewald_parameters parameters;  ///< all given
};

/// The shape of the splitting that a method uses.
[[nodiscard]] split_shape split_shape_of(std::string_view method);

/// The window with which a method spreads: a B-spline (spme), or prolate (esp).
template <typename T>
[[nodiscard]] mesh_window<T> window_of(const ewald_setup& setup);

/// Assumes uncorrelated charges at random places, an upper bound for correlated ones in liquids and crystals. Excludes
/// rounding. 0 without charges.
[[nodiscard]] ewald_errors predicted_errors(const ewald_setup& setup, const charged_system& system);

/// The errors of the system with the largest error of forces, and the largest errors of energies and virials.
struct largest_errors {
  ewald_errors errors;
  std::size_t system = 0;
};
[[nodiscard]] largest_errors predicted_errors(const ewald_setup& setup, const std::vector<charged_system>& systems);

/// The request for a choice.
struct ewald_request {
  std::string_view method;  ///< empty or "auto": any
  pair_law law;
  double accuracy;
  ewald_parameters given;  ///< 0: auto
  choice_place place;
  bool single_precision;
  double strictness = 1;  ///< accuracy / requested accuracy; messages name the latter
};

struct ewald_choice {
  ewald_setup setup;
  std::string_view reason;
  ewald_errors errors;  ///< of the system with the largest error
  double cost;          ///< expected milliseconds
  std::size_t worst;    ///< the system with the largest error
  double pairs = 0;     ///< expected within the cutoff, over all charges of all systems
  /// The best candidate of each tried method and order.
  std::vector<candidate> candidates{};
};

/// Throws argument_error for numbers with which no choice is possible.
void check_ewald_numbers(double accuracy, const ewald_parameters& given);

/// The same parameters for all systems. Throws argument_error with the least possible accuracy if this precision cannot
/// reach it, or if given parameters are impossible (order, extents that are not products of 2, 3 and 5).
[[nodiscard]] ewald_choice choose_ewald(const ewald_request& request, const std::vector<charged_system>& systems);

/// The name of a method and its order in tables.
[[nodiscard]] std::string ewald_candidate_name(std::string_view method, int order);

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "ewald/choice/choice.hpp"
#include "ewald/choice/cost.hpp"
#include "ewald/errors/mesh_error.hpp"
#include "ewald/splitting.hpp"

namespace quadrat::detail {

/// The largest alpha times cutoff; beyond it the short-range part is below rounding.
inline constexpr double most_decay = 6.2;

struct ewald_candidate {
  ewald_parameters parameters{};
  double error = std::numeric_limits<double>::infinity();
  double cost = std::numeric_limits<double>::infinity();

  /// Whether this is accurate and cheaper or, if neither is accurate, closer to it.
  [[nodiscard]] bool beats(const ewald_candidate& other, double accuracy) const {
    const bool serves = error <= accuracy, other_serves = other.error <= accuracy;
    if (serves != other_serves) return serves;
    return serves ? cost < other.cost : error < other.error;
  }
};

/// The search for the parameters of one method. For each order a golden-section search finds the cutoff of least cost.
/// For each cutoff the splitting follows from the error of the short-range part (prolate: of the omitted modes), and
/// the mesh from the remaining error.
class ewald_search {
 public:
  ewald_search(const ewald_request& request, std::string_view method, const ewald_load& load);

  /// For the system with the largest error: the cheapest candidate within `accuracy`; if there is none, the one with
  /// the least error, which is infinite if nothing is possible.
  [[nodiscard]] ewald_candidate best(const charged_system& system, double accuracy);
  /// The candidates compared in the last call.
  [[nodiscard]] const std::vector<ewald_candidate>& compared() const { return compared_; }

 private:
  struct shape {
    ewald_splitting splitting;
    split_spectrum spectrum;
  };

  [[nodiscard]] ewald_candidate with_order(int order);
  [[nodiscard]] ewald_candidate complete(int order, double cutoff, bool rounded);
  [[nodiscard]] ewald_candidate with_mesh(const ewald_parameters& given, bool rounded);
  [[nodiscard]] double parameter_for(double cutoff) const;
  [[nodiscard]] double balanced_parameter(const ewald_parameters& given);
  [[nodiscard]] double cutoff_for(double alpha) const;
  [[nodiscard]] double density_for(const shape& here, const ewald_parameters& given, double target);
  double put_mesh(vec<int, 3>& mesh, int order, double density, bool rounded) const;
  [[nodiscard]] double points_of(const vec<int, 3>& mesh) const;
  [[nodiscard]] double mesh_error_of(const shape& here, const ewald_parameters& parameters);
  [[nodiscard]] shape shape_at(double cutoff, double parameter);
  [[nodiscard]] const window_aliases* window(int order, double parameter);

  const ewald_request& request_;
  const ewald_load& load_;
  bool prolate_;
  bool direct_;
  split_spectrum unit_gaussian_;  // with alpha = 1
  charged_system system_{};
  double accuracy_ = 0;
  std::vector<ewald_candidate> compared_{};
  double likely_cutoff_ = 0;                // best cutoff of the last order; 0: unknown
  std::map<int, double> likely_density_{};  // by order, over alpha
  std::map<double, shape> shapes_{};        // prolate, by c, with a cutoff of 1
  std::map<std::pair<int, double>, std::unique_ptr<window_aliases>> windows_{};
};

}  // namespace quadrat::detail

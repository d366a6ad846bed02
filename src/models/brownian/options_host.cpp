// SPDX-License-Identifier: BSD-3-Clause
#include "models/brownian/options.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "core/point_checks.hpp"
#include "core/suggestion.hpp"
#include "models/brownian/methods.hpp"
#include "models/parameter_checks.hpp"
#include "models/run_fault.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

void check_brownian_forces(const brownian_options& options, std::size_t count) {
  for (int axis = 0; axis < 3; ++axis) detail::require_finite("force on each sphere", options.force[axis]);
  detail::require_not_negative("constant of the repulsion", options.repulsion);
  detail::require_not_negative("range of the repulsion", options.repulsion_range);
  detail::require_not_negative("constant of the springs", options.spring);
  detail::require_not_negative("length of the springs", options.spring_length);
  for (const brownian_bond& bond : options.bonds) {
    for (const particle_id end : bond) {
      require(end < count, "a bond joins sphere ", end, ", but there are only ", count);
    }
    require(bond[0] != bond[1], "a bond joins sphere ", bond[0], " with itself");
  }
  require(options.bonds.size() <= max_count / 2, "there are ", options.bonds.size(), " bonds; at most ", max_count / 2,
          " are possible");
}

}  // namespace

std::span<const method_info> brownian_methods() {
  static const std::vector<method_info> all = [] {
    const auto those = mobility_methods();
    std::vector<method_info> result(those.begin(), those.end());
    result.push_back({detail::free_brownian_method, "without hydrodynamic interactions", true,
                      !those.empty() && those.front().on_cuda, determinism::run_to_run});
    return result;
  }();
  return all;
}

double brownian_move(const brownian_options& options) {
  const double diffusion = options.temperature / (6 * std::numbers::pi * options.viscosity * options.radius);
  return std::sqrt(2 * diffusion * options.time_step);
}

namespace detail {

brownian_options completed(brownian_options options, std::size_t count, determinism level) {
  require_count(count, "spheres");
  for (int axis = 0; axis < 3; ++axis) require_positive("extent of the box", options.box[axis]);
  require_positive("radius", options.radius);
  require_positive("viscosity", options.viscosity);
  require_not_negative("temperature", options.temperature);
  require_positive("time step", options.time_step);
  require(level != determinism::canonical,
          "the Brownian model does not have the level canonical of determinism; run_to_run and none are possible");
  std::vector<std::string_view> names{"auto"};
  for (const method_info& one : brownian_methods()) names.push_back(one.name);
  if (options.method.empty()) options.method = "auto";
  require(std::ranges::find(names, options.method) != names.end(), "unknown method \"", options.method, "\"; ",
          suggestion(options.method, names));
  check_brownian_forces(options, count);
  if (options.repulsion_range == 0) options.repulsion_range = 2 * options.radius;
  return options;
}

void throw_brownian_fault(std::uint64_t fault) {
  if (fault == no_run_fault) return;
  const auto sphere = static_cast<std::uint32_t>(fault);
  throw data_error(message("the run blew up in step ", fault >> 32, ": sphere ", sphere,
                           " would move across half of the box, or to a position that is not finite; a smaller time "
                           "step may help"),
                   sphere);
}

mobility_options mobility_of(const brownian_options& options) {
  mobility_options result;
  result.method = options.method;
  result.accuracy = options.accuracy;
  result.radius = options.radius;
  result.viscosity = options.viscosity;
  result.most_iterations = options.most_iterations;
  result.most_bytes = options.most_bytes;
  return result;
}

double mean_self_mobility(const brownian_options& options) {
  if (options.method == free_brownian_method) return 1 / (6 * std::numbers::pi * options.viscosity * options.radius);
  const vec<double, 3> each = periodic_self_mobility(options.box, options.radius, options.viscosity);
  return (each[0] + each[1] + each[2]) / 3;
}

}  // namespace detail

}  // namespace quadrat

// SPDX-License-Identifier: BSD-3-Clause
#include "hydro/choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/method_choice.hpp"
#include "hydro/cut_errors.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

/// Expected times in seconds on an H200 or two CPU cores. Only ratios matter.
struct mobility_rates {
  double pair;          ///< per pair of the near part and product
  double listing;       ///< per pair, once
  double sphere;        ///< per sphere and iteration
  double iteration;     ///< per iteration
  double mesh_point;    ///< per mesh point, for three vectors in both directions
  double point_weight;  ///< per sphere and mesh point of its window, likewise
  double transforms;    ///< per product of the wave part
  double direct;        ///< per sphere and mode summed directly
  double direct_turn;   ///< per sphere, and per mode, whose thread loops over all of the others
};

[[nodiscard]] mobility_rates mobility_rates_of(const mobility_request& request) {
  const mobility_rates gpu{8e-12, 6e-11, 4e-11, 1.4e-5, 6.6e-11, 9e-12, 1.5e-4, 1.6e-11, 3e-8};
  const mobility_rates cpu{4e-9, 3e-8, 1e-8, 2e-6, 3e-8, 3e-9, 2e-5, 2e-8, 0};
  mobility_rates rates = request.cuda ? gpu : cpu;
  if (request.single_precision) return rates;
  const double factor = request.cuda ? 2 : 1.6;
  for (double* rate : {&rates.pair, &rates.sphere, &rates.mesh_point, &rates.point_weight, &rates.direct}) {
    *rate *= factor;
  }
  return rates;
}

/// The tolerance of transforms bounds the worst case over modes. Most of a product is in long waves, for which windows
/// are much more accurate, especially on coarse meshes. Measured with 600 to 2,000 spheres at volume fractions of 0.02
/// to 0.4 and splitting parameters of 0.3 to 1.2 / a.
struct measured_transform {
  double tolerance;
  double error;  ///< at most, of products
};
/// With 1.25 mesh points per mode, windows 4 to 8 wide.
constexpr double coarse_oversampling = 1.25;
constexpr measured_transform coarse_transforms[] = {
    {0.09, 1.1e-2}, {0.02, 1.6e-3}, {0.0075, 2.5e-4}, {0.0016, 4e-5}, {0.00027, 7e-6}};
/// The error on any mesh, in units of the tolerance.
constexpr double transform_error_of_any = 0.15;

/// The shares of error sources; the sum of their squares is below 1.
constexpr double cut_share = 0.62, transform_share = 0.3;

/// The factor by which errors must be smaller for few spheres: most of the omitted terms are then images of one sphere
/// under one force, which add up without the cancellation of random forces.
[[nodiscard]] double strictness_for(double spheres) {
  constexpr double few = 10, many = 120;
  return std::min(std::max(spheres, few) / many, 1.0);
}

class mobility_search {
 public:
  mobility_search(const mobility_request& request, std::string_view method)
      : request_(request), method_(method), rates_(mobility_rates_of(request)) {
    for (int axis = 0; axis < 3; ++axis) {
      box_[axis] = request.box[axis] / request.radius;
      volume_ *= box_[axis];
    }
    density_ = std::max(request.spheres, 1.0) / volume_;
  }

  [[nodiscard]] mobility_choice best() const {
    const double given = request_.given.splitting * request_.radius;
    if (given > 0) return at(given);
    mobility_choice found{};
    double where = 0;
    constexpr double ratio = 1.35;
    const int most = static_cast<int>(std::log(4 / least_splitting()) / std::log(ratio));
    for (int i = 0; i <= std::max(most, 0); ++i) consider(4 * std::pow(ratio, -i), found, where);
    double step = std::pow(ratio, 0.5);
    const double start = where;
    for (int round = 0; round < 3 && start > 0; ++round, step = std::sqrt(step)) {
      const double center = where;
      consider(center * step, found, where);
      consider(center / step, found, where);
    }
    return found;
  }

  [[nodiscard]] static bool accurate(const mobility_choice& choice, double accuracy) {
    return choice.error() <= accuracy;
  }
  [[nodiscard]] bool beats(const mobility_choice& a, const mobility_choice& b) const {
    if (b.cost == 0) return true;
    const bool serves = accurate(a, request_.accuracy), other = accurate(b, request_.accuracy);
    if (serves != other) return serves;
    return serves ? a.cost < b.cost : a.error() < b.error();
  }

 private:
  /// The splitting for which the near part reaches over a few boxes, or over all spheres in a much larger box.
  [[nodiscard]] double least_splitting() const { return 1 / (2 + std::max({box_[0], box_[1], box_[2]})); }

  void consider(double splitting, mobility_choice& found, double& where) const {
    const mobility_choice here = at(splitting);
    if (!beats(here, found)) return;
    found = here;
    where = splitting;
  }

  [[nodiscard]] mobility_choice at(double splitting) const {
    mobility_choice choice;
    const cut_errors errors(splitting, density_ * request_.crowding);
    const double strictness = strictness_for(request_.spheres), allowed = strictness * request_.accuracy;
    const double part = cut_share * allowed, radius = request_.radius;
    choice.method = method_;
    choice.parameters.splitting = splitting / radius;
    const double cutoff =
        request_.given.cutoff > 0 ? request_.given.cutoff / radius : std::max(2.05, errors.cutoff_for(part));
    choice.parameters.cutoff = cutoff * radius;
    choice.near_error = errors.near_error(cutoff) / strictness;
    const double most_mode = errors.most_mode_for(part);
    double least = std::numeric_limits<double>::infinity();
    double modes = 1, mesh = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const double unit = 2 * std::numbers::pi / box_[axis];
      int count = request_.given.modes[axis];
      if (count == 0) count = 2 * static_cast<int>(std::clamp(std::ceil(most_mode / unit - 0.5), 0.0, 1e6)) + 1;
      choice.parameters.modes[axis] = count;
      least = std::min(least, unit * (0.5 * (count - 1) + 0.5));
      modes *= count;
      mesh *= std::max(4.0, 1.04 * count);  // rounded up to small factors
    }
    choice.wave_error = errors.wave_error(least) / strictness;
    const bool direct = method_ == "direct";
    if (!direct) choose_transform(choice, transform_share * allowed);
    choice.transform_error /= strictness;
    const double mean = 4 * std::numbers::pi / 3 * cutoff * cutoff * cutoff * density_;
    choice.neighbors = std::min(mean * request_.crowding, mean + request_.spheres);
    choice.cost = cost_of(choice, direct, modes, mesh);
    return choice;
  }

  void choose_transform(mobility_choice& choice, double error) const {
    for (const measured_transform& here : coarse_transforms) {
      // Coarse meshes amplify rounding.
      if (here.error > error || (request_.single_precision && here.tolerance < 5e-3)) continue;
      choice.tolerance = here.tolerance;
      choice.oversampling = coarse_oversampling;
      choice.transform_error = here.error;
      return;
    }
    const double least = request_.single_precision ? 3e-6 : 2e-13;
    choice.tolerance = std::clamp(error / transform_error_of_any, least, 0.1);
    choice.oversampling = 0;
    choice.transform_error = transform_error_of_any * choice.tolerance;
  }

  [[nodiscard]] double cost_of(const mobility_choice& choice, bool direct, double modes, double mesh) const {
    const double spheres = request_.spheres;
    const double near_product = rates_.pair * spheres * (choice.neighbors + 4) + rates_.sphere * spheres;
    const double width = 3 + std::log10(1 / std::max(choice.tolerance, 1e-15));
    mesh *= std::pow(choice.oversampling > 0 ? choice.oversampling : 1.5, 3);
    const double waves = direct ? rates_.direct * spheres * modes + rates_.direct_turn * (spheres + modes)
                                : rates_.transforms + rates_.mesh_point * mesh +
                                      rates_.point_weight * spheres * (width * width * width + 60);
    const double listing = rates_.listing * spheres * (choice.neighbors + 8);
    const double digits = std::log10(1 / request_.accuracy);
    if (method_ == "krylov") return listing + (6 + 6 * digits) * (near_product + waves + rates_.iteration);
    return listing + (2 + 1.5 * digits) * (near_product + rates_.iteration) + waves;
  }

  const mobility_request& request_;
  std::string_view method_;
  mobility_rates rates_;
  vec<double, 3> box_{};
  double volume_ = 1;
  double density_ = 0;
};

void require_images(const mobility_request& request, double cutoff) {
  constexpr double most = 2e4;
  double images = 1;
  for (int axis = 0; axis < 3; ++axis) images *= 2 * cutoff / request.box[axis] + 1;
  require(images <= most, "the cutoff ", cutoff, " reaches over ", images, " images of the box ", request.box[0], " x ",
          request.box[1], " x ", request.box[2], "; up to ", most,
          " are possible: a larger splitting parameter, a smaller cutoff or a box that is not so small beside the ",
          "radius ", request.radius, " has fewer");
}

}  // namespace

double mobility_choice::error() const {
  return std::sqrt(near_error * near_error + wave_error * wave_error + transform_error * transform_error);
}

double least_mobility_accuracy(bool single_precision) { return single_precision ? 5e-6 : 1e-13; }

mobility_choice choose_mobility(const mobility_request& request) {
  const bool any = is_automatic(request.method);
  mobility_choice found{};
  for (const std::string_view method : {"split", "direct", "krylov"}) {
    if (any ? method == "krylov" : method != request.method) continue;
    // The limit of transforms in double precision on any mesh.
    if (any && method == "split" && request.accuracy < 1e-11) continue;
    const mobility_search search(request, method);
    const mobility_choice here = search.best();
    if (search.beats(here, found)) found = here;
  }
  require_images(request, found.parameters.cutoff);
  if (!any) {
    found.reason = "asked for";
  } else if (request.accuracy < 1e-11) {
    found.reason = "transforms on meshes are not that accurate";
  } else {
    found.reason = found.method == "direct" ? "for so few spheres and modes a mesh costs more than sums"
                                            : "Brownian velocities of the wave part come from one transform";
  }
  return found;
}

}  // namespace quadrat::detail

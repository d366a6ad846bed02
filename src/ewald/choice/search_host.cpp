// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/choice/search.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ewald/errors/error_model.hpp"
#include "quadrat/core/vec.hpp"
#include "spectral/fft/lines.hpp"

namespace quadrat::detail {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double most_mesh_points = 2147483647.0;  // of all systems
constexpr double least_decay = 0.2, least_band = 3, most_band = 42, band_step = 0.5;
constexpr int least_order = 3, most_order = 8;
constexpr int search_nodes = 4;
constexpr double share = 0.7;  // fraction of the accuracy for each of two parts: about sqrt(1/2)

/// The minimum of f, by golden sections in the logarithm. Moves to larger arguments while f is infinite.
template <typename F>
[[nodiscard]] double least_of(double from, double to, int evaluations, const F& f) {
  const double part = (std::sqrt(5.0) - 1) / 2;
  double low = std::log(from), high = std::log(to);
  double x = high - part * (high - low), y = low + part * (high - low), fx = f(std::exp(x)), fy = f(std::exp(y));
  for (int i = 2; i < evaluations; ++i) {
    if (fx < fy) {
      high = std::exchange(y, x);
      fy = fx;
      x = high - part * (high - low);
      fx = f(std::exp(x));
    } else {
      low = std::exchange(x, y);
      fx = fy;
      y = low + part * (high - low);
      fy = f(std::exp(y));
    }
  }
  return std::exp(fx < fy ? x : y);
}

/// The least argument, to a thousandth, from which on a falling f is at most `target`; `to` if there is none.
template <typename F>
[[nodiscard]] double first_below(double from, double to, double target, const F& f) {
  while (to > 1.001 * from) {
    const double middle = std::sqrt(from * to);
    (f(middle) <= target ? to : from) = middle;
  }
  return to;
}

}  // namespace

ewald_search::ewald_search(const ewald_request& request, std::string_view method, const ewald_load& load)
    : request_(request),
      load_(load),
      prolate_(split_shape_of(method) == split_shape::prolate),
      direct_(method == "direct"),
      unit_gaussian_(ewald_splitting(request.law, split_shape::gaussian, 1, 1)) {}

ewald_candidate ewald_search::best(const charged_system& system, double accuracy) {
  system_ = system;
  accuracy_ = accuracy;
  compared_.clear();
  if (direct_ || request_.given.order > 0) {
    ewald_candidate only = with_order(direct_ ? most_order : request_.given.order);
    if (direct_) only.parameters.order = 0;
    compared_.push_back(only);
    return only;
  }
  // Costs have one minimum over orders. Start where it usually is.
  const double digits = -std::log10(accuracy);
  const int first =
      std::clamp(static_cast<int>(std::lround(prolate_ ? digits + 3 : 2.5 + digits)), least_order, most_order);
  ewald_candidate best = with_order(first);
  compared_.push_back(best);
  for (const int step : {1, -1}) {
    for (int order = first + step; order >= least_order && order <= most_order; order += step) {
      const ewald_candidate here = with_order(order);
      compared_.push_back(here);
      if (here.beats(best, accuracy)) {
        best = here;
      } else if (best.error <= accuracy) {
        break;
      }
    }
  }
  return best;
}

ewald_candidate ewald_search::with_order(int order) {
  const ewald_parameters& given = request_.given;
  if (given.cutoff > 0) return complete(order, given.cutoff, true);
  if (given.splitting > 0 && !prolate_) return complete(order, cutoff_for(given.splitting), true);
  const auto cost = [&](double rc) {
    const ewald_candidate here = complete(order, rc, false);
    return here.error <= accuracy_ ? here.cost : infinity;
  };
  // Near the best cutoff of another order; or anywhere.
  const double spacing = std::cbrt(system_.volume() / system_.points);
  const double from = 0.3 * spacing / std::cbrt(std::max(1.0, system_.crowding));
  double cutoff = likely_cutoff_ > 0 ? least_of(likely_cutoff_ / 1.6, 1.6 * likely_cutoff_, 5, cost) : 0;
  if (cutoff == 0 || cost(cutoff) == infinity) cutoff = least_of(from, 14 * spacing, 10, cost);
  const ewald_candidate found = complete(order, cutoff, true);
  if (found.error <= accuracy_) likely_cutoff_ = cutoff;
  return found;
}

/// Completes an order and a cutoff. `rounded`: with possible extents; otherwise with real numbers, which makes the cost
/// a smooth function of the cutoff.
ewald_candidate ewald_search::complete(int order, double cutoff, bool rounded) {
  ewald_parameters parameters = request_.given;
  parameters.order = order;
  parameters.cutoff = cutoff;
  if (parameters.splitting > 0) return with_mesh(parameters, rounded);
  if (parameters.mesh[0] > 0) {
    parameters.splitting = balanced_parameter(parameters);
    return with_mesh(parameters, rounded);
  }
  parameters.splitting = parameter_for(cutoff);
  ewald_candidate found = with_mesh(parameters, rounded);
  // The window of a larger prolate splitting has a lower step at its end, whose error no mesh makes smaller.
  constexpr double most_more = 3;
  const double last = std::min(parameters.splitting + most_more, most_band);
  while (prolate_ && std::isinf(found.error) && parameters.splitting < last) {
    parameters.splitting += band_step;
    found = with_mesh(parameters, rounded);
  }
  return found;
}

/// Completes parameters that lack at most the mesh.
ewald_candidate ewald_search::with_mesh(const ewald_parameters& given, bool rounded) {
  ewald_candidate it;
  it.parameters = given;
  const bool mesh_given = given.mesh[0] > 0;
  const shape here = shape_at(given.cutoff, given.splitting);
  const double short_range = short_range_error(here.splitting, system_);
  double points = 0;
  if (!mesh_given) {
    const double rest = std::max(accuracy_ * accuracy_ - short_range * short_range, 0.1 * accuracy_ * accuracy_);
    const double density = density_for(here, given, 0.98 * std::sqrt(rest));
    if (density == 0) return it;
    points = put_mesh(it.parameters.mesh, given.order, density, rounded);
  }
  if (mesh_given || rounded) points = points_of(it.parameters.mesh);
  if (points * load_.systems > most_mesh_points) return it;
  it.error = std::hypot(short_range, mesh_error_of(here, it.parameters));
  it.cost = load_.expected(load_.work(direct_, given.cutoff, points, given.order));
  return it;
}

/// The splitting for which the short-range part (prolate: the omitted modes) makes its share of the error. Prolate: in
/// steps, because tables are kept for each c.
double ewald_search::parameter_for(double cutoff) const {
  const double target = share * accuracy_;
  if (prolate_) {
    double c = least_band;
    while (c < most_band && left_out_error(cutoff, c, system_) > target) c += band_step;
    return c;
  }
  const auto error = [&](double decay) {
    return short_range_error({request_.law, split_shape::gaussian, cutoff, decay / cutoff}, system_);
  };
  return first_below(least_decay, most_decay, target, error) / cutoff;
}

double ewald_search::cutoff_for(double alpha) const {
  const auto error = [&](double decay) {
    return short_range_error({request_.law, split_shape::gaussian, decay / alpha, alpha}, system_);
  };
  return first_below(least_decay, most_decay, share * accuracy_, error) / alpha;
}

/// The splitting with the least error for a given mesh: both parts are equal (prolate: by trial).
double ewald_search::balanced_parameter(const ewald_parameters& given) {
  const double cutoff = given.cutoff;
  if (prolate_) {
    const auto rounded = [](double c) { return std::round(2 * c) / 2; };
    return rounded(least_of(least_band, most_band, 10,
                            [&](double c) { return mesh_error_of(shape_at(cutoff, rounded(c)), given); }));
  }
  const auto excess = [&](double decay) {
    const shape here = shape_at(cutoff, decay / cutoff);
    return short_range_error(here.splitting, system_) - mesh_error_of(here, given);
  };
  return first_below(least_decay, most_decay, 0, excess) / cutoff;
}

/// The least mesh points (direct: modes) per unit length of a cell's edges for an error of `target`; 0 if impossible.
/// The error falls about as a power of the density. That of prolate windows rises again, slowly, on denser meshes.
double ewald_search::density_for(const shape& here, const ewald_parameters& given, double target) {
  ewald_parameters trial = given;
  const double alpha = gaussian_splitting(here.splitting.shape(), given.cutoff, here.splitting.parameter());
  double& likely = likely_density_[trial.order];  // over alpha
  if (likely == 0) likely = direct_ ? 1 : prolate_ ? 1.3 : 2;
  double density = likely * alpha, best = 0, slope = direct_ ? 8 : 0.7 * given.order;
  double before = 0, before_log = 0, low = 0;  // low: too coarse
  for (int step = 0; step < 16; ++step) {
    if (put_mesh(trial.mesh, trial.order, density, false) * load_.systems > most_mesh_points) break;
    const double log_ratio = std::log(std::max(mesh_error_of(here, trial), 1e-300) / target);
    const double fall = step == 0 ? 0 : (before_log - log_ratio) / std::log(density / before);
    if (fall > 0) slope = std::clamp(fall, 0.5, 40.0);
    if (log_ratio <= 0 && (best == 0 || density < best)) best = density;
    if (fall > 0 && (density < before ? log_ratio : before_log) > 0) low = std::max(low, std::min(density, before));
    // A slope over a long way does not tell on which side of the least error this is.
    const bool near = log_ratio <= 0 && log_ratio > -0.15, here_falling = fall > 0 && density < 1.3 * before;
    if ((near && here_falling) || (best > 0 && (step >= 8 || best < 1.06 * low))) break;
    if (fall < 0 && density < 1.03 * low) break;  // the least error is between them, and is not enough
    before = density;
    before_log = log_ratio;
    // Extents are small integers, so steps must stay large enough to change them.
    const double factor = std::exp((log_ratio + 0.07) / slope);
    if (fall < 0) {
      density *= low > 0 ? std::sqrt(low / density) : 0.75;
    } else {
      density *= log_ratio > 0 ? std::clamp(factor, 1.03, 3.0) : std::clamp(factor, 0.3, 0.95);
    }
    if (best > 0 && (density >= best || density <= low)) {
      if (low == 0) break;
      density = std::sqrt(low * best);
    }
  }
  if (best > 0) likely = best / alpha;
  return best;
}

/// Extents for a density; returns their product before they are rounded up to possible ones.
double ewald_search::put_mesh(vec<int, 3>& mesh, int order, double density, bool rounded) const {
  double product = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const double least = std::max(density * norm(system_.vectors[axis]), direct_ ? 0.0 : static_cast<double>(order));
    product *= direct_ ? 2 * least + 1 : least;
    if (least > 1e9) return infinity;
    mesh[axis] = direct_   ? static_cast<int>(std::ceil(least))
                 : rounded ? good_fft_size(std::ceil(least), axis == 2)
                           : static_cast<int>(std::ceil(least));
  }
  return direct_ ? product / 2 : product;
}

double ewald_search::points_of(const vec<int, 3>& mesh) const {
  const auto extent = cast<double>(mesh);
  if (!direct_) return extent[0] * extent[1] * extent[2];
  return (2 * extent[0] + 1) * (2 * extent[1] + 1) * (2 * extent[2] + 1) / 2;
}

double ewald_search::mesh_error_of(const shape& here, const ewald_parameters& parameters) {
  const window_aliases* aliases = direct_ ? nullptr : window(parameters.order, here.splitting.parameter());
  return mesh_error(here.splitting, here.spectrum, aliases, parameters.mesh, system_, search_nodes);
}

ewald_search::shape ewald_search::shape_at(double cutoff, double parameter) {
  if (!prolate_) {
    const ewald_splitting splitting(request_.law, split_shape::gaussian, cutoff, parameter);
    return {splitting, unit_gaussian_.scaled(1 / parameter)};
  }
  auto found = shapes_.find(parameter);
  if (found == shapes_.end()) {
    const ewald_splitting splitting(request_.law, split_shape::prolate, 1, parameter);
    found = shapes_.emplace(parameter, shape{splitting, split_spectrum(splitting)}).first;
  }
  return {found->second.splitting.scaled(cutoff), found->second.spectrum.scaled(cutoff)};
}

const window_aliases* ewald_search::window(int order, double parameter) {
  if (!prolate_) return &bspline_aliases(order);
  auto& aliases = windows_[{order, parameter}];
  if (aliases == nullptr) aliases = prolate_aliases(order, window_band(order, parameter));
  return aliases.get();
}

}  // namespace quadrat::detail

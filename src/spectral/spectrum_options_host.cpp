// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/spectrum_options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "quadrat/mesh/window.hpp"

namespace quadrat::detail {

namespace {

constexpr std::size_t most_bins = std::size_t{1} << 16;

void require_multipoles(const std::vector<int>& degrees, int dimension) {
  require(!degrees.empty(), "there are no multipoles; 0, 2 and 4 are possible");
  for (std::size_t i = 0; i < degrees.size(); ++i) {
    const int degree = degrees[i];
    require(degree == 0 || degree == 2 || degree == 4, "a multipole is ", degree, "; 0, 2 and 4 are possible");
    require(degree == 0 || dimension == 3, "a multipole is ", degree, "; in 2D only 0 is possible");
    require(std::count(degrees.begin(), degrees.end(), degree) == 1, "the multipole ", degree, " is asked twice");
  }
}

void require_edges(const std::vector<double>& edges) {
  require(edges.size() != 1, "there is 1 edge of bins; at least 2 are needed");
  require(edges.size() <= most_bins + 1, "there are ", edges.size() - 1, " bins; at most ", most_bins, " are possible");
  for (std::size_t i = 0; i < edges.size(); ++i) {
    require(std::isfinite(edges[i]) && edges[i] >= 0, "edge ", i, " of the bins is ", edges[i],
            "; it must be finite and at least 0");
    require(i == 0 || edges[i] > edges[i - 1], "edge ", i, " of the bins is ", edges[i], ", and the one before ",
            edges[i - 1], "; edges must increase");
  }
}

/// The sum over all aliases of the squared transform of the B-spline of an order: by Poisson's formula the series of
/// the B-spline of twice the order at the mesh points.
double aliased_square(const mesh_window<double>& twice, double angle) {
  double sum = 0;
  const int middle = twice.width / 2 - 1;
  for (int j = 0; j < twice.width; ++j) sum += twice.weight(j, -0.5) * std::cos(angle * (j - middle));
  return sum;
}

/// What undoes the window along an axis in the power of the modes n = 0, 1, ..., count - 1.
std::vector<double> compensations(const power_spectrum_options& options, int count, int extent) {
  std::vector<double> factors(static_cast<std::size_t>(count), 1);
  if (!options.compensated) return factors;
  if (options.interlaced) {
    factors = bspline_window<double>(options.order).transforms(count, extent);
    for (double& factor : factors) factor = 1 / (factor * factor);
    return factors;
  }
  const auto twice = bspline_window<double>(2 * options.order);
  double angle = 0;
  for (double& factor : factors) {
    factor = 1 / aliased_square(twice, 2 * std::numbers::pi / extent * angle);
    ++angle;
  }
  return factors;
}

}  // namespace

power_spectrum_options checked_spectrum_options(const power_spectrum_options& options, int dimension) {
  require(options.order >= 1 && options.order <= 4, "the order of spreading is ", options.order,
          "; 1 to 4 are possible");
  require(options.line_of_sight >= 0 && options.line_of_sight < dimension, "the line of sight is axis ",
          options.line_of_sight, "; 0 to ", dimension - 1, " are possible");
  require_multipoles(options.multipoles, dimension);
  require_edges(options.edges);
  return options;
}

std::vector<double> usual_edges(const spectrum_mesh& mesh) {
  double longest = 0, nyquist = INFINITY;
  for (int axis = mesh.first_axis; axis < 3; ++axis) {
    longest = std::max(longest, mesh.length[axis]);
    nyquist = std::min(nyquist, std::numbers::pi * mesh.extent[axis] / mesh.length[axis]);
  }
  const double width = 2 * std::numbers::pi / longest;
  const double last = std::clamp(std::floor(nyquist / width * (1 + 1e-12)), 2.0, static_cast<double>(most_bins));
  std::vector<double> edges;
  for (int i = 1; i <= static_cast<int>(last); ++i) edges.push_back(i * width);
  return edges;
}

spectrum_tables make_spectrum_tables(const spectrum_mesh& mesh, const power_spectrum_options& options,
                                     const mode_block& block) {
  spectrum_tables tables{};
  std::vector<double>& numbers = tables.numbers;
  for (int axis = 0; axis < 3; ++axis) {
    const int half = mesh.extent[axis] / 2 + 1;
    const bool used = axis >= mesh.first_axis, part = axis < 2 && !block.whole(axis, mesh);
    std::vector<int> modes;
    for (int k = part ? block.first[axis] : 0; k < (part ? block.end[axis] : half); ++k) {
      modes.push_back(k < half ? k : k - mesh.extent[axis]);
    }
    tables.squares[axis] = numbers.size();
    for (const int n : modes) numbers.push_back(std::pow(2 * std::numbers::pi * n / mesh.length[axis], 2));
    tables.turns[axis] = numbers.size();
    for (const int n : modes) {
      const double angle = options.interlaced ? std::numbers::pi * n / mesh.extent[axis] : 0;
      numbers.push_back(std::cos(angle));
      numbers.push_back(std::sin(angle));
    }
    tables.factors[axis] = numbers.size();
    const auto factors = used ? compensations(options, half, mesh.extent[axis]) : std::vector<double>{1};
    for (const int n : modes) numbers.push_back(factors[static_cast<std::size_t>(std::abs(n))]);
  }
  tables.edges = numbers.size();
  constexpr double slack = 1 - 2e-12;  // of squares
  for (const double edge : options.edges) numbers.push_back(edge * edge * slack);
  return tables;
}

void check_moments(const set_moments& moments, const power_spectrum_options& options) {
  if (!std::isfinite(moments.sum) || !std::isfinite(moments.squares)) {
    throw data_error(message("the weights add up to ", moments.sum, " and their squares to ", moments.squares,
                             "; both must be finite"));
  }
  if (options.normalization == spectrum_normalization::power && moments.sum == 0) {
    throw data_error(
        "the weights add up to 0; the density relative to its mean needs another sum (structure_factor does "
        "not)");
  }
}

power_spectrum_result spectrum_of_modes(const power_spectrum_options& options, const std::vector<double>& sums) {
  power_spectrum_result result;
  result.edges = options.edges;
  result.multipoles = options.multipoles;
  const std::size_t shells = options.edges.size() - 1;
  for (std::size_t i = 0; i < shells; ++i) {
    result.modes.push_back(static_cast<std::uint64_t>(sums[i]));
    result.k.push_back(sums[shells + i] / sums[i]);
  }
  return result;
}

void normalize(power_spectrum_result& result, const power_spectrum_options& options, double volume,
               const set_moments& first, const set_moments* second) {
  const set_moments& other = second != nullptr ? *second : first;
  const bool power = options.normalization == spectrum_normalization::power;
  const double scale = power ? volume / first.sum / other.sum : 1 / std::sqrt(first.points * other.points);
  if (second == nullptr) result.shot_noise = scale * first.squares;
  for (std::size_t i = 0; i < result.power.size(); ++i) {
    const std::size_t bin = i % result.bins();
    result.power[i] *= scale / static_cast<double>(result.modes[bin]);
    const bool noisy = options.subtract_shot_noise && result.multipoles[i / result.bins()] == 0;
    if (noisy) result.power[i] -= result.shot_noise;
  }
}

}  // namespace quadrat::detail

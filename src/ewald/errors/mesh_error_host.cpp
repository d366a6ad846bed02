// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/errors/mesh_error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>

#include "ewald/long_waves.hpp"
#include "mesh/window_fit.hpp"

namespace quadrat::detail {

namespace {

constexpr int most_alias = 2;

/// The sums for the ratios r_m, m = -most_alias, ..., most_alias.
[[nodiscard]] alias_sums sums_of(const double* ratio) {
  alias_sums sums{};
  for (int m = -most_alias; m <= most_alias; ++m) {
    const double r = ratio[m + most_alias];
    if (m > -most_alias) sums.self += r * ratio[m + most_alias - 1];
    if (m == 0) continue;
    sums.excess += r * r;
    sums.first += m * r * r;
    sums.second += m * m * r * r;
  }
  return sums;
}

class bspline final : public window_aliases {
 public:
  explicit bspline(int order) : order_(order) {}
  [[nodiscard]] alias_sums at(double frequency) const override {
    double ratio[2 * most_alias + 1];
    for (int m = -most_alias; m <= most_alias; ++m) {
      // (sin(pi f) / (pi f))^order
      const double one = m == 0 ? 1 : (m % 2 == 0 ? 1 : -1) * frequency / (frequency + m);
      double power = one;
      for (int i = 1; i < order_; ++i) power *= one;
      ratio[m + most_alias] = power;
    }
    return sums_of(ratio);
  }

 private:
  int order_;
};

/// A place between two mesh points, and a mesh point used to interpolate there.
struct covered_place {
  double distance;  ///< from the mesh point, in mesh units
  double value;     ///< of the window
  double slope;     ///< its derivative
};

/// The quadrature nodes between two mesh points: only half of them, because the window is even.
[[nodiscard]] const std::vector<quadrature_node>& nodes_between() {
  static const std::vector<quadrature_node> nodes = [] {
    std::vector<quadrature_node> all = gauss_legendre(16);
    std::erase_if(all, [](const quadrature_node& node) { return node.place > 0; });
    return all;
  }();
  return nodes;
}

/// The mesh points of each node.
[[nodiscard]] std::vector<covered_place> places_under(const prolate_function& prolate, int order) {
  std::vector<covered_place> places;
  for (const quadrature_node& node : nodes_between()) {
    for (int j = 0; j < order; ++j) {
      const double distance = node.place + 0.5 + j - 0.5 * order, x = 2 * distance / order;
      places.push_back({distance, prolate(x), prolate.slope(x) * 2 / order});
    }
  }
  return places;
}

/// The interpolated wave relative to the wave, at each node: the sum over the aliases m of their ratios r_m times exp(2
/// pi i m u) at the place u; and its derivative by u over 2 pi i.
struct interpolated {
  std::complex<double> value;
  std::complex<double> slope;
};
[[nodiscard]] std::vector<interpolated> interpolated_wave(const std::vector<covered_place>& places, int order,
                                                          double frequency) {
  std::vector<interpolated> result;
  double mean = 0;
  for (std::size_t i = 0; i < nodes_between().size(); ++i) {
    interpolated sum{};
    for (std::size_t j = 0; j < static_cast<std::size_t>(order); ++j) {
      const covered_place& at = places[i * static_cast<std::size_t>(order) + j];
      const std::complex<double> wave = std::polar(1.0, -2 * pi * frequency * at.distance);
      sum.value += at.value * wave;
      sum.slope += std::complex<double>(-frequency * at.value, -at.slope / (2 * pi)) * wave;
    }
    mean += 2 * nodes_between()[i].weight * sum.value.real();
    result.push_back(sum);
  }
  for (interpolated& one : result) {
    one.value /= mean;
    one.slope /= mean;
  }
  return result;
}

/// The sums over all aliases at once, as mean squares between mesh points. If a window ends with a step, its slope ends
/// with a much larger one, and the aliases of the interpolated gradient decay too slowly to be summed one by one. The
/// step itself is not part of the gradient, which is that of the window's pieces.
[[nodiscard]] alias_sums sums_of(const std::vector<interpolated>& wave) {
  alias_sums sums{};
  double own = 0, sign = 0;
  for (std::size_t i = 0; i < wave.size(); ++i) {
    const double weight = 2 * nodes_between()[i].weight;
    const std::complex<double> rest = wave[i].value - 1.0, slope = wave[i].slope;
    sums.excess += weight * std::norm(rest);
    sums.first += weight * (slope * std::conj(rest)).real();
    sums.second += weight * std::norm(slope);
    const double force = (slope * std::conj(wave[i].value)).imag();  // force of a charge on itself
    own += weight * force * force;
    sign += weight * force * std::sin(2 * pi * (nodes_between()[i].place + 0.5));
  }
  sums.self = std::copysign(std::sqrt(2 * own), sign);
  return sums;
}

class prolate_table final : public window_aliases {
 public:
  prolate_table(int order, double band) {
    const std::vector<covered_place> places = places_under(prolate_function(band), order);
    for (int i = 0; i <= intervals; ++i) {
      table_[static_cast<std::size_t>(i)] = sums_of(interpolated_wave(places, order, 0.5 * i / intervals));
    }
  }
  [[nodiscard]] alias_sums at(double frequency) const override {
    const double place = std::min(2 * intervals * std::fabs(frequency), intervals - 1e-9);
    const auto i = static_cast<std::size_t>(place);
    const double t = place - static_cast<double>(i), sign = frequency < 0 ? -1 : 1;
    const alias_sums &a = table_[i], &b = table_[i + 1];
    const auto between = [t](double u, double v) { return u + t * (v - u); };
    const auto steep = [t](double u, double v) { return u * std::pow(v / u, t); };
    const double second = steep(a.second, b.second);
    return {steep(a.excess, b.excess), sign * second * between(a.first / a.second, b.first / b.second), second,
            between(a.self, b.self)};
  }

 private:
  static constexpr int intervals = 20;
  std::array<alias_sums, intervals + 1> table_{};
};

/// A mode along an axis, or a node of a quadrature over modes.
struct axis_node {
  double mode;
  double weight;
  double excess;   ///< of the sums over aliases
  double inverse;  ///< 1 / (1 + excess)
  double drift;    ///< per scalar product of the wave and that of mode 1: growth of its square by aliases
  double growth;   ///< the same, of any wave
  double self;
};

struct axis_waves {
  int extent;
  double square;  ///< of the wave of mode 1
  double reach;   ///< the highest mode that matters
  bool even;      ///< whether opposite modes make the same error, because the axis is orthogonal to the others
};

/// Modes along an axis for sums over all of them: each mode if there are few; otherwise the first ones, and quadrature
/// nodes that are denser near 0, where the transform is steep.
[[nodiscard]] std::vector<axis_node> axis_nodes(const window_aliases& window, const axis_waves& axis, int count) {
  std::vector<axis_node> nodes;
  const auto add_one = [&](double mode, double weight) {
    const alias_sums sums = window.at(mode / axis.extent);
    const double inverse = 1 / (1 + sums.excess), extent = axis.extent;
    nodes.push_back({mode, weight, sums.excess, inverse, 2 * extent * sums.first * inverse,
                     extent * extent * axis.square * sums.second * inverse, sums.self * inverse});
  };
  const auto add = [&](double mode, double weight) {
    add_one(mode, axis.even && mode > 0 ? 2 * weight : weight);
    if (!axis.even && mode > 0) add_one(-mode, weight);
  };
  const double last = std::min(0.5 * axis.extent, std::floor(axis.reach));
  const int each = last <= count + 2 ? static_cast<int>(last) : count / 4;
  for (int mode = 0; mode <= each; ++mode) add(mode, 2 * mode == axis.extent ? 0.5 : 1.0);
  if (each == static_cast<int>(last)) return nodes;
  const double from = std::sqrt(each + 0.5), to = std::sqrt(std::min(0.5 * axis.extent, axis.reach));
  for (const quadrature_node& node : quadrature(count)) {
    const double u = 0.5 * (from + to) + (to - from) * node.place;
    add(u * u, 2 * u * (to - from) * node.weight);
  }
  return nodes;
}

/// Sums over modes of the squared error of a pair's force, and of a charge's force on itself, by axis.
struct mode_sums {
  double pair = 0;
  double squares = 0;  ///< squares of the terms of `pair`
  vec<double, 3> self{};
  mesh_energy_errors energies{};
};

/// Adds all z of one x and y. `metric`: scalar products of the waves of mode 1.
void add_line(const split_spectrum& spectrum, const vec<vec<double, 3>, 3>& metric, double long_waves,
              const axis_node& x, const axis_node& y, const std::vector<axis_node>& line, mode_sums& sums) {
  if (!is_long_wave(x.mode) || !is_long_wave(y.mode)) long_waves = 1;
  // Scalar products with the waves of mode 1, and the square, for z = 0.
  const auto products = x.mode * metric[0] + y.mode * metric[1];
  const double square_xy = x.mode * products[0] + y.mode * products[1];
  const double excess_xy = x.excess + y.excess + x.excess * y.excess, inverse_xy = x.inverse * y.inverse;
  const double drift_0 = x.drift * products[0] + y.drift * products[1] + x.growth + y.growth;
  const double drift_1 = x.drift * metric[0][2] + y.drift * metric[1][2];
  mode_sums here;
  for (const axis_node& z : line) {
    const double along = products[2] + z.mode * metric[2][2];
    const double square = square_xy + z.mode * (products[2] + along), scaled = spectrum.at(square);
    if (scaled == 0 || square <= 0) continue;
    // The transform; the product of the sums over aliases, less 1; the growth of the wave's square by aliases.
    const double g = scaled / square, rest = excess_xy + z.excess * (1 + excess_xy);
    const double far = drift_0 + z.mode * drift_1 + z.drift * along + z.growth;
    const double inverse = inverse_xy * z.inverse, weighted = z.weight * g * inverse;
    const double strength = g * g * inverse * inverse * (is_long_wave(z.mode) ? long_waves : 1);
    const double error = strength * (square * rest * (2 + rest) + far);
    here.pair += z.weight * error;
    here.squares += z.weight * error * error;
    const double trace = spectrum.trace(square), energy = strength * rest * (2 + rest);
    here.energies.energy += z.weight * energy;
    here.energies.virial += z.weight * energy * virial_of_modes(trace);
    here.energies.self_energy += weighted * rest;
    here.energies.self_virial += weighted * rest * trace;
    here.self[0] += weighted;
    here.self[2] += weighted * z.self;
  }
  const double weight = (x.mode > 0 ? 2 : 1) * x.weight * y.weight;  // the opposite modes have the same errors
  sums.pair += weight * here.pair;
  sums.squares += weight * here.squares;
  sums.energies.energy += weight * here.energies.energy;
  sums.energies.virial += weight * here.energies.virial;
  sums.energies.self_energy += weight * here.energies.self_energy;
  sums.energies.self_virial += weight * here.energies.self_virial;
  sums.self += weight * vec<double, 3>{x.self * here.self[0], y.self * here.self[0], here.self[2]};
}

}  // namespace

const std::vector<quadrature_node>& quadrature(int count) {
  static const std::array<std::vector<quadrature_node>, 3> all{gauss_legendre(4), gauss_legendre(8),
                                                               gauss_legendre(16)};
  return all[count == 4 ? 0 : count == 8 ? 1 : 2];
}

const window_aliases& bspline_aliases(int order) {
  static const std::array<bspline, 9> all{bspline(0), bspline(1), bspline(2), bspline(3), bspline(4),
                                          bspline(5), bspline(6), bspline(7), bspline(8)};
  return all[static_cast<std::size_t>(order)];
}

std::unique_ptr<window_aliases> prolate_aliases(int order, double band) {
  return std::make_unique<prolate_table>(order, band);
}

split_spectrum::split_spectrum(const ewald_splitting& splitting)
    : coulomb_(splitting.law() == pair_law::coulomb), values_(intervals + 2, 0.0) {
  const bool gaussian = splitting.shape() == split_shape::gaussian;
  largest_ = gaussian ? 13 * splitting.parameter() : splitting.largest_mode();
  bulk_ = gaussian ? 9 * splitting.parameter() : largest_;
  per_square_ = intervals / (largest_ * largest_);
  for (std::size_t i = 0; i <= intervals; ++i) {
    const double square = std::max(static_cast<double>(i), 1e-9) / per_square_;
    values_[i] = square * splitting.transform(std::min(std::sqrt(square), largest_ * (1 - 1e-12)));
  }
}

split_spectrum split_spectrum::scaled(double factor) const {
  split_spectrum result = *this;
  result.largest_ /= factor;
  result.bulk_ /= factor;
  result.per_square_ *= factor * factor;
  if (!coulomb_) result.unit_ /= std::pow(factor, 5);  // k^2 times a transform of 1/r^6
  return result;
}

mesh_force_errors mesh_errors(const split_spectrum& spectrum, const window_aliases& window,
                              const vec<vec<double, 3>, 3>& vectors, const vec<int, 3>& mesh, double long_waves,
                              int count) {
  const double volume = dot(vectors[0], cross(vectors[1], vectors[2]));
  vec<vec<double, 3>, 3> waves{}, metric{};
  for (int a = 0; a < 3; ++a) waves[a] = 2 * pi / volume * cross(vectors[(a + 1) % 3], vectors[(a + 2) % 3]);
  std::array<std::vector<axis_node>, 3> nodes;
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) metric[a][b] = dot(waves[a], waves[b]);
    const double reach = spectrum.bulk() * norm(vectors[a]) / (2 * pi);
    // The first axis has its own factor 2, of modes that are opposite along all axes.
    const bool even = a > 0 && dot(vectors[a], vectors[(a + 1) % 3]) == 0 && dot(vectors[a], vectors[(a + 2) % 3]) == 0;
    nodes[static_cast<std::size_t>(a)] = axis_nodes(window, {mesh[a], metric[a][a], reach, even}, count);
  }
  mode_sums sums;
  for (const axis_node& x : nodes[0]) {
    if (x.mode < 0) continue;
    for (const axis_node& y : nodes[1]) add_line(spectrum, metric, long_waves, x, y, nodes[2], sums);
  }
  mesh_force_errors errors = truncation_errors(spectrum, vectors, 0.5 * cast<double>(mesh));
  errors.pair += sums.pair / (volume * volume);
  mesh_energy_errors& energies = errors.energies;
  energies.energy += sums.energies.energy / (volume * volume);
  energies.virial += sums.energies.virial / (volume * volume);
  energies.self_energy += sums.energies.self_energy / std::fabs(volume);
  energies.self_virial += std::fabs(sums.energies.self_virial / volume);
  // Squares of charges' modes have exponential distributions, and opposite modes the same.
  if (sums.squares > 0) errors.scatter = std::sqrt(2 * sums.squares) / sums.pair;
  for (int a = 0; a < 3; ++a) {
    const double amplitude = mesh[a] * sums.self[a] / volume;
    errors.self += 0.5 * metric[a][a] * amplitude * amplitude;
    energies.self_ripple += 2 * (sums.self[a] / volume) * (sums.self[a] / volume);
  }
  return errors;
}

namespace {

/// The contribution of a shell of modes to each error, by the squared wave number.
[[nodiscard]] mesh_force_errors shell_errors(const split_spectrum& spectrum, double square, double weight) {
  const double g = spectrum.at(square) / square, trace = spectrum.trace(square);
  const double energy = weight * g * g;
  return {
      square * energy, 0, 0, {energy, energy * virial_of_modes(trace), weight * g, weight * g * std::fabs(trace), 0}};
}

void add(mesh_force_errors& sum, const mesh_force_errors& more) {
  sum.pair += more.pair;
  sum.energies.energy += more.energies.energy;
  sum.energies.virial += more.energies.virial;
  sum.energies.self_energy += more.energies.self_energy;
  sum.energies.self_virial += more.energies.self_virial;
}

}  // namespace

mesh_force_errors truncation_errors(const split_spectrum& spectrum, const vec<vec<double, 3>, 3>& vectors,
                                    const vec<double, 3>& last) {
  const double volume = std::fabs(dot(vectors[0], cross(vectors[1], vectors[2])));
  const double largest = spectrum.largest();
  mesh_force_errors sum{};
  // Adds the integral over the modes beyond a plane at distance `from`, over k.
  const auto add_beyond = [&](double from, const auto& weight) {
    for (const quadrature_node& node : quadrature(16)) {
      const double k = 0.5 * (from + largest) + (largest - from) * node.place;
      add(sum, shell_errors(spectrum, k * k, node.weight * (largest - from) * 2 * pi * k * weight(k)));
    }
  };
  for (int a = 0; a < 3; ++a) {
    const double spacing = 2 * pi / norm(vectors[a]), first = spacing * last[a];
    if (first >= largest) continue;
    if (largest - first > 24 * spacing) {  // many planes: an integral over their distances as well
      add_beyond(first, [&](double k) { return 2 * (k - first); });
      continue;
    }
    for (double mode = std::ceil(last[a]); mode * spacing < largest; ++mode) {
      add_beyond(mode * spacing, [&](double) { return (mode == last[a] ? 1 : 2) * spacing; });
    }
  }
  const double modes = 1 / (8 * pi * pi * pi);  // times the volume: modes per unit of wave-vector space
  sum.pair *= modes / volume;
  sum.energies.energy *= modes / volume;
  sum.energies.virial *= modes / volume;
  sum.energies.self_energy *= modes;
  sum.energies.self_virial *= modes;
  return sum;
}

}  // namespace quadrat::detail

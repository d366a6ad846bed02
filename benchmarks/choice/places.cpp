// SPDX-License-Identifier: BSD-3-Clause
#include "choice/places.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "choice/frames.hpp"
#include "harness/points.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::bench {

namespace {

/// Random numbers of one point. The k-th is the same in every run.
struct place_draw {
  std::uint64_t seed, point;

  [[nodiscard]] double unit(std::uint64_t k) const { return random_unit(seed + 1000 * k, point); }
  [[nodiscard]] std::uint64_t below(std::uint64_t k, std::uint64_t count) const {
    return random_word(seed + 1000 * k, point) % count;
  }
  [[nodiscard]] double normal(std::uint64_t k) const {
    return std::sqrt(-2 * std::log(1 - unit(k))) * std::cos(2 * std::numbers::pi * unit(k + 1));
  }
};

[[nodiscard]] double wrapped(double x) {
  const double inside = x - std::floor(x);
  return inside < 1 ? inside : 0;
}

using place = std::array<double, 3>;

/// Place i of a slightly disturbed lattice of n places that fills a box with these edges.
[[nodiscard]] place on_lattice(const place_draw& draw, std::uint64_t i, std::uint64_t n, int dimension,
                               const place& edges) {
  double volume = 1;
  for (int axis = 0; axis < dimension; ++axis) volume *= edges[static_cast<std::size_t>(axis)];
  const double spacing = std::pow(volume / static_cast<double>(std::max<std::uint64_t>(n, 1)), 1.0 / dimension);
  place result{};
  for (int axis = 0; axis < dimension; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const auto along = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(edges[a] / spacing));
    const std::uint64_t index = axis + 1 < dimension ? i % along : i;
    i /= along;
    result[a] = (static_cast<double>(index) + 0.3 * draw.unit(20 + a)) * spacing;
  }
  return result;
}

[[nodiscard]] place place_in_crowd(std::uint64_t i, std::size_t n, int dimension, std::uint64_t seed) {
  const std::vector<frame<2>>& frames = crowd_frames();
  const std::size_t persons = frames.front().size(), halls = (n + persons - 1) / persons;
  const auto side = static_cast<std::size_t>(std::ceil(std::pow(static_cast<double>(halls), 1.0 / dimension) - 1e-9));
  std::size_t one = i % halls;
  const vec<double, 2>& x = frames[(seed + one) % frames.size()][i / halls];
  place result{};
  for (int axis = 0; axis < dimension; ++axis, one /= side) {
    // The center of a person is slightly above the floor.
    result[static_cast<std::size_t>(axis)] =
        (static_cast<double>(one % side) + (axis < 2 ? x[axis] : 0.3)) / static_cast<double>(side);
  }
  return result;
}

template <int D>
[[nodiscard]] place place_in_fluid(const place_draw& draw, std::uint64_t i, std::size_t n) {
  const std::vector<frame<D>>& frames = dam_break_frames<D>();
  const frame<D>& now = frames[draw.seed % frames.size()];
  const std::size_t pieces = (n + now.size() - 1) / now.size();
  const auto side = static_cast<std::size_t>(std::ceil(std::pow(static_cast<double>(pieces), 1.0 / D) - 1e-9));
  const double edge = dam_break_spacing<D>() / static_cast<double>(side);
  // For few points, a subset of the particles.
  std::size_t piece = pieces > 1 ? i % pieces : 0;
  const vec<double, D>& x = now[pieces > 1 ? i / pieces : i * now.size() / n];
  place result{};
  for (int axis = 0; axis < D; ++axis, piece /= side) {
    const auto a = static_cast<std::size_t>(axis);
    result[a] = x[axis] + (static_cast<double>(piece % side) + 0.2 * draw.unit(20 + a)) * edge;
  }
  return result;
}

[[nodiscard]] place place_of(std::string_view distribution, std::uint64_t i, std::size_t n, int dimension,
                             std::uint64_t seed) {
  const place_draw draw{seed, i};
  if (distribution == "crowd_frame") return place_in_crowd(i, n, dimension, seed);
  if (distribution == "dam_frame") {
    return dimension == 2 ? place_in_fluid<2>(draw, i, n) : place_in_fluid<3>(draw, i, n);
  }
  place x{draw.unit(1), draw.unit(2), draw.unit(3)};
  const auto center_of = [&](std::uint64_t group, std::size_t axis) { return random_unit(seed + 77 + axis, group); };
  if (distribution == "clustered" || distribution == "blob") {
    const bool single = distribution == "blob";
    if (single && draw.below(4, 10) == 0) return x;
    const std::uint64_t group = single ? 0 : draw.below(4, 32);
    for (std::size_t a = 0; a < 3; ++a) x[a] = center_of(group, a) + (single ? 0.01 : 0.02) * draw.normal(5 + 2 * a);
  } else if (distribution == "lines") {
    const std::uint64_t group = draw.below(4, 16);
    for (std::size_t a = 0; a < 3; ++a) {
      x[a] = center_of(group, a) + draw.unit(12) * center_of(group + 100, a) + 1e-3 * draw.normal(5 + 2 * a);
    }
  } else if (distribution == "shells") {
    const std::uint64_t group = draw.below(4, 4);
    place d{draw.normal(5), draw.normal(7), dimension == 3 ? draw.normal(9) : 0};
    const double radius = (0.1 + 0.1 * static_cast<double>(group)) / std::hypot(d[0], d[1], d[2]);
    for (std::size_t a = 0; a < 3; ++a) x[a] = center_of(group, a) + radius * d[a];
  } else if (distribution == "gradient") {
    x[0] = -std::log1p(-x[0] * 0.999) / std::log(1000.0);
  } else if (distribution == "crowd") {
    const std::uint64_t group = i % 5;
    const place edges{0.15, 0.15, 0.15};
    x = on_lattice(draw, i / 5, n / 5, dimension, edges);
    for (std::size_t a = 0; a < 3; ++a) x[a] += center_of(group, a);
  } else if (distribution == "dam") {
    if (i % 50 != 0) x = on_lattice(draw, i, n, dimension, {0.25, 0.6, 0.6});
  } else {
    require(distribution == "uniform", "no distribution of points is called \"", distribution, "\"");
  }
  return x;
}

/// Bits of cell numbers, interleaved: 7 in space, 10 in a plane.
constexpr int morton_bits = 21;
[[nodiscard]] std::uint32_t morton_code(const double* x, int dimension) {
  const int bits = morton_bits / dimension;
  std::uint32_t code = 0;
  for (int axis = 0; axis < dimension; ++axis) {
    const auto cell = static_cast<std::uint32_t>(x[axis] * (1 << bits));
    for (int bit = 0; bit < bits; ++bit) code |= (cell >> bit & 1) << (bit * dimension + axis);
  }
  return code;
}

/// The rank of each place when sorted by code: a counting sort.
[[nodiscard]] std::vector<std::uint32_t> places_by_code(const std::vector<std::uint32_t>& codes) {
  std::vector<std::uint32_t> next((std::size_t{1} << morton_bits) + 1, 0), to(codes.size());
  for (const std::uint32_t code : codes) ++next[code + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t i = 0; i < codes.size(); ++i) to[i] = next[codes[i]]++;
  return to;
}

/// A permutation without order: multiples of a number that is coprime to n.
[[nodiscard]] std::vector<std::uint32_t> mixed_places(std::size_t n) {
  std::uint64_t apart = 2'654'435'761u % std::max<std::size_t>(n, 1);
  while (std::gcd(apart, std::uint64_t{n}) != 1) ++apart;
  std::vector<std::uint32_t> to(n);
  for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<std::uint32_t>(i * apart % n);
  return to;
}

}  // namespace

std::vector<double> make_places(std::string_view distribution, std::size_t n, int dimension, std::uint64_t seed,
                                bool sorted) {
  const auto d = static_cast<std::size_t>(dimension);
  std::vector<double> found(n * d);
  std::vector<std::uint32_t> codes(sorted ? n : 0);
  const auto last = static_cast<std::int64_t>(n);
  static_cast<void>(place_of(distribution, 0, std::max<std::size_t>(n, 1), dimension, seed));  // throws here
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < last; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const place x = place_of(distribution, k, n, dimension, seed);
    for (std::size_t axis = 0; axis < d; ++axis) found[k * d + axis] = wrapped(x[axis]);
    if (sorted) codes[k] = morton_code(&found[k * d], dimension);
  }
  // Independent random points are in random order already.
  if (!sorted && !distribution.starts_with("crowd") && !distribution.starts_with("dam")) return found;
  const std::vector<std::uint32_t> to = sorted ? places_by_code(codes) : mixed_places(n);
  std::vector<double> places(n * d);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t axis = 0; axis < d; ++axis) places[to[i] * d + axis] = found[i * d + axis];
  }
  return places;
}

}  // namespace quadrat::bench

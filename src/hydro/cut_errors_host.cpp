// SPDX-License-Identifier: BSD-3-Clause
#include "hydro/cut_errors.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "hydro/pair_tensor.hpp"

namespace quadrat::detail {

namespace {

constexpr double decays = 6.6;  // beyond the contact, in units of 1 / splitting: the near part is below 1e-18 there

[[nodiscard]] double share_of_mode(double k, double splitting) {
  const double u = k * k / (4 * splitting * splitting), s = k > 0 ? std::sin(k) / k : 1;
  return wave_share(u) * s * s;
}

/// The fraction of a sphere of this radius outside the cube with half edge 1; exact while its six caps do not
/// overlap.
[[nodiscard]] double outside_cube(double radius) { return std::clamp(3 * (1 - 1 / radius), 0.0, 1.0); }

}  // namespace

void cut_errors::falling::set(int i, double value) {
  const double above = i + 1 < samples ? log[static_cast<std::size_t>(i) + 1] : -1e300;
  log[static_cast<std::size_t>(i)] = std::max(std::log(std::max(value, 1e-40)), above);
}

double cut_errors::falling::at(double x) const {
  const double place = std::clamp((x - first) / step, 0.0, samples - 1.0);
  const int i = std::min(static_cast<int>(place), samples - 2);
  const auto k = static_cast<std::size_t>(i);
  return std::exp(log[k] + (place - i) * (log[k + 1] - log[k]));
}

double cut_errors::falling::where(double value) const {
  const double wanted = std::log(value);
  for (int i = 0; i < samples; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (log[k] > wanted) continue;
    if (i == 0) return first;
    return first + step * (i - 1 + (log[k - 1] - wanted) / (log[k - 1] - log[k]));
  }
  return first + step * (samples - 1);
}

/// Near part: the sum of squares over spheres beyond the cutoff, plus one pair at the cutoff, which matters for few
/// spheres. Modes: the same for random forces, plus each sphere's own velocity, whose terms have one sign. The modes
/// kept fill a cube.
cut_errors::cut_errors(double splitting, double density) {
  constexpr int last = falling::samples - 1;
  const double reach = 2 + decays / splitting;
  const smooth_tensor smooth(splitting, reach);
  near_.first = 1;
  near_.step = (reach - near_.first) / last;
  double sum = 0, before = 0;
  for (int i = last; i >= 0; --i) {
    const double r = near_.first + i * near_.step;
    const auto pair = smooth.near_at(r);
    const double square = 4 * std::numbers::pi / 3 * r * r * (2 * pair.across * pair.across + pair.along * pair.along);
    if (i < last) sum += 0.5 * near_.step * (square + before);
    before = square;
    const double one = std::max(std::fabs(pair.across), std::fabs(pair.along));
    near_.set(i, std::sqrt(density * sum + one * one));
  }
  // The sinc has zeros between samples, so integrals use more samples.
  constexpr int parts = 6, count = parts * last;
  wave_.step = 2 * decays * splitting / last;
  const double width = wave_.step / parts;
  std::array<double, count> share{};
  for (int i = 0; i < count; ++i) share[static_cast<std::size_t>(i)] = share_of_mode((i + 0.5) * width, splitting);
  for (int i = last; i >= 0; --i) {
    double own = 0, others = 0;
    for (int k = parts * i; k < count; ++k) {
      const double mode = (k + 0.5) * width, part = share[static_cast<std::size_t>(k)];
      const double outside = outside_cube(mode / (wave_.step * i));
      own += outside * part;
      others += outside * (part / mode) * (part / mode);
    }
    own *= width * 2 / std::numbers::pi;
    others *= width * 12;
    wave_.set(i, std::sqrt(own * own + density * others));
  }
}

}  // namespace quadrat::detail

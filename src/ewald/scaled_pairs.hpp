// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ewald/domain.hpp"
#include "quadrat/ewald/electrostatics.hpp"

/// Pairs whose interaction is scaled, from both sides.
namespace quadrat::detail {

template <typename T>
struct scaled_partner {
  particle_id id;
  T scale;
};

/// The partners of point i are [offsets[i], offsets[i + 1]), with increasing ids. Null if there are no pairs.
template <typename T>
struct scaled_partners {
  const std::uint32_t* offsets;
  const scaled_partner<T>* partners;

  [[nodiscard]] QUADRAT_HD bool has(particle_id i, particle_id j) const {
    if (offsets == nullptr) return false;
    for (std::uint32_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      if (partners[k].id == j) return true;
    }
    return false;
  }
};

template <typename T>
struct scaled_partner_rows {
  std::vector<std::uint32_t> offsets;
  std::vector<scaled_partner<T>> partners;
};

/// Throws argument_error for a point that does not exist, a pair of a point with itself, a pair given twice, and a
/// scale that is not finite.
template <typename T>
[[nodiscard]] scaled_partner_rows<T> make_scaled_partners(std::span<const scaled_pair> pairs, std::size_t points);

/// The shortest vector between images of two wrapped points: exact where it is shorter than half the least height of
/// the cell.
template <typename T>
[[nodiscard]] QUADRAT_HD vec<T, 3> nearest_separation(const lattice<T, 3>& shape, const vec<T, 3>& from,
                                                      const vec<T, 3>& to) {
  const vec<T, 3> apart = to - from;
  vec<int, 3> middle{};
  for (int k = 0; k < 3; ++k) middle[k] = -static_cast<int>(std::floor(dot(shape.inverse[k], apart) + T(0.5)));
  // Computed as in the short-range sum, so that both agree on close pairs.
  const auto separation = [&](const vec<int, 3>& shift) { return to - (from - shape.translation(shift)); };
  vec<T, 3> best = separation(middle);
  if (shape.orthorhombic) return best;
  T least = squared_norm(best);
  for (int image = 0; image < 27; ++image) {
    const vec<int, 3> shift{middle[0] + image % 3 - 1, middle[1] + image / 3 % 3 - 1, middle[2] + image / 9 - 1};
    const vec<T, 3> other = separation(shift);
    const T square = squared_norm(other);
    if (square < least) {
      least = square;
      best = other;
    }
  }
  return best;
}

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "quadrat/models/granular.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

// Shared by the tests of the granular model.

namespace quadrat::test {

using points = std::vector<vec<double, 3>>;

/// A context of the backend under test.
[[nodiscard]] inline backend_context make_context(determinism level = determinism::none) { return context_at(level); }

/// The methods of the backend under test.
[[nodiscard]] inline std::vector<std::string> available_methods(bool canonical = false) {
  constexpr bool cuda = std::is_same_v<backend_context, cuda_context>;
  std::vector<std::string> names;
  for (const granular_method& method : granular_methods()) {
    const bool reproducible = !canonical || method.reproducible == determinism::canonical;
    if ((cuda ? method.on_cuda : method.on_cpu) && reproducible) names.emplace_back(method.name);
  }
  return names;
}

[[nodiscard]] inline granular_options with_method(granular_options options, const std::string& method) {
  options.method = method;
  return options;
}

/// Uniform in the given part of the default box, numbered from 0 at the lower corner to 1.
[[nodiscard]] inline points scattered(std::size_t count, std::uint64_t seed, double low = 0, double high = 1) {
  std::mt19937_64 generator(seed);
  const double free = 2 - 2.0 / 64;
  points result(count);
  for (auto& point : result) {
    for (int axis = 0; axis < 3; ++axis) {
      point[axis] = -1 + 1.0 / 64 + free * (low + (high - low) * random_unit<double>(generator));
    }
  }
  return result;
}

/// Components uniform in [-speed, speed].
[[nodiscard]] inline points random_velocities(std::size_t count, std::uint64_t seed, double speed) {
  std::mt19937_64 generator(seed);
  points result(count);
  for (auto& velocity : result) {
    for (int axis = 0; axis < 3; ++axis) velocity[axis] = speed * (2 * random_unit<double>(generator) - 1);
  }
  return result;
}

template <typename T>
[[nodiscard]] bool same_bits(const std::vector<vec<T, 3>>& a, const std::vector<vec<T, 3>>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0);
}

template <typename T>
[[nodiscard]] bool same_bits(const granular_state<T>& a, const granular_state<T>& b) {
  return a.step == b.step && same_bits(a.positions, b.positions) && same_bits(a.velocities, b.velocities);
}

}  // namespace quadrat::test

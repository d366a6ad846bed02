// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "reference/nufft.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

// Cases of non-uniform Fourier transforms, what plans give for them, and how near that must be.

namespace quadrat::test {

using complex_values = std::vector<std::complex<double>>;

/// Where points are.
enum class places { uniform, one_place, edges, far, one, none };

template <typename T, int D>
struct nufft_case {
  vec<int, D> modes{};
  double tolerance = 1e-3;
  nufft_options options;
  std::vector<vec<T, D>> points;

  [[nodiscard]] bool real() const { return options.values == nufft_values::real; }
  [[nodiscard]] double period(int d) const { return options.period[d] > 0 ? options.period[d] : 2 * std::numbers::pi; }
  [[nodiscard]] reference::nufft_problem problem() const {
    reference::nufft_problem problem;
    problem.modes = {std::vector<int>{0}, std::vector<int>{0}, std::vector<int>{0}};
    for (int d = 0; d < D; ++d) {
      const auto axis = static_cast<std::size_t>(3 - D + d);
      problem.modes[axis] = real() && d == D - 1               ? reference::half_modes(modes[d])
                            : options.order == mode_order::fft ? reference::fft_modes(modes[d])
                                                               : reference::centered_modes(modes[d]);
      problem.period[axis] = options.period[d] > 0 ? options.period[d] : 2 * std::numbers::pi_v<long double>;
    }
    for (const vec<T, D>& point : points) {
      std::array<long double, 3> exact{};
      for (int d = 0; d < D; ++d)
        exact[static_cast<std::size_t>(3 - D + d)] =
            static_cast<long double>(point[d]) - static_cast<long double>(options.origin[d]);
      problem.points.push_back(exact);
    }
    return problem;
  }
  [[nodiscard]] std::string text() const {
    std::string result =
        message(real() ? "real, " : "complex, ", points.size(), " points, tolerance ", tolerance, ", ");
    for (int d = 0; d < D; ++d) result += message(modes[d], d + 1 < D ? " x " : " modes");
    return result + message(", oversampling ", options.oversampling);
  }
};

template <typename T, int D>
void add_points(nufft_case<T, D>& it, places where, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  if (where == places::one) count = 1;
  if (where == places::none) count = 0;
  const auto place = make_vec<T, D>([&](int d) { return static_cast<T>(it.period(d) * random_unit<double>(random)); });
  for (std::size_t i = 0; i < count; ++i) {
    it.points.push_back(make_vec<T, D>([&](int d) {
      const double u = random_unit<double>(random) - 0.5;
      if (where == places::one_place) return place[d];
      const double turns = where == places::edges ? 0.5 * static_cast<double>(random() % 5) - 1
                           : where == places::far ? 20 * u
                                                  : u;
      const T x = static_cast<T>(it.period(d) * turns);
      return where == places::edges && random() % 2 == 0 ? std::nextafter(x, T(random() % 2 == 0 ? 99 : -99)) : x;
    }));
  }
}

template <typename T>
std::vector<std::complex<T>> random_complex(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::complex<T>> values(count);
  for (auto& x : values) x = {2 * random_unit<T>(random) - 1, 2 * random_unit<T>(random) - 1};
  return values;
}
template <typename T>
std::vector<T> real_parts(const std::vector<std::complex<T>>& values) {
  std::vector<T> parts;
  for (const auto& x : values) parts.push_back(x.real());
  return parts;
}
template <typename Number>
complex_values exact_values(const std::vector<Number>& values) {
  complex_values exact;
  for (const auto& x : values) exact.emplace_back(x);
  return exact;
}

/// What a plan gives for a case, on the host.
template <typename T, int D>
class nufft_run {
 public:
  nufft_run(const backend_context& context, const nufft_case<T, D>& it)
      : context_(context), real_(it.real()), plan_(context, it.modes, it.tolerance, it.options) {
    set_points(it);
  }
  void set_points(const nufft_case<T, D>& it) {
    const auto points = to_device(context_, it.points);
    plan_.set_points(points_of(points));
  }
  complex_values type_1(const std::vector<std::complex<T>>& values, const nufft_call& call = {}) {
    array<std::complex<T>, backend_context> modes(context_,
                                                  plan_.mode_count() * static_cast<std::size_t>(call.vectors));
    if (real_) {
      const auto there = to_device(context_, real_parts(values));
      plan_.type_1(there.data(), modes.data(), call);
    } else {
      const auto there = to_device(context_, values);
      plan_.type_1(there.data(), modes.data(), call);
    }
    return exact_values(to_host(context_, modes));
  }
  complex_values type_2(const std::vector<std::complex<T>>& modes, const nufft_call& call = {}) {
    const auto there = to_device(context_, modes);
    const std::size_t count = plan_.point_count() * static_cast<std::size_t>(call.vectors);
    if (real_) {
      array<T, backend_context> values(context_, count);
      plan_.type_2(there.data(), values.data(), call);
      return exact_values(to_host(context_, values));
    }
    array<std::complex<T>, backend_context> values(context_, count);
    plan_.type_2(there.data(), values.data(), call);
    return exact_values(to_host(context_, values));
  }
  [[nodiscard]] nufft_plan<backend_context, T, D>& plan() { return plan_; }

 private:
  backend_context context_;
  bool real_;
  nufft_plan<backend_context, T, D> plan_;
};

inline double moduli(const complex_values& values) {
  double sum = 0;
  for (const auto& x : values) sum += std::abs(x);
  return sum;
}

/// No result is off by more than the tolerance times the sum of moduli; nor, for random values that do not all meet in
/// one place, their l2 norm by more than the tolerance.
inline void expect_within(const complex_values& found, const complex_values& wanted, double sum, double tolerance,
                          bool random) {
  ASSERT_EQ(found.size(), wanted.size());
  double largest = 0, squares = 0, norm = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    largest = std::max(largest, std::abs(found[i] - wanted[i]));
    squares += std::norm(found[i] - wanted[i]);
    norm += std::norm(wanted[i]);
  }
  EXPECT_LE(largest, tolerance * sum);
  if (random) {
    EXPECT_LE(std::sqrt(squares), tolerance * std::sqrt(norm));
  }
}

/// Both types, for a plan whose points are those of the case.
template <typename T, int D>
void expect_right(nufft_run<T, D>& run, const nufft_case<T, D>& it, bool random) {
  SCOPED_TRACE(it.text());
  const reference::nufft_problem problem = it.problem();
  EXPECT_LE(run.plan().error_bound(), it.tolerance);
  ASSERT_EQ(run.plan().mode_count(), problem.mode_count());
  auto values = random_complex<T>(it.points.size(), 11);
  if (it.real()) {
    for (auto& x : values) x = x.real();
  }
  const auto modes = random_complex<T>(problem.mode_count(), 12);
  const complex_values exact = exact_values(values), exact_modes = exact_values(modes);
  random = random && modes.size() >= 12;  // fewer may cancel by chance
  for (const int sign : {1, -1}) {
    expect_within(run.type_1(values, {1, sign}), reference::nufft_1(problem, exact, sign), moduli(exact), it.tolerance,
                  random);
    const auto wanted = it.real() ? exact_values(reference::nufft_2_real(problem, exact_modes, it.modes[D - 1], sign))
                                  : reference::nufft_2(problem, exact_modes, sign);
    const double sum = moduli(exact_modes) * (it.real() ? 2 : 1);
    expect_within(run.type_2(modes, {1, sign}), wanted, sum, it.tolerance, random);
  }
}

}  // namespace quadrat::test

// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <type_traits>

#include "neighbors/operations.hpp"
#include "neighbors/problem.hpp"
#include "quadrat/search/make_nearest_neighbors.hpp"

namespace quadrat::bench {

namespace {

struct nearest_case {
  std::size_t n;
  std::size_t k;
  std::string_view distribution;
};

template <typename T>
[[nodiscard]] std::vector<T> nearest_coordinates(const nearest_case& what) {
  std::vector<T> values = random_points<T>(what.n, 0.5, what.n);
  if (what.distribution == "one stray point") std::fill_n(values.begin(), 3, static_cast<T>(1e6));
  if (what.distribution == "8 nested scales") {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] *= static_cast<T>(std::pow(10.0, -static_cast<double>(i / 3 % 8)));
    }
  }
  if (what.distribution == "two scales") {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= static_cast<T>(i / 3 % 2 == 0 ? 1 : 1e-4);
  }
  if (what.distribution == "scales from 2^-20 to 1") {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t point = i / 3;
      const double octave = 20 * static_cast<double>(point) / static_cast<double>(what.n);
      values[i] = (values[i] - T(0.5)) * static_cast<T>(std::exp2(-octave));
    }
  }
  return values;
}

/// Distributions that should take no longer than uniform points.
constexpr std::string_view uneven_distributions[] = {"uniform periodic", "8 nested scales", "one stray point",
                                                     "two scales", "scales from 2^-20 to 1"};

/// Throws disagreement unless some rows hold the distances that brute force finds.
template <typename Context, typename T>
void check_nearest_rows(const Context& context, const nearest_neighbors<Context, T, 3>& nearest,
                        const std::vector<T>& values, const lattice<T, 3>& box) {
  constexpr std::size_t checked = 8;
  const auto view = nearest.view();
  std::vector<T> squared(view.rows);
  for (std::size_t part = 0; part < checked; ++part) {
    const std::size_t i = part * (view.rows - 1) / (checked - 1);
    for (std::size_t j = 0; j < view.rows; ++j) {
      T sum = T(0);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        T d = values[3 * j + axis] - values[3 * i + axis];
        if (box.periodic[static_cast<int>(axis)]) d -= std::round(d);  // the edge of the box is 1
        sum += d * d;
      }
      squared[j] = sum;
    }
    const auto k = static_cast<std::ptrdiff_t>(view.k);
    std::nth_element(squared.begin(), squared.begin() + k, squared.end());  // the point itself is among them
    const T found = to_host(context, view.squared_distances + (i + 1) * view.k - 1, 1)[0];
    const T wanted = squared[view.k];
    if (!(std::fabs(found - wanted) <= T(1e-5) * wanted)) {
      throw disagreement(message("neighbor ", view.k, " of point ", i, " is at a squared distance of ", found,
                                 "; brute force finds ", wanted));
    }
  }
}

template <typename T, typename Context>
void time_nearest(const session& s, const Context& context, const nearest_case& what) {
  row identity = identify("knn", "tree", std::is_same_v<T, float> ? "float" : "double", what.n, 0, what.distribution);
  identity.erase("cells");
  identity["k"] = what.k;
  s.attempt(identity, [&](row& out) {
    const lattice<T, 3> box = unit_cube<T>(what.distribution == "uniform periodic");
    const std::vector<T> values = nearest_coordinates<T>(what);
    const array<T, Context> device = to_device(context, values);
    const auto points = strided_points<3>(device.data(), what.n);
    auto nearest = make_nearest_neighbors(context, box, {.k = what.k});
    nearest.build(points);
    nearest.search();
    check_nearest_rows(context, nearest, values, box);
    stopwatch<Context> watch(context);
    const auto timed = [&](bool builds, bool searches) {
      return repeat(s.plan(), [&] {
        watch.start();
        if (builds) nearest.build(points);
        if (searches) nearest.search_async();
        return watch.stop_ms();
      });
    };
    add_timing(out, timed(true, true), "points_per_s", static_cast<double>(what.n));
    out["search_ms"] = timed(false, true).median_ms;
    out["bytes"] = nearest.bytes();
  });
}

template <typename Context>
void run_nearest_on(const session& s, const Context& context) {
  if (!s.full()) {
    time_nearest<float>(s, context, {4096, 16, "uniform"});
    for (const auto distribution : uneven_distributions) time_nearest<float>(s, context, {4096, 16, distribution});
    time_nearest<double>(s, context, {4096, 8, "uniform"});
    return;
  }
  constexpr std::size_t million = std::size_t{1} << 20;
  for (const std::size_t k : std::array<std::size_t, 4>{8, 16, 32, 64})
    time_nearest<float>(s, context, {million, k, "uniform"});
  for (const std::size_t k : std::array<std::size_t, 3>{8, 16, 32})
    time_nearest<double>(s, context, {million, k, "uniform"});
  for (const auto distribution : uneven_distributions) time_nearest<float>(s, context, {million, 16, distribution});
  time_nearest<float>(s, context, {million / 32, 16, "uniform"});
  if (s.on_cuda()) time_nearest<float>(s, context, {16 * million, 16, "uniform"});
}

}  // namespace

void run_nearest(const session& s) {
  with_context(s, [&](const auto& context) { run_nearest_on(s, context); });
}

}  // namespace quadrat::bench

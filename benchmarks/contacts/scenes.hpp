// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "harness/points.hpp"
#include "harness/session.hpp"
#include "harness/stopwatch.hpp"
#include "quadrat/contacts/contact_detector.hpp"
#include "quadrat/contacts/methods.hpp"
#include "quadrat/core/array.hpp"

namespace quadrat::bench {

/// Bodies distributed uniformly in a cube from the origin, dense enough that each has about six contacts.
struct contact_scene {
  std::string distribution;
  body_shape shape = body_shape::sphere;
  double side = 0;
  double mean_diameter = 0;
  std::vector<vec<double, 3>> centers;
  std::vector<vec<double, 3>> sizes;
  std::vector<quaternion<double>> orientations;  ///< of ellipsoids
};

/// The side of the cube in which spheres of these radii have `contacts` contacts each. The mean volume in which the
/// center of a touching sphere must lie is 4/3 pi <(r + s)^3>.
[[nodiscard]] inline double side_for(const std::vector<double>& radii, double contacts) {
  double m1 = 0, m2 = 0, m3 = 0;
  for (const double r : radii) {
    m1 += r;
    m2 += r * r;
    m3 += r * r * r;
  }
  const auto n = static_cast<double>(radii.size());
  const double volume = 4.0 / 3 * std::numbers::pi * (2 * m3 / n + 6 * m2 / n * m1 / n);
  return std::cbrt(n * volume / contacts);
}

inline void place_in_cube(contact_scene& scene, std::size_t n) {
  scene.centers.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      scene.centers[i][axis] = scene.side * random_unit(21, 3 * i + static_cast<std::size_t>(axis));
    }
  }
}

/// Radii from 1 to `ratio`, log-uniform.
[[nodiscard]] inline contact_scene sphere_scene(std::size_t n, double ratio) {
  contact_scene scene;
  scene.distribution = ratio > 1 ? message("radii 1:", ratio) : "radii equal";
  std::vector<double> radii(n);
  for (std::size_t i = 0; i < n; ++i) {
    radii[i] = std::pow(ratio, random_unit(22, i));
    scene.sizes.push_back(vec<double, 3>::filled(radii[i]));
  }
  scene.side = side_for(radii, 6);
  scene.mean_diameter = 2 * std::accumulate(radii.begin(), radii.end(), 0.0) / static_cast<double>(n);
  place_in_cube(scene, n);
  return scene;
}

/// Half-axes from 1/3 to 1, each log-uniform, in any orientation.
[[nodiscard]] inline contact_scene ellipsoid_scene(std::size_t n) {
  contact_scene scene;
  scene.distribution = "ellipsoids to 1:3";
  scene.shape = body_shape::ellipsoid;
  std::vector<double> radii(n);
  for (std::size_t i = 0; i < n; ++i) {
    vec<double, 3> size{};
    for (int axis = 0; axis < 3; ++axis) {
      size[axis] = std::pow(3.0, -random_unit(23, 3 * i + static_cast<std::size_t>(axis)));
    }
    scene.sizes.push_back(size);
    // Two percent more than the sphere of equal volume: an empirical value for six contacts.
    radii[i] = 1.022 * std::cbrt(size[0] * size[1] * size[2]);
    const double u = random_unit(24, 3 * i), v = 2 * std::numbers::pi * random_unit(24, 3 * i + 1),
                 w = 2 * std::numbers::pi * random_unit(24, 3 * i + 2);
    scene.orientations.push_back({std::sqrt(1 - u) * std::sin(v), std::sqrt(1 - u) * std::cos(v),
                                  std::sqrt(u) * std::sin(w), std::sqrt(u) * std::cos(w)});
  }
  scene.side = side_for(radii, 6);
  scene.mean_diameter = 2 * std::accumulate(radii.begin(), radii.end(), 0.0) / static_cast<double>(n);
  place_in_cube(scene, n);
  return scene;
}

/// The same bodies along a Morton curve: neighbors in space are close in memory.
[[nodiscard]] inline contact_scene in_order_of_space(const contact_scene& scene) {
  constexpr int cells = 1024;
  const auto space =
      make_grid(make_box(vec<double, 3>::filled(0), vec<double, 3>::filled(scene.side), vec<bool, 3>::filled(false)),
                vec<int, 3>::filled(cells));
  std::vector<std::uint32_t> code(scene.centers.size()), order(scene.centers.size());
  for (std::size_t i = 0; i < code.size(); ++i) {
    std::uint32_t word = 0;
    const vec<int, 3> cell = space.cell_of(scene.centers[i]);
    for (int bit = 0; bit < 30; ++bit) word |= static_cast<std::uint32_t>(cell[bit % 3] >> (bit / 3) & 1) << bit;
    code[i] = word;
  }
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return code[a] < code[b]; });
  contact_scene sorted = scene;
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted.centers[i] = scene.centers[order[i]];
    sorted.sizes[i] = scene.sizes[order[i]];
    if (!scene.orientations.empty()) sorted.orientations[i] = scene.orientations[order[i]];
  }
  return sorted;
}

/// A scene in the memory of a context.
template <typename Context, typename T>
class placed_scene {
 public:
  placed_scene(const Context& context, const contact_scene& scene)
      : context_(context), scene_(scene), domain_(make_domain(scene)) {
    std::vector<vec<T, 3>> centers, sizes;
    for (const auto& center : scene.centers) centers.push_back(cast<T>(center));
    for (const auto& size : scene.sizes) sizes.push_back(cast<T>(size));
    std::vector<T> radii;
    for (const auto& size : sizes) radii.push_back(size[0]);
    std::vector<quaternion<T>> orientations;
    for (const auto& q : scene.orientations) {
      orientations.push_back({static_cast<T>(q.w), static_cast<T>(q.x), static_cast<T>(q.y), static_cast<T>(q.z)});
    }
    centers_ = to_device(context, centers);
    if (scene.shape == body_shape::sphere) {
      radii_ = to_device(context, radii);
    } else {
      sizes_ = to_device(context, sizes);
      orientations_ = to_device(context, orientations);
    }
  }

  [[nodiscard]] const Context& context() const { return context_; }
  [[nodiscard]] const contact_scene& scene() const { return scene_; }
  [[nodiscard]] std::size_t size() const { return centers_.size(); }
  [[nodiscard]] const box<T, 3>& domain() const { return domain_; }
  [[nodiscard]] bodies_view<T> bodies() const {
    bodies_view<T> view;
    view.centers = points_of(centers_.data(), centers_.size());
    view.shape = scene_.shape;
    if (scene_.shape == body_shape::sphere) {
      view.radii = radii_.data();
    } else {
      view.sizes = sizes_.data();
      view.orientations = orientations_.data();
    }
    return view;
  }

 private:
  [[nodiscard]] static box<T, 3> make_domain(const contact_scene& scene) {
    return make_box(vec<T, 3>::filled(0), vec<T, 3>::filled(static_cast<T>(scene.side)), vec<bool, 3>::filled(false));
  }

  Context context_;
  const contact_scene& scene_;
  box<T, 3> domain_;
  array<vec<T, 3>, Context> centers_, sizes_;
  array<T, Context> radii_;
  array<quaternion<T>, Context> orientations_;
};

/// A detection to time.
struct detection {
  std::string_view operation;
  std::string_view method{};  ///< empty: chosen automatically
  double bin_size = 0;
  bool balance_bins = true;
  bool sorted = false;
  std::string_view memory{};  ///< order of the bodies in memory, if orders are compared
};

/// Whether the method has the stage that `balance_bins` switches on. Empty name: no.
[[nodiscard]] inline bool balances_bins(std::string_view name) {
  const auto methods = contact_methods();
  const auto found = std::ranges::find(methods, name, &contact_method::name);
  return found != methods.end() && found->balances;
}

/// Times a call from positions to records, with memory already allocated, and including the read-back of the count.
/// `expected`: the number of contacts found by other methods, 0 at first. Returns the median, or 0 if it could not be
/// measured.
template <typename Context, typename T>
double time_detection(const session& s, const placed_scene<Context, T>& what, const detection& how,
                      std::uint64_t& expected) {
  row identity = identify(how.operation, how.method.empty() ? "auto" : how.method,
                          std::is_same_v<T, float> ? "float" : "double", what.size(), 0, what.scene().distribution);
  identity.erase("cells");
  const determinism level = what.context().reproducibility();
  if (level != determinism::none) identity["determinism"] = "run_to_run";
  if (how.sorted) identity["order"] = "sorted";
  if (!how.memory.empty()) identity["memory"] = std::string(how.memory);
  if (how.bin_size > 0) identity["bin_in_diameters"] = how.bin_size / what.scene().mean_diameter;
  if (balances_bins(how.method)) identity["balanced"] = how.balance_bins;
  double median = 0;
  s.attempt(identity, [&](row& out) {
    contact_options<T> options;
    options.method = how.method;
    options.domain = what.domain();
    options.bin_size = static_cast<T>(how.bin_size);
    options.balance_bins = how.balance_bins;
    options.sorted = how.sorted;
    contact_detector<Context, T> detector(what.context(), options);
    detector.build(what.bodies());
    if (expected == 0) expected = detector.size();
    if (detector.size() != expected) {
      throw disagreement(message("found ", detector.size(), " contacts where another method found ", expected));
    }
    out["chosen"] = std::string(detector.method());
    out["bin_size"] = detector.bin_size();
    out["reason"] = std::string(detector.reason());
    out["contacts"] = detector.size();
    stopwatch<Context> watch(what.context());
    const timing measured = repeat(s.plan(), [&] {
      watch.start();
      detector.build(what.bodies());
      return watch.stop_ms();
    });
    add_timing(out, measured, "contacts_per_s", static_cast<double>(expected));
    out["bytes"] = detector.bytes();
    median = measured.median_ms;
  });
  return median;
}

}  // namespace quadrat::bench

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "quadrat/core/error.hpp"
#include "reference/contacts.hpp"
#include "support/random.hpp"

namespace quadrat::test {

using reference::body_scene;

/// The bodies of a random scene.
enum class scene_bodies { spheres, ellipsoids, capsules, boxes, mixed };

/// Makes scenes of every kind: bodies at random, in clusters, on faces of cells, touching exactly, concentric,
/// identical, nested, outside the domain; of one size, of many sizes, huge beside tiny; bins from much smaller than
/// bodies to larger than the domain; open and periodic axes, planes, groups.
template <typename T>
class body_scene_maker {
 public:
  explicit body_scene_maker(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 7) {}

  [[nodiscard]] body_scene<T> make(scene_bodies kind) {
    s_ = {};
    kind_ = kind;
    make_domain();
    make_sizes();
    make_centers();
    if (kind != scene_bodies::spheres && !one_in(6)) make_orientations();
    if (one_in(3)) make_identical();
    if (one_in(3)) make_planes();
    if (one_in(3)) make_groups();
    choose_bins();
    if (one_in(3)) make_ids();
    return std::move(s_);
  }

 private:
  [[nodiscard]] std::size_t below(std::size_t bound) { return random_() % bound; }
  [[nodiscard]] bool one_in(std::size_t bound) { return below(bound) == 0; }
  [[nodiscard]] T between(double low, double high) {
    return static_cast<T>(low + (high - low) * random_unit<double>(random_));
  }

  void make_domain() {
    // Far from the origin coordinates are coarse: there rounding decides who touches.
    const double far = one_in(8) ? 1e5 : 20;
    lower_ = one_in(2) ? vec<T, 3>{} : vec<T, 3>{between(-far, far), between(-far, far), between(-far, far)};
    const T edge = one_in(2) ? T(8) : between(2, 20);
    length_ = vec<T, 3>::filled(edge);
    if (one_in(3)) length_ = {edge, edge * between(0.6, 1), edge * between(0.6, 2)};
    least_ = std::min({length_[0], length_[1], length_[2]});
    const std::size_t walls = below(4);
    if (walls == 0) return;  // left out
    vec<bool, 3> periodic{};
    for (int axis = 0; axis < 3; ++axis) periodic[axis] = walls == 1 || (walls == 2 && one_in(2));
    s_.options.domain = make_box<T, 3>(lower_, lower_ + length_, periodic);
    periodic_ = walls == 1 || periodic[0] || periodic[1] || periodic[2];
  }

  [[nodiscard]] std::size_t choose_count() {
    if (one_in(12)) return below(3);
    return one_in(20) ? 90 + below(60) : 4 + below(50);
  }

  [[nodiscard]] T choose_size(std::size_t spread, std::size_t i) {
    const T typical = least_ * T(0.125);  // 1 where the edge is 8
    switch (spread) {
      case 0:
        return typical / 2;  // touching exactly, on a lattice
      case 1:
        return typical * between(0.3, 1);
      case 2:
        return typical * static_cast<T>(std::pow(10.0, between(-1, 0)));
      case 3:
        return typical * static_cast<T>(std::pow(100.0, between(-1, 0)));
      default:  // a few are huge beside the others
        return i % 16 == 0 ? typical * (periodic_ ? T(1.9) : T(6)) : typical * T(0.05);
    }
  }

  void make_sizes() {
    const std::size_t count = choose_count(), spread = below(5);
    s_.centers.resize(count);
    if (kind_ == scene_bodies::spheres && spread < 2 && one_in(2)) {
      s_.radius = choose_size(spread, 1);
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const T size = choose_size(spread, i);
      if (kind_ == scene_bodies::spheres) {
        s_.radii.push_back(size);
        continue;
      }
      body_shape shape = static_cast<body_shape>(below(4));
      if (kind_ != scene_bodies::mixed) shape = static_cast<body_shape>(static_cast<int>(kind_));
      if (kind_ == scene_bodies::mixed) s_.shapes.push_back(shape);
      s_.sizes.push_back(make_size(shape, size));
    }
    if (kind_ != scene_bodies::mixed) s_.shape = static_cast<body_shape>(static_cast<int>(kind_));
  }

  /// Sizes of a shape that fits in a sphere of this radius.
  [[nodiscard]] vec<T, 3> make_size(body_shape shape, T radius) {
    const bool even = one_in(3);
    const T y = even ? T(1) : between(0.3, 1), z = even ? T(1) : between(0.3, 1);
    if (shape == body_shape::capsule) {
      const T share = one_in(8) ? T(1) : between(0.2, 0.8);
      return {radius * share, radius * (T(1) - share), T(0)};
    }
    const T scale = shape == body_shape::box ? radius * T(0.57) : radius;
    return {scale, scale * y, scale * z};
  }

  [[nodiscard]] vec<T, 3> make_center(std::size_t way) {
    vec<T, 3> center{};
    for (int axis = 0; axis < 3; ++axis) {
      T fraction = between(0, 1);
      if (way == 0) fraction = static_cast<T>(below(9)) / T(8);  // a lattice, on faces of cells
      if (way == 1) fraction = T(0.4) + T(0.05) * fraction;
      if (way == 2) fraction = T(0.97) + T(0.06) * fraction;  // around a face of the box
      if (way == 3) fraction = T(0.3);                        // concentric
      if (way == 4 && one_in(3)) fraction += static_cast<T>(below(5)) - T(2);
      center[axis] = lower_[axis] + fraction * length_[axis];
    }
    return center;
  }

  void make_centers() {
    const std::size_t way = below(8);
    for (auto& center : s_.centers) center = make_center(way == 7 ? below(7) : way);
  }

  void make_orientations() {
    for (std::size_t i = 0; i < s_.centers.size(); ++i) {
      quaternion<T> q{between(-1, 1), between(-1, 1), between(-1, 1), between(-1, 1)};
      if (one_in(4)) q = {T(1), T(0), one_in(2) ? T(1) : T(0), T(0)};  // along an axis, and of any length
      if (!(squared_norm(q) > T(1e-3))) q = quaternion<T>::identity();
      s_.orientations.push_back(q);
    }
  }

  void make_identical() {
    for (std::size_t copies = below(4); copies > 0 && s_.centers.size() > 1; --copies) {
      const std::size_t from = below(s_.centers.size()), to = below(s_.centers.size());
      s_.centers[to] = s_.centers[from];
      if (!s_.radii.empty()) s_.radii[to] = s_.radii[from];
      if (!s_.sizes.empty()) s_.sizes[to] = s_.sizes[from];
      if (!s_.shapes.empty()) s_.shapes[to] = s_.shapes[from];
      if (!s_.orientations.empty()) s_.orientations[to] = s_.orientations[from];
    }
  }

  void make_planes() {
    for (std::size_t k = 1 + below(3); k > 0; --k) {
      vec<T, 3> normal{};
      normal[static_cast<int>(below(3))] = one_in(2) ? T(1) : T(-1);
      if (one_in(3)) normal = {T(0.6), T(0), T(0.8)};
      const vec<T, 3> point = make_center(6);
      if (crosses_no_seam(normal)) s_.planes.push_back({normal, dot(normal, point)});
    }
  }

  /// Whether a wall is parallel to all periodic axes; others are refused.
  [[nodiscard]] bool crosses_no_seam(const vec<T, 3>& normal) const {
    for (int axis = 0; s_.options.domain && axis < 3; ++axis) {
      if (s_.options.domain->periodic[axis] && normal[axis] != T(0)) return false;
    }
    return true;
  }

  void make_groups() {
    const auto groups = static_cast<std::uint32_t>(1 + below(5));
    for (std::size_t i = 0; i < s_.centers.size(); ++i) {
      s_.groups.push_back(one_in(10) ? 31 : static_cast<std::uint32_t>(below(groups)));
    }
    for (auto& wall : s_.planes) wall.group = static_cast<std::uint32_t>(below(groups));
    for (std::size_t cuts = below(8); cuts > 0; --cuts) {
      const std::size_t g = below(groups), h = below(groups);
      s_.options.masks[g] &= ~(1u << h);
      s_.options.masks[h] &= ~(1u << g);
    }
  }

  /// In any order, with gaps.
  void make_ids() {
    for (std::size_t i = 0; i < s_.centers.size(); ++i) s_.ids.push_back(static_cast<particle_id>(3 * i + below(3)));
    if (!one_in(3)) std::shuffle(s_.ids.begin(), s_.ids.end(), random_);
    if (one_in(3) && !s_.ids.empty()) *std::ranges::max_element(s_.ids) = first_plane - 1;
  }

  void choose_bins() {
    const std::size_t way = below(5);
    if (way == 0) s_.options.bin_size = least_ / T(8);   // as the lattice
    if (way == 1) s_.options.bin_size = least_ / T(24);  // bodies touch hundreds of bins
    if (way == 2) s_.options.bin_size = least_ * between(0.2, 3);
  }

  std::mt19937_64 random_;
  body_scene<T> s_;
  scene_bodies kind_ = scene_bodies::spheres;
  vec<T, 3> lower_{};
  vec<T, 3> length_{};
  T least_ = T(1);
  bool periodic_ = false;
};

template <typename T>
[[nodiscard]] std::string describe(const body_scene<T>& s) {
  std::string text =
      message(s.centers.size(), " bodies, shape ", static_cast<int>(s.shape), s.shapes.empty() ? "" : " and others",
              s.planes.empty() ? "" : ", planes", s.groups.empty() ? "" : ", groups", s.ids.empty() ? "" : ", ids",
              ", bin size ", s.options.bin_size);
  if (!s.options.domain) return text + ", no domain";
  for (int axis = 0; axis < 3; ++axis) {
    text += message(s.options.domain->periodic[axis] ? ", periodic " : ", open ", s.options.domain->lower[axis], " + ",
                    s.options.domain->length[axis]);
  }
  return text;
}

}  // namespace quadrat::test

// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "quadrat/contacts/collide.hpp"

// Any two valid bodies, at any offset, give valid contacts.

namespace quadrat::test {
namespace {

/// Decodes numbers from bytes; zeros when there are no more.
class decoder {
 public:
  decoder(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}

  template <typename Value>
  [[nodiscard]] Value next() {
    Value value{};
    if (left_ >= sizeof(Value)) {
      std::memcpy(&value, data_, sizeof(Value));
      data_ += sizeof(Value);
      left_ -= sizeof(Value);
    }
    return value;
  }

  /// Any number, or one in [-1, 1), which bytes alone would rarely give.
  template <typename T>
  [[nodiscard]] T number() {
    const auto kind = next<std::uint8_t>();
    if (kind < 16) return next<T>();
    const T value = static_cast<T>(next<std::int16_t>()) / T(32768);
    if (kind < 32) return std::ldexp(value, kind % 16 * 4 - 32);
    return kind < 64 ? std::round(value * T(4)) / T(4) : value;
  }

  template <typename T>
  [[nodiscard]] vec<T, 3> vector() {
    return make_vec<T, 3>([&](int) { return number<T>(); });
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "narrow phase: %s\n", what);
  std::abort();
}

/// Decodes a body, now and then of an unknown shape; returns whether it is valid.
template <typename T>
[[nodiscard]] bool decode(decoder& bytes, body<T>& result) {
  const auto shape = bytes.next<std::uint8_t>();
  result.shape = static_cast<body_shape>(shape < 240 ? shape % 4 : shape);
  result.center = bytes.vector<T>();
  result.size = bytes.vector<T>();
  if ((shape & 4) != 0) result.size = make_vec<T, 3>([&](int axis) { return std::fabs(result.size[axis]); });
  quaternion<T> turn{bytes.number<T>(), bytes.number<T>(), bytes.number<T>(), bytes.number<T>()};
  if ((shape & 8) != 0) turn = quaternion<T>::identity();
  if (!sizes_are_sound(result.shape, result.size, squared_norm(turn))) return false;
  result.orientation = normalized(turn);
  return true;
}

template <typename T>
void check(const contact_manifold<T>& manifold, int count, T scale) {
  const T tolerance = sizeof(T) == sizeof(float) ? T(1e-4) : T(1e-10);
  demand(count == manifold.count && count >= 0 && count <= most_contacts_of_pair, "the count is impossible");
  for (int k = 0; k < count; ++k) {
    const contact_point<T>& point = manifold.points[k];
    demand(point.depth > T(0) && std::isfinite(point.depth), "a depth is not positive and finite");
    demand(std::fabs(squared_norm(point.normal) - T(1)) < tolerance, "a normal is not of length one");
    const vec<T, 3> error = point.point_a - point.point_b - point.normal * point.depth;
    demand(std::sqrt(squared_norm(error)) <= tolerance * scale, "the points are not apart by the depth");
    for (int other = 0; other < k; ++other) {
      demand(manifold.points[other].feature != point.feature, "two contacts have one feature");
    }
  }
}

template <typename T>
void meet(decoder& bytes) {
  body<T> a{}, b{};
  if (!decode(bytes, a) || !decode(bytes, b)) return;
  const vec<T, 3> offset = b.center - a.center;
  contact_manifold<T> manifold;
  const T sizes = bounding_radius(a.shape, a.size) + bounding_radius(b.shape, b.size);
  const int count = collide(a, b, offset, manifold);
  check(manifold, count, sizes);
  const vec<T, 3> back = a.center - b.center;
  contact_manifold<T> exchanged;
  check(exchanged, collide(b, a, back, exchanged), sizes);
  if (a.shape != b.shape) demand(exchanged.count == count, "the order of bodies makes a difference");

  plane<T> wall{};
  wall.normal = bytes.vector<T>();
  wall.offset = bytes.number<T>();
  const T squared = squared_norm(wall.normal);
  if (!(squared > T(1e-10) && squared < T(1e10)) || !std::isfinite(wall.offset)) return;
  wall.normal = wall.normal * (T(1) / std::sqrt(squared));
  const T far = std::sqrt(squared_norm(a.center)) + std::fabs(wall.offset);
  check(manifold, collide_with_plane(a, wall, manifold), sizes + far);
}

}  // namespace
}  // namespace quadrat::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  quadrat::test::decoder bytes(data, size);
  if ((bytes.next<std::uint8_t>() & 1) != 0) {
    quadrat::test::meet<double>(bytes);
  } else {
    quadrat::test::meet<float>(bytes);
  }
  return 0;
}

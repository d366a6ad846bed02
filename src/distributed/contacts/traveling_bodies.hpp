// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/parallel/for_each.hpp"

/// Packs bodies for other ranks and unpacks those that arrive.
namespace quadrat::detail {

/// A body in the form in which it was given; unused fields are zero.
template <typename T>
struct traveling_body {
  vec<T, 3> center;
  vec<T, 3> size;
  quaternion<T> orientation;
  std::uint32_t shape;
  std::uint32_t group;
  std::uint32_t id;
  std::uint32_t unused;
};

/// Slightly more than the radius of the bounding sphere of each body, to allow for the rounding of a contact. 0 for
/// invalid sizes, which the owner's detector reports.
template <typename T>
struct measure_bodies {
  bodies_view<T> bodies;
  T* radii;

  QUADRAT_HD void operator()(std::size_t i) const {
    const body_shape shape = bodies.shape_of(i);
    const vec<T, 3> size = bodies.size_of(i);
    const bool sound = sizes_are_sound(shape, size, T(1));
    radii[i] = sound ? bounding_radius(shape, size) * (1 + 64 * rounding_unit<T>) : T(0);
  }
};

template <typename T>
struct pack_bodies {
  bodies_view<T> bodies;
  traveling_body<T>* records;

  QUADRAT_HD void operator()(std::size_t i) const {
    traveling_body<T> record{};
    record.center = bodies.centers[i];
    record.size = bodies.size_of(i);
    if (bodies.orientations != nullptr) record.orientation = bodies.orientations[i];
    record.shape = static_cast<std::uint32_t>(bodies.shape_of(i));
    if (bodies.groups != nullptr) record.group = bodies.groups[i];
    record.id = bodies.ids[i];
    records[i] = record;
  }
};

/// The arrays of a bodies_view, to be written.
template <typename T>
struct body_arrays {
  vec<T, 3>* centers;
  body_shape* shapes;
  T* radii;
  vec<T, 3>* sizes;
  quaternion<T>* orientations;
  std::uint32_t* groups;
  std::uint32_t* ids;
};

template <typename T>
struct unpack_bodies {
  const traveling_body<T>* records;
  body_arrays<T> to;

  QUADRAT_HD void operator()(std::size_t k) const {
    const traveling_body<T> record = records[k];
    to.centers[k] = record.center;
    to.shapes[k] = static_cast<body_shape>(record.shape);
    to.radii[k] = record.size[0];
    to.sizes[k] = record.size;
    to.orientations[k] = record.orientation;
    to.groups[k] = record.group;
    to.ids[k] = record.id;
  }
};

/// Bodies of this rank, then ghosts.
template <typename Context, typename T>
class local_bodies {
 public:
  void unpack(const Context& context, const traveling_body<T>* records, std::size_t count) {
    centers_.resize_discarding(context, count);
    shapes_.resize_discarding(context, count);
    radii_.resize_discarding(context, count);
    sizes_.resize_discarding(context, count);
    orientations_.resize_discarding(context, count);
    groups_.resize_discarding(context, count);
    ids_.resize_discarding(context, count);
    const body_arrays<T> to{centers_.data(),      shapes_.data(), radii_.data(), sizes_.data(),
                            orientations_.data(), groups_.data(), ids_.data()};
    for_each(context, "contacts.unpack", count, unpack_bodies<T>{records, to});
  }

  [[nodiscard]] const std::uint32_t* ids() const { return ids_.data(); }
  /// A view that has the same kinds of arrays as `like`.
  [[nodiscard]] bodies_view<T> view(const bodies_view<T>& like) const {
    bodies_view<T> result = like;
    result.centers = points_of(centers_.data(), centers_.size());
    if (like.shapes != nullptr) result.shapes = shapes_.data();
    if (like.radii != nullptr) result.radii = radii_.data();
    if (like.sizes != nullptr) result.sizes = sizes_.data();
    if (like.orientations != nullptr) result.orientations = orientations_.data();
    if (like.groups != nullptr) result.groups = groups_.data();
    result.ids = ids_.data();
    return result;
  }

 private:
  array<vec<T, 3>, Context> centers_;
  array<body_shape, Context> shapes_;
  array<T, Context> radii_;
  array<vec<T, 3>, Context> sizes_;
  array<quaternion<T>, Context> orientations_;
  array<std::uint32_t, Context> groups_, ids_;
};

/// Which arrays describe the bodies; pointers only say whether an array is given. Taken from the first rank that has
/// bodies. Throws argument_error on all ranks if another rank has other arrays. Collective.
template <typename T>
[[nodiscard]] bodies_view<T> agreed_kinds(communicator& ranks, const bodies_view<T>& bodies);

}  // namespace quadrat::detail

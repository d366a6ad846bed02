// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/contacts/traveling_bodies.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace quadrat::detail {

namespace {

template <typename T>
struct body_kinds {
  std::uint64_t count;
  std::uint64_t planes;
  T radius;
  body_shape shape;
  bool shapes, radii, sizes, orientations, groups;

  [[nodiscard]] auto all() const { return std::tie(radius, shape, shapes, radii, sizes, orientations, groups); }
};

/// Any non-null address.
template <typename P>
[[nodiscard]] const P* present(bool there) {
  static const P none{};
  return there ? &none : nullptr;
}

}  // namespace

template <typename T>
bodies_view<T> agreed_kinds(communicator& ranks, const bodies_view<T>& bodies) {
  const bool own_radius = bodies.radii == nullptr && bodies.sizes == nullptr;
  const body_kinds<T> mine{bodies.size(),
                           bodies.planes.size(),
                           own_radius ? bodies.radius : T(0),
                           bodies.shapes == nullptr ? bodies.shape : body_shape::sphere,
                           bodies.shapes != nullptr,
                           bodies.radii != nullptr,
                           bodies.sizes != nullptr,
                           bodies.orientations != nullptr,
                           bodies.groups != nullptr};
  const auto all = all_values(ranks, mine);
  const auto first = std::find_if(all.begin(), all.end(), [](const auto& one) { return one.count > 0; });
  const body_kinds<T> agreed = first == all.end() ? mine : *first;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::string_view what = "gives bodies in another way than the ranks before (arrays, shape, radius)";
    require(all[rank].count == 0 || all[rank].all() == agreed.all(), "rank ", rank, " ", what);
    require(all[rank].planes == all[0].planes, "rank ", rank, " gives ", all[rank].planes, " planes, rank 0 ",
            all[0].planes);
  }
  bodies_view<T> result;
  result.planes = bodies.planes;
  result.radius = agreed.radius;
  result.shape = agreed.shape;
  result.shapes = present<body_shape>(agreed.shapes);
  result.radii = present<T>(agreed.radii);
  result.sizes = present<vec<T, 3>>(agreed.sizes);
  result.orientations = present<quaternion<T>>(agreed.orientations);
  result.groups = present<std::uint32_t>(agreed.groups);
  return result;
}

template bodies_view<float> agreed_kinds(communicator&, const bodies_view<float>&);
template bodies_view<double> agreed_kinds(communicator&, const bodies_view<double>&);

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <vector>

#include "contacts/random_bodies.hpp"
#include "distributed/small_system.hpp"
#include "quadrat/distributed/contacts.hpp"

// Contacts over the ranks of a communicator, compared with one rank: the same bytes.

namespace quadrat::test {

/// Some bodies of a scene in the memory of a context.
template <typename T>
class some_bodies {
 public:
  some_bodies(const backend_context& context, const body_scene<T>& scene, const std::vector<std::uint32_t>& ids)
      : like_(scene.view()),
        centers_(take(context, scene.centers, ids)),
        shapes_(take(context, scene.shapes, ids)),
        radii_(take(context, scene.radii, ids)),
        sizes_(take(context, scene.sizes, ids)),
        orientations_(take(context, scene.orientations, ids)),
        groups_(take(context, scene.groups, ids)),
        ids_(to_device(context, ids)) {}

  [[nodiscard]] bodies_view<T> view() const {
    bodies_view<T> result = like_;
    result.centers = points_of(centers_.data(), centers_.size());
    result.shapes = shapes_.data();
    result.radii = radii_.data();
    result.sizes = sizes_.data();
    result.orientations = orientations_.data();
    result.groups = groups_.data();
    result.ids = ids_.data();
    return result;
  }

 private:
  template <typename E>
  [[nodiscard]] static array<E, backend_context> take(const backend_context& context, const std::vector<E>& all,
                                                      const std::vector<std::uint32_t>& ids) {
    return all.empty() ? array<E, backend_context>() : to_device(context, chosen(all, ids));
  }

  bodies_view<T> like_;
  array<vec<T, 3>, backend_context> centers_;
  array<body_shape, backend_context> shapes_;
  array<T, backend_context> radii_;
  array<vec<T, 3>, backend_context> sizes_;
  array<quaternion<T>, backend_context> orientations_;
  array<std::uint32_t, backend_context> groups_, ids_;
};

/// A box around all bodies, where the scene has none.
template <typename T>
[[nodiscard]] box<T, 3> domain_of(const body_scene<T>& scene) {
  if (scene.options.domain) return *scene.options.domain;
  vec<T, 3> lower = vec<T, 3>::filled(T(1e6)), upper = vec<T, 3>::filled(T(-1e6));
  for (const auto& center : scene.centers) {
    for (int axis = 0; axis < 3; ++axis) {
      lower[axis] = std::min(lower[axis], center[axis] - 1);
      upper[axis] = std::max(upper[axis], center[axis] + 1);
    }
  }
  if (scene.centers.empty()) lower = {}, upper = vec<T, 3>::filled(T(1));
  return make_box(lower, upper, vec<bool, 3>::filled(false));
}

template <typename T>
void check_contacts(communicator& ranks, std::uint64_t seed) {
  const backend_context context = context_of_rank();
  std::mt19937_64 random(seed);
  body_scene<T> scene = body_scene_maker<T>(seed).make(static_cast<scene_bodies>(seed % 5));
  const auto space =
      make_grid(domain_of(scene), make_vec<int, 3>([&](int) { return 1 + static_cast<int>(random() % 7); }));
  const auto shares = random_decomposition(space, ranks.size(), seed);
  scene.options.sorted = true;

  std::vector<std::uint32_t> all, mine;
  for (std::size_t i = 0; i < scene.centers.size(); ++i) {
    const auto id = static_cast<std::uint32_t>(i);
    all.push_back(id);
    if (shares.view().owner(space.unfolded_cell_of(scene.centers[i])) == ranks.rank()) mine.push_back(id);
  }
  auto options = scene.options;
  options.domain.reset();
  distributed_contacts<backend_context, T> contacts(context, ranks, space, options);
  const some_bodies<T> own(context, scene, mine);
  const device_decomposition<backend_context, 3> on_device(context, shares);
  contacts.build(on_device.view(), own.view());
  const auto found = to_host(context, contacts.view().records, contacts.size());

  options.domain = space.domain;
  contact_detector<backend_context, T> alone(context, options);
  const some_bodies<T> everything(context, scene, all);
  alone.build(everything.view());
  std::vector<contact<T>> expected;
  for (const auto& one : to_host(context, alone.view().records, alone.size())) {
    if (std::binary_search(mine.begin(), mine.end(), one.a)) expected.push_back(one);
  }
  expect(found.size() == expected.size(), "scene ", seed, ", rank ", ranks.rank(), " of ", ranks.size(), ": ",
         found.size(), " contacts; one rank finds ", expected.size());
  expect(found.empty() || std::memcmp(found.data(), expected.data(), found.size() * sizeof(found[0])) == 0, "scene ",
         seed, ", rank ", ranks.rank(), " of ", ranks.size(), ": contacts differ from those of one rank");
}

inline void check_bodies(communicator& ranks, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    seed % 2 == 0 ? check_contacts<float>(ranks, seed) : check_contacts<double>(ranks, seed);
  }
}

}  // namespace quadrat::test

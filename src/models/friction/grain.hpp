// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "contacts/triangles/search.hpp"
#include "models/friction/entry.hpp"
#include "models/friction/materials.hpp"
#include "models/friction/meshes.hpp"
#include "models/wide_access.hpp"
#include "quadrat/contacts/narrow_phase.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"

/// The force on a grain, from its row of the neighbor list.
namespace quadrat::detail {

/// The data of a grain that the search for contacts reads, with one load.
template <typename T>
struct alignas(4 * sizeof(T)) grain_place {
  vec<T, 3> position;
  T radius;
};

template <typename T>
struct alignas(4 * sizeof(T)) grain_velocity {
  vec<T, 3> velocity;
  particle_id id;
};

template <typename T>
struct alignas(4 * sizeof(T)) grain_spin {
  vec<T, 3> spin;       ///< angular velocity
  std::uint32_t walls;  ///< bit k: the grain has a history with wall k
};

/// All grains at one step, by slot of memory.
template <typename T>
struct moving_grains {
  grain_place<T>* places;
  grain_velocity<T>* velocities;
  grain_spin<T>* spins;
  vec<T, 3>* remainders;  ///< of positions: the parts below their rounding
};

/// The neighbor list, and the histories of contacts.
template <typename T>
struct friction_partners {
  const std::uint64_t* offsets;      ///< of rows; count + 1
  std::uint32_t* partners;           ///< slots, with the bit `remembers`
  contact_memory<T>* memories;       ///< layers of each entry, one after the other
  contact_memory<T>* wall_memories;  ///< wall k of the grain in a slot: k * count + slot; layer by layer
  std::size_t count;                 ///< of grains
  std::uint32_t layers;              ///< 1, or 2 if contacts remember rolling
};

/// The forces on one grain.
template <typename T>
struct grain_load {
  vec<T, 3> force{};
  vec<T, 3> torque{};
  T energy{};           ///< of all its contacts; half of it for contacts with grains
  T deepest{};          ///< overlap / smaller radius
  T deepest_in_wall{};  ///< overlap / radius
  std::uint32_t contacts = 0;
  std::uint32_t walls = 0;  ///< bit k: touches wall k
};

/// The input of the forces of one step. Materials: one_material or material_table.
template <typename T, typename Materials>
struct friction_forces {
  using memory_type = typename Materials::memory;
  static constexpr bool has_layers = std::is_same_v<memory_type, full_contact_memory<T>>;

  Materials materials;
  moving_grains<T> grains;
  friction_partners<T> near;
  const friction_wall<T>* walls;
  std::uint32_t wall_count;

  [[nodiscard]] QUADRAT_HD grain_in_work<T> grain(std::uint32_t slot) const {
    const auto place = read_record(grains.places, slot);
    const auto moving = read_record(grains.velocities, slot);
    const auto turning = read_record(grains.spins, slot);
    const std::uint32_t material = materials.of_grain(slot);
    const friction_law<T>& law = materials.between(material, material);
    return {place.position,
            moving.velocity,
            turning.spin,
            place.radius,
            law.mass(place.radius),
            law.inverse_inertia(place.radius),
            slot,
            moving.id,
            turning.walls,
            material};
  }

  /// Sums in order of the row, then of the walls, then of the triangles. Without `Keep`, histories are not changed.
  template <bool Keep>
  [[nodiscard]] QUADRAT_HD grain_load<T> load(const grain_in_work<T>& self) const {
    grain_load<T> sum;
    const std::uint64_t last = near.offsets[self.slot + 1];
    for (std::uint64_t entry = near.offsets[self.slot]; entry < last; ++entry) add_partner<Keep>(self, entry, sum);
    for (std::uint32_t k = 0; k < wall_count; ++k) add_wall<Keep>(self, k, sum);
    if constexpr (requires { materials.meshes; }) add_meshes<Keep>(self, sum);
    return sum;
  }

 private:
  template <bool Keep>
  QUADRAT_HD void add_partner(const grain_in_work<T>& self, std::uint64_t entry, grain_load<T>& sum) const {
    const std::uint32_t word = near.partners[entry];
    const std::uint32_t slot = word & ~remembers;
    const grain_place<T> other = read_record(grains.places, slot);
    const vec<T, 3> offset = self.position - other.position;
    if (!spheres_touch(offset, self.radius, other.radius)) {
      if (Keep && word != slot) near.partners[entry] = slot;
      return;
    }
    const T distance = std::sqrt(squared_norm(offset));
    const std::uint32_t material = materials.of_grain(slot);
    friction_contact<T> at = pair(self, other, materials.between(material, material), distance);
    const grain_velocity<T> moving = read_record(grains.velocities, slot);
    // Concentric grains separate along x.
    at.normal =
        distance > T(0) ? offset * (T(1) / distance) : vec<T, 3>{self.id > moving.id ? T(1) : T(-1), T(0), T(0)};
    const T arm = self.radius - at.overlap / 2;
    const T other_arm = other.radius - at.overlap / 2;
    const vec<T, 3> other_spin = read_record(grains.spins, slot).spin;
    at.velocity = self.velocity - moving.velocity - cross(self.spin * arm + other_spin * other_arm, at.normal);
    at.spin = self.spin - other_spin;
    contact_memory<T>* const kept = near.memories + (has_layers ? entry * near.layers : entry);
    memory_type memory = word != slot ? recalled(kept, 1) : memory_type{};
    const friction_push<T> push = materials.between(self.material, material)(at, memory);
    if constexpr (Keep) {
      keep(memory, kept, 1);
      if (word == slot) near.partners[entry] = slot | remembers;
    }
    add(push, at, arm, sum);
    sum.energy += push.energy / 2;
    const T depth = at.overlap / (self.radius < other.radius ? self.radius : other.radius);
    sum.deepest = depth > sum.deepest ? depth : sum.deepest;
    ++sum.contacts;
  }

  /// `stride`: between the layers of a contact.
  [[nodiscard]] QUADRAT_HD memory_type recalled(const contact_memory<T>* kept, std::size_t stride) const {
    if constexpr (has_layers) {
      return {*kept, near.layers > 1 ? kept[stride].displacement : vec<T, 3>{}};
    } else {
      return *kept;
    }
  }
  QUADRAT_HD void keep(const memory_type& memory, contact_memory<T>* kept, std::size_t stride) const {
    *kept = memory;
    if constexpr (has_layers) {
      if (near.layers > 1) kept[stride] = {memory.rolling, T(0)};
    }
  }

  /// `law`: of two bodies of the other's material.
  [[nodiscard]] QUADRAT_HD static friction_contact<T> pair(const grain_in_work<T>& self, const grain_place<T>& other,
                                                           const friction_law<T>& law, T distance) {
    const T mass = law.mass(other.radius);
    friction_contact<T> at{};
    at.overlap = self.radius + other.radius - distance;
    at.radius = self.radius * other.radius / (self.radius + other.radius);
    at.mass = self.mass * mass / (self.mass + mass);
    at.inverse_inertia = self.inverse_inertia + law.inverse_inertia(other.radius);
    return at;
  }

  template <bool Keep>
  QUADRAT_HD void add_wall(const grain_in_work<T>& self, std::uint32_t k, grain_load<T>& sum) const {
    vec<T, 3> normal;
    const T overlap = walls[k].overlap(self.position, self.radius, normal);
    if (!(overlap > T(0))) return;
    const bool known = (self.walls >> k & 1u) != 0;
    contact_memory<T>* const kept = near.wall_memories + (k * near.count + self.slot);
    const std::size_t stride = wall_count * near.count;
    memory_type memory = known ? recalled(kept, stride) : memory_type{};
    add_fixed(self, normal, overlap, materials.between(self.material, materials.of_wall(k)), memory, sum);
    if constexpr (Keep) keep(memory, kept, stride);
    sum.walls |= 1u << k;
  }

  /// The contact with a body that does not move.
  [[gnu::always_inline]] QUADRAT_HD void add_fixed(const grain_in_work<T>& self, const vec<T, 3>& normal, T overlap,
                                                   const friction_law<T>& law, memory_type& memory,
                                                   grain_load<T>& sum) const {
    friction_contact<T> at{};
    at.normal = normal;
    at.overlap = overlap;
    at.radius = self.radius;
    at.mass = self.mass;
    at.inverse_inertia = self.inverse_inertia;
    const T arm = self.radius - at.overlap / 2;
    at.velocity = self.velocity - cross(self.spin * arm, at.normal);
    at.spin = self.spin;
    const friction_push<T> push = law(at, memory);
    add(push, at, arm, sum);
    sum.energy += push.energy;
    const T depth = at.overlap / self.radius;
    sum.deepest = depth > sum.deepest ? depth : sum.deepest;
    sum.deepest_in_wall = depth > sum.deepest_in_wall ? depth : sum.deepest_in_wall;
  }

  /// The contacts with triangles that a grain has in its row.
  template <bool Keep>
  QUADRAT_HD void add_meshes(const grain_in_work<T>& self, grain_load<T>& sum) const {
    const friction_meshes<T>& meshes = materials.meshes;
    const sphere_on_triangles<T> sphere(meshes.store, self.position, self.radius);
    const std::uint64_t first = meshes.offsets[self.slot], last = meshes.offsets[self.slot + 1];
    for (std::uint64_t entry = first; entry < last; ++entry) {
      const std::uint32_t t = meshes.triangle(entry);
      const nearest_on_triangle<T> found = sphere.closest(t);
      if (!sphere.reports(t, found)) continue;
      const contact_point<T> point = sphere.contact_at(t, found);
      const std::uint64_t before = meshes.previous(entry, self, point.normal, materials.time_step());
      memory_type memory = before < last ? recalled(meshes.memories + before * near.layers, 1) : memory_type{};
      add_fixed(self, point.normal * T(-1), point.depth, materials.between(self.material, meshes.materials[t]), memory,
                sum);
      if constexpr (Keep) {
        keep(memory, meshes.memories + entry * near.layers, 1);
        meshes.partners[entry] |= touches_now;
      }
    }
    if constexpr (Keep) {
      for (std::uint64_t entry = first; entry < last; ++entry) {
        const bool now = (meshes.partners[entry] & touches_now) != 0;
        meshes.partners[entry] = meshes.triangle(entry) | (now ? remembers : 0u);
      }
    }
  }

  QUADRAT_HD static void add(const friction_push<T>& push, const friction_contact<T>& at, T arm, grain_load<T>& sum) {
    sum.force += push.force;
    sum.torque += push.torque - cross(at.normal, push.tangential) * arm;
  }
};

}  // namespace quadrat::detail

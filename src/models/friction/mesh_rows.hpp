// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "contacts/bodies/place.hpp"
#include "contacts/triangles/device.hpp"
#include "models/friction/meshes.hpp"
#include "models/friction/setup.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/scan.hpp"

namespace quadrat::detail {

/// The triangles of all meshes, and those near each grain. There are two sets of rows: a rebuild carries histories from
/// one to the other.
template <typename Context, typename T>
class friction_mesh_rows {
 public:
  friction_mesh_rows(const Context& context, const friction_setup<T>& setup)
      : context_(context),
        layers_(setup.layers()),
        triangles_(context, setup.triangles, open_box<T>()),
        materials_(to_device(context, setup.triangle_materials)) {}

  [[nodiscard]] bool empty() const { return materials_.size() == 0; }
  [[nodiscard]] friction_meshes<T> view(int set) {
    return {triangles_.store(), materials_.data(), offsets_[set].data(), partners_[set].data(), memories_[set].data()};
  }

  /// Sets rows, by particle, to the contacts of a state, which are in order.
  void set(int set, std::size_t grains, const std::vector<granular_contact_memory<T>>& contacts);
  /// Makes the rows of `to` from those of the other set. `ids`: by slot; `slots`: the old ones, by particle. Returns
  /// whether memory that steps use has moved. Synchronizes.
  [[nodiscard]] bool rebuild(int to, std::size_t grains, const vec<T, 3>* positions, const T* radii, T skin,
                             const std::uint32_t* ids, const std::uint32_t* slots);
  /// Adds the contacts of the grains in all slots. Synchronizes.
  void add_contacts(int set, const std::vector<particle_id>& ids, granular_friction_state<T>& state);
  [[nodiscard]] std::size_t bytes() const;

 private:
  Context context_;
  std::uint32_t layers_;
  triangles_on_device<Context, T> triangles_;
  array<std::uint32_t, Context> materials_;
  array<std::uint32_t, Context> counts_;
  array<std::uint64_t, Context> offsets_[2];
  array<std::uint32_t, Context> partners_[2];
  array<contact_memory<T>, Context> memories_[2];
  workspace<Context> scratch_;
};

template <typename Context, typename T>
void friction_mesh_rows<Context, T>::set(int set, std::size_t grains,
                                         const std::vector<granular_contact_memory<T>>& contacts) {
  if (empty()) return;
  std::vector<std::uint64_t> offsets(grains + 1, 0);
  std::vector<std::uint32_t> partners;
  std::vector<contact_memory<T>> memories;
  for (const granular_contact_memory<T>& one : contacts) {
    if (one.second < first_granular_triangle) continue;
    ++offsets[one.first + 1];
    partners.push_back((one.second - first_granular_triangle) | remembers);
    const contact_memory<T> layers[] = {{one.displacement, one.scale}, {one.rolling, 0}};
    memories.insert(memories.end(), layers, layers + layers_);
  }
  for (std::size_t i = 0; i < grains; ++i) offsets[i + 1] += offsets[i];
  offsets_[set] = to_device(context_, offsets);
  partners_[set] = to_device(context_, partners);
  memories_[set] = to_device(context_, memories);
  context_.synchronize();
}

template <typename Context, typename T>
bool friction_mesh_rows<Context, T>::rebuild(int to, std::size_t grains, const vec<T, 3>* positions, const T* radii,
                                             T skin, const std::uint32_t* ids, const std::uint32_t* slots) {
  if (empty()) return false;
  counts_.resize_discarding(context_, grains);
  offsets_[to].resize_discarding(context_, grains + 1);
  const friction_near_triangles<T> near{triangles_.store(), positions, radii, skin};
  for_each(context_, "friction.meshes.count", grains, count_near_triangles<T>{near, counts_.data()});
  exclusive_scan_with_total(context_, counts_.data(), offsets_[to].data(), grains, scratch_);
  const std::uint64_t entries = to_host(context_, offsets_[to].data() + grains, 1)[0];
  const bool grows = std::min(partners_[to].size(), memories_[to].size() / layers_) < entries;
  if (grows) {
    const std::uint64_t room = entries + entries / 4;
    partners_[to].resize_discarding(context_, room);
    memories_[to].resize_discarding(context_, room * layers_);
  }
  for_each(context_, "friction.meshes.list", grains,
           list_near_triangles<T>{near, ids, slots, view(1 - to), view(to), layers_});
  return grows;
}

template <typename Context, typename T>
void friction_mesh_rows<Context, T>::add_contacts(int set, const std::vector<particle_id>& ids,
                                                  granular_friction_state<T>& state) {
  if (empty()) return;
  const auto offsets = to_host(context_, offsets_[set].data(), ids.size() + 1);
  const auto partners = to_host(context_, partners_[set].data(), offsets.back());
  const auto memories = to_host(context_, memories_[set].data(), offsets.back() * layers_);
  for (std::size_t slot = 0; slot < ids.size(); ++slot) {
    for (std::uint64_t entry = offsets[slot]; entry < offsets[slot + 1]; ++entry) {
      if ((partners[entry] & remembers) == 0) continue;
      state.contacts.push_back(remembered(ids[slot], first_granular_triangle + (partners[entry] & ~remembers),
                                          &memories[entry * layers_], 1, layers_));
    }
  }
}

template <typename Context, typename T>
std::size_t friction_mesh_rows<Context, T>::bytes() const {
  std::size_t sum = triangles_.bytes() + materials_.bytes() + counts_.bytes() + scratch_.bytes();
  for (int set = 0; set < 2; ++set) sum += offsets_[set].bytes() + partners_[set].bytes() + memories_[set].bytes();
  return sum;
}

}  // namespace quadrat::detail

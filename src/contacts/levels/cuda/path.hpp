// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cells/counting_build.hpp"
#include "contacts/engine.hpp"
#include "contacts/levels/cuda/search.hpp"
#include "contacts/levels/plan.hpp"
#include "parallel/host_mirror.hpp"
#include "quadrat/cells/counting.hpp"
#include "quadrat/contacts/contact.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/scan.hpp"

/// The direct search of the method `levels` on CUDA, for spheres alone and ellipsoids alone: cells, bodies in the order
/// of cells, one search, and one read back.
namespace quadrat::detail {

/// Index: body -> the radius that determines its level; 0 for an invalid body.
template <typename T>
struct searched_radius {
  bodies_view<T> bodies;

  QUADRAT_HD T operator()(std::size_t i) const {
    const vec<T, 3> size = bodies.size_of(i);
    return sizes_are_sound(bodies.shape, size, T(1)) ? bounding_radius(bodies.shape, size) : T(0);
  }
};

/// The cell of a body; notes whether it is far. Raises a fault for an invalid body, or one larger than planned; the
/// host determines which.
template <typename T>
struct searched_cell {
  bodies_view<T> bodies;
  level_grids<T> grids;
  T widest;
  fault_flag faults;
  std::uint64_t* far;  ///< set by any thread

  struct element {
    vec<T, 3> center;
    vec<T, 3> size;
    T squared_orientation;
    std::uint32_t group;
  };

  QUADRAT_HD cell_id operator()(std::size_t i) const { return at(i, read(i)); }
  [[nodiscard]] QUADRAT_HD element read(std::size_t i) const {
    return {bodies.centers[i], bodies.size_of(i),
            bodies.orientations != nullptr ? squared_norm(bodies.orientations[i]) : T(1),
            bodies.groups != nullptr ? bodies.groups[i] : 0};
  }
  [[nodiscard]] QUADRAT_HD cell_id at(std::size_t i, const element& given) const {
    const box<T, 3>& domain = grids.space[0].domain;
    const T radius = bounding_radius(bodies.shape, given.size);
    bool sound = sizes_are_sound(bodies.shape, given.size, given.squared_orientation) && given.group < 32;
    for (int axis = 0; axis < 3; ++axis) {
      sound = sound && std::isfinite(given.center[axis]);
      sound = sound && !(domain.periodic[axis] && T(4) * radius > domain.length[axis]);
    }
    sound = sound && !too_far(domain, given.center);
    if (sound && radius <= widest) {
      const vec<T, 3> center = domain.wrap(given.center);
      if (grids.is_far(center, radius)) *far = 1;
      return grids.cell_of(center, radius);
    }
    faults.raise(fault_kind::value_range, i);
    return 0;
  }
};

/// Index: slot. If searched_cell has raised a fault, every body becomes a point in a corner of the domain: the search
/// runs before the host sees the fault, and invalid numbers must not lead it outside its arrays.
template <typename T>
struct gather_searched {
  bodies_view<T> bodies;
  box<T, 3> domain;
  const particle_id* ids;
  const std::uint64_t* fault;
  warp_body<T>* records;
  warp_ellipsoid<T>* ellipsoids;
  vec<T, 3>* half_extents;
  std::uint32_t* groups;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const particle_id id = ids[slot];
    if (*fault != ~std::uint64_t{0}) {
      records[slot] = {domain.lower, T(0)};
      if (groups != nullptr) groups[slot] = 0;
      return;
    }
    const vec<T, 3> size = bodies.size_of(id);
    records[slot] = {domain.wrap(bodies.centers[id]), bounding_radius(bodies.shape, size)};
    if (groups != nullptr) groups[slot] = bodies.groups[id];
    if (ellipsoids == nullptr) return;
    const body<T> own = bodies[id];
    ellipsoids[slot] = {own.size, own.orientation};
    half_extents[slot] = quadrat::half_extents(own);
  }
};

#if defined(__CUDACC__)

template <typename T>
class warp_path final : public direct_search<cuda_context, T> {
 public:
  explicit warp_path(const cuda_context& context) : context_(context) {}

  [[nodiscard]] bool serves(const bodies_view<T>& bodies) const override {
    return bodies.size() > 0 && bodies.shapes == nullptr &&
           (bodies.shape == body_shape::sphere || bodies.shape == body_shape::ellipsoid);
  }
  /// If bodies have individual sizes, which may change, a plan is kept for some builds only. If the order of contacts
  /// must depend on the input alone, it is never kept.
  [[nodiscard]] bool planned_for(const bodies_view<T>& bodies) override {
    const bool one_size = bodies.radii == nullptr && bodies.sizes == nullptr;
    if (!planned_ || bodies.shape != shape_ || bodies.radius != radius_) return false;
    if (bodies.size() > 2 * planned_count_ || 2 * bodies.size() < planned_count_) return false;
    return context_.reproducibility() == determinism::none && (one_size || ++builds_ < builds_of_a_plan);
  }
  [[nodiscard]] planned_bins<T> plan(const bodies_view<T>& bodies, const box<T, 3>& domain, T bin_size) override;
  [[nodiscard]] std::optional<std::uint64_t> find(const bodies_view<T>& bodies, const pair_masks& masks,
                                                  array<contact<T>, cuda_context>& contacts) override;
  [[nodiscard]] std::size_t bytes() const override {
    return buckets_.bytes() + records_.bytes() + ellipsoids_.bytes() + half_extents_.bytes() + groups_.bytes() +
           planes_.bytes() + control_.bytes() + counts_.bytes() + begins_.bytes() + scratch_.bytes();
  }

 private:
  static constexpr int builds_of_a_plan = 100;
  enum control_word : std::size_t { size_word, far_word, fault_word, needed_word, control_words };

  void begin(const bodies_view<T>& bodies);
  void enqueue_cells(const bodies_view<T>& bodies);
  [[nodiscard]] warp_search<T> search(const bodies_view<T>& bodies, const pair_masks& masks) const;
  [[nodiscard]] std::optional<std::uint64_t> append(const warp_search<T>& what,
                                                    array<contact<T>, cuda_context>& contacts);
  [[nodiscard]] std::optional<std::uint64_t> fill(const warp_search<T>& what,
                                                  array<contact<T>, cuda_context>& contacts);

  cuda_context context_;
  bool planned_ = false;
  body_shape shape_ = body_shape::sphere;
  T radius_ = T(0);
  std::size_t planned_count_ = 0;
  level_grids<T> grids_{};
  int builds_ = 0;

  counting_buckets<cuda_context> buckets_;
  array<warp_body<T>, cuda_context> records_;
  array<warp_ellipsoid<T>, cuda_context> ellipsoids_;
  array<vec<T, 3>, cuda_context> half_extents_;
  array<std::uint32_t, cuda_context> groups_;
  array<plane<T>, cuda_context> planes_;
  array<std::uint64_t, cuda_context> control_;
  host_mirror<cuda_context> mirror_;
  array<std::uint32_t, cuda_context> counts_;
  array<std::uint64_t, cuda_context> begins_;
  workspace<cuda_context> scratch_;
};

template <typename T>
planned_bins<T> warp_path<T>::plan(const bodies_view<T>& bodies, const box<T, 3>& domain, T bin_size) {
  planned_ = false;
  size_histogram<T> sizes;
  if (bodies.radii == nullptr && bodies.sizes == nullptr) {
    sizes = histogram_of_one_size(bodies.radius, bodies.size());
  } else {
    array<std::uint64_t, cuda_context> words(context_, size_classes + 1);
    fill_bytes(context_, words.data(), 0, words.bytes());
    bodies_view<T> on_device = bodies;
    on_device.planes = {};
    const count_sizes<T, searched_radius<T>> body{
        {on_device}, bodies.size(), words.data(), words.data() + size_classes};
    for_each(context_, "contacts.levels.sizes", (bodies.size() + count_sizes_share - 1) / count_sizes_share, body);
    const std::vector<std::uint64_t> read = to_host(context_, words);
    sizes = size_histogram_of<T>(read.data(), read[size_classes]);
  }
  level_plan<T> plan = plan_levels(domain, sizes, bin_size);
  grids_ = plan.grids;
  builds_ = 0;
  shape_ = bodies.shape;
  radius_ = bodies.radius;
  planned_count_ = bodies.size();
  planned_ = true;
  return {plan.finest_edge, std::move(plan.reason)};
}

template <typename T>
void warp_path<T>::begin(const bodies_view<T>& bodies) {
  const std::size_t count = bodies.size();
  records_.resize_discarding(context_, count);
  if (bodies.shape == body_shape::ellipsoid) {
    ellipsoids_.resize_discarding(context_, count);
    half_extents_.resize_discarding(context_, count);
  }
  if (bodies.groups != nullptr) groups_.resize_discarding(context_, count);
  if (control_.size() == 0) {
    control_.resize_discarding(context_, control_words);
    fill_bytes(context_, control_.data(), 0xff, control_.bytes());
  }
  fill_bytes(context_, control_.data() + size_word, 0, 2 * sizeof(std::uint64_t));  // and far_word
  if (bodies.planes.empty()) return;
  planes_.resize_discarding(context_, bodies.planes.size());
  copy_bytes(context_, bodies.planes.data(), planes_.data(), bodies.planes.size_bytes());
}

template <typename T>
void warp_path<T>::enqueue_cells(const bodies_view<T>& bodies) {
  bodies_view<T> on_device = bodies;
  on_device.planes = {};
  const fault_flag faults{control_.data() + fault_word, control_.data() + needed_word};
  const level_grids<T>& grids = grids_;
  const auto last = static_cast<std::size_t>(grids.count);
  buckets_.build(context_, bodies.size(), grids.first_cell[last],
                 searched_cell<T>{on_device, grids, grids.widest[last - 1], faults, control_.data() + far_word},
                 faults);
  const bool turned = bodies.shape == body_shape::ellipsoid;
  const gather_searched<T> body{on_device,
                                grids.space[0].domain,
                                buckets_.view().elements,
                                control_.data() + fault_word,
                                records_.data(),
                                turned ? ellipsoids_.data() : nullptr,
                                half_extents_.data(),
                                bodies.groups != nullptr ? groups_.data() : nullptr};
  for_each(context_, "contacts.levels.gather", bodies.size(), body);
}

template <typename T>
warp_search<T> warp_path<T>::search(const bodies_view<T>& bodies, const pair_masks& masks) const {
  warp_search<T> result{};
  const level_grids<T>& grids = grids_;
  result.level_count = grids.count;
  for (int level = 0; level < grids.count; ++level) result.levels[level] = warp_level_of(grids, level);
  result.domain = grids.space[0].domain;
  result.offsets = buckets_.view().offsets;
  result.records = records_.data();
  result.ids = buckets_.view().elements;
  result.ellipsoids = bodies.shape == body_shape::ellipsoid ? ellipsoids_.data() : nullptr;
  result.half_extents = half_extents_.data();
  result.groups = bodies.groups != nullptr ? groups_.data() : nullptr;
  result.far = control_.data() + far_word;
  result.planes = planes_.data();
  result.plane_count = static_cast<std::uint32_t>(bodies.planes.size());
  result.count = static_cast<std::uint32_t>(bodies.size());
  result.centers = bodies.centers;
  for (std::size_t group = 0; group < masks.size(); ++group) result.masks[group] = masks[group];
  return result;
}

template <typename T>
std::optional<std::uint64_t> warp_path<T>::find(const bodies_view<T>& bodies, const pair_masks& masks,
                                                array<contact<T>, cuda_context>& contacts) {
  begin(bodies);
  enqueue_cells(bodies);
  const warp_search<T> what = search(bodies, masks);
  const bool in_order = context_.reproducibility() != determinism::none;
  return in_order ? fill(what, contacts) : append(what, contacts);
}

/// Appends contacts in any order; repeats the search if there was not enough room.
template <typename T>
std::optional<std::uint64_t> warp_path<T>::append(const warp_search<T>& what,
                                                  array<contact<T>, cuda_context>& contacts) {
  while (true) {
    search_by_warps(context_, what, {contacts.data(), contacts.size(), control_.data() + size_word, nullptr, nullptr});
    const std::uint64_t* words = mirror_.read(context_, control_.data(), control_words);
    if (words[fault_word] != ~std::uint64_t{0}) {
      fill_bytes(context_, control_.data(), 0xff, control_.bytes());
      return std::nullopt;
    }
    const std::uint64_t found = words[size_word];
    if (found <= contacts.size()) return found;
    contacts.resize_discarding(context_, found + found / 16);
    fill_bytes(context_, control_.data() + size_word, 0, sizeof(std::uint64_t));
  }
}

/// Counts by chunk, then writes each chunk at its offset.
template <typename T>
std::optional<std::uint64_t> warp_path<T>::fill(const warp_search<T>& what, array<contact<T>, cuda_context>& contacts) {
  const std::size_t chunks = (what.count + warp_chunk - 1) / warp_chunk;
  counts_.resize_discarding(context_, chunks);
  begins_.resize_discarding(context_, chunks + 1);
  search_by_warps(context_, what, {nullptr, 0, nullptr, nullptr, counts_.data()});
  exclusive_scan_with_total(context_, counts_.data(), begins_.data(), chunks, scratch_);
  const std::uint64_t found = mirror_.read(context_, begins_.data() + chunks, 1)[0];
  if (mirror_.read(context_, control_.data() + fault_word, 1)[0] != ~std::uint64_t{0}) {
    fill_bytes(context_, control_.data(), 0xff, control_.bytes());
    return std::nullopt;
  }
  if (found > contacts.size()) contacts.resize_discarding(context_, found + found / 16);
  search_by_warps(context_, what, {contacts.data(), contacts.size(), nullptr, begins_.data(), nullptr});
  return found;
}

#endif

}  // namespace quadrat::detail

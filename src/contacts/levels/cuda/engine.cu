// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/levels/cuda/engine.hpp"

#include <cmath>
#include <vector>

#include "cells/counting_build.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/scan.hpp"

namespace quadrat::detail {

namespace {

/// Index: body -> the radius that determines its level; 0 for an invalid body.
template <typename T>
struct searched_radius {
  bodies_view<T> bodies;

  QUADRAT_HD T operator()(std::size_t i) const {
    const vec<T, 3> size = bodies.size_of(i);
    return sizes_are_sound(bodies.shape, size, T(1)) ? bounding_radius(bodies.shape, size) : T(0);
  }
};

/// Whether bounding spheres cannot touch two images of another.
template <typename T>
[[nodiscard]] QUADRAT_HD bool spheres_fit(const box<T, 3>& domain, T radius) {
  bool fit = true;
  for (int axis = 0; axis < 3; ++axis) fit = fit && !(domain.periodic[axis] && T(4) * radius > domain.length[axis]);
  return fit;
}

/// The cell of a body; notes whether it is far, or wider than planned. Raises a fault for an invalid body, and for one
/// that does not fit the plan.
template <typename T>
struct searched_cell {
  bodies_view<T> bodies;
  level_grids<T> grids;
  plan_limits<T> limits;
  fault_flag faults;
  std::uint64_t* far;  ///< set by any thread
  std::uint64_t* largest;

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
    const box<T, 3>& domain = grids.domain;
    const T radius = bounding_radius(bodies.shape, given.size);
    bool sound = sizes_are_sound(bodies.shape, given.size, given.squared_orientation) && given.group < 32;
    for (int axis = 0; axis < 3; ++axis) sound = sound && std::isfinite(given.center[axis]);
    sound = sound && !too_far(domain, given.center);
    if (!sound) {
      faults.raise(fault_kind::value_range, i);
      return 0;
    }
    const vec<T, 3> center = domain.wrap(given.center);
    if (!limits.hold(center, radius) || !spheres_fit(domain, radius))
      faults.raise(fault_kind::value_range, misfit_fault_base + i);
    limits.note_width(radius, largest);
    if (radius > limits.widest || grids.is_far(center, radius)) *far = 1;
    return grids.cell_of(center, radius);
  }
};

/// Index: slot. If searched_cell has raised a fault, every body becomes a point in a corner of the domain. The search
/// runs before the host sees the fault, and invalid numbers must not lead outside its arrays.
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

/// Whether warps search such bodies.
template <typename T>
[[nodiscard]] bool of_one_round_shape(const bodies_view<T>& bodies) {
  return bodies.shapes == nullptr && (bodies.shape == body_shape::sphere || bodies.shape == body_shape::ellipsoid);
}

}  // namespace

/// Ellipsoids are on the levels of their bounding spheres. If these are too long for a periodic box, but the
/// ellipsoids' boxes are not, boxes are searched.
template <typename T>
planned_bins<T> warp_levels_engine<T>::plan(const placed_bodies<cuda_context, T>& bodies,
                                            const bin_options<T>& options) {
  const bodies_view<T>& given = options.given;
  by_warps_ = given.size() > 0 && of_one_round_shape(given);
  if (!by_warps_ || given.spheres()) return this->plan_for(bodies.domain, *bodies.sizes, options.size);
  const cuda_context& context = this->context();
  sizes_.resize_discarding(context, size_classes + 1);
  fill_bytes(context, sizes_.data(), 0, sizes_.bytes());
  const count_sizes<T, searched_radius<T>> body{{given}, given.size(), sizes_.data(), sizes_.data() + size_classes};
  for_each(context, "contacts.levels.sizes", (given.size() + count_sizes_share - 1) / count_sizes_share, body);
  const std::vector<std::uint64_t> read = to_host(context, sizes_);
  const size_histogram<T> spheres = size_histogram_of<T>(read.data(), read[size_classes]);
  by_warps_ = spheres_fit(bodies.domain, spheres.largest);
  return this->plan_for(bodies.domain, by_warps_ ? spheres : *bodies.sizes, options.size);
}

template <typename T>
void warp_levels_engine<T>::find_contacts(contact_task<cuda_context, T>& task) {
  if (!by_warps_ || !of_one_round_shape(task.bodies())) return levels_engine<cuda_context, T>::find_contacts(task);
  put_in_cells(task);
  this->context().reproducibility() != determinism::none ? fill(task) : append(task);
}

template <typename T>
void warp_levels_engine<T>::put_in_cells(contact_task<cuda_context, T>& task) {
  const cuda_context& context = this->context();
  const bodies_view<T>& bodies = task.bodies();
  const std::size_t count = bodies.size();
  const bool turned = bodies.shape == body_shape::ellipsoid;
  records_.resize_discarding(context, count);
  if (turned) {
    ellipsoids_.resize_discarding(context, count);
    half_extents_.resize_discarding(context, count);
  }
  if (bodies.groups != nullptr) groups_.resize_discarding(context, count);
  search_control<cuda_context>& control = task.control();
  const fault_flag faults = control.faults();
  const level_grids<T>& grids = this->levels_;
  cells_.build(
      context, count, grids.first_cell[grids.count],
      searched_cell<T>{bodies, grids, task.limits(), faults, control.data(search_control<cuda_context>::far_word),
                       control.data(search_control<cuda_context>::largest_word)},
      faults);
  for_each(context, "contacts.levels.gather", count,
           gather_searched<T>{bodies, grids.domain, cells_.view().elements, faults.first, records_.data(),
                              turned ? ellipsoids_.data() : nullptr, half_extents_.data(),
                              bodies.groups != nullptr ? groups_.data() : nullptr});
}

template <typename T>
warp_search<T> warp_levels_engine<T>::search_of(contact_task<cuda_context, T>& task) const {
  const bodies_view<T>& bodies = task.bodies();
  const level_grids<T>& grids = this->levels_;
  warp_search<T> result{};
  result.level_count = grids.count;
  for (int level = 0; level < grids.count; ++level) result.levels[level] = warp_level_of(grids, level);
  result.domain = grids.domain;
  result.offsets = cells_.view().offsets;
  result.records = records_.data();
  result.ids = cells_.view().elements;
  result.ellipsoids = bodies.shape == body_shape::ellipsoid ? ellipsoids_.data() : nullptr;
  result.half_extents = half_extents_.data();
  result.groups = bodies.groups != nullptr ? groups_.data() : nullptr;
  result.far = task.control().data(search_control<cuda_context>::far_word);
  result.largest = task.control().data(search_control<cuda_context>::largest_word);
  result.planes = task.planes().data();
  result.plane_count = static_cast<std::uint32_t>(task.planes().size());
  result.count = static_cast<std::uint32_t>(bodies.size());
  result.centers = bodies.centers;
  for (std::size_t group = 0; group < 32; ++group) result.masks[group] = task.groups().masks[group];
  return result;
}

/// Writes contacts in any order. Searches again if the room was too small, and finds the same number.
template <typename T>
void warp_levels_engine<T>::append(contact_task<cuda_context, T>& task) {
  const warp_search<T> what = search_of(task);
  std::uint64_t* const size = task.control().data(search_control<cuda_context>::contacts_word);
  const std::size_t room = task.records().size();
  search_by_warps(this->context(), what, {task.records().data(), room, size, nullptr, nullptr});
  task.settle(size);
  if (task.records().size() == room) return;
  fill_bytes(this->context(), size, 0, sizeof(std::uint64_t));
  search_by_warps(this->context(), what, {task.records().data(), task.records().size(), size, nullptr, nullptr});
}

/// Counts by chunk, then writes each chunk at its offset.
template <typename T>
void warp_levels_engine<T>::fill(contact_task<cuda_context, T>& task) {
  const cuda_context& context = this->context();
  const warp_search<T> what = search_of(task);
  const std::size_t chunks = (what.count + warp_chunk - 1) / warp_chunk;
  counts_.resize_discarding(context, chunks);
  begins_.resize_discarding(context, chunks + 1);
  search_by_warps(context, what, {nullptr, 0, nullptr, nullptr, counts_.data()});
  exclusive_scan_with_total(context, counts_.data(), begins_.data(), chunks, scratch_);
  task.settle(begins_.data() + chunks);
  search_by_warps(context, what, {task.records().data(), task.records().size(), nullptr, begins_.data(), nullptr});
}

template <typename T>
std::size_t warp_levels_engine<T>::bytes() const {
  return levels_engine<cuda_context, T>::bytes() + cells_.bytes() + records_.bytes() + ellipsoids_.bytes() +
         half_extents_.bytes() + groups_.bytes() + sizes_.bytes() + counts_.bytes() + begins_.bytes() +
         scratch_.bytes();
}

template class warp_levels_engine<float>;
template class warp_levels_engine<double>;

}  // namespace quadrat::detail

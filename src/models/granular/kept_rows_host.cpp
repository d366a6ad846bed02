// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/kept_rows.hpp"

#include <algorithm>
#include <atomic>

#include "parallel/partition.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/for_each_part.hpp"

namespace quadrat::detail {

namespace {

/// Cells as wide as the reach, in the box of `finest`.
template <typename T>
[[nodiscard]] grid<T, 3> grid_for_rows(const grid<T, 3>& finest, T reach) {
  return make_grid_for_cutoff(finest.domain, reach, any_number_of_cells);
}

template <typename T>
[[nodiscard]] T reach_of(const cell_list_options<T>& options) {
  return options.fold_reach * static_cast<T>(1 + kept_rows<T>::skin);
}

template <typename T>
[[nodiscard]] cell_list_options<T> with_reach(cell_list_options<T> options) {
  options.fold_reach = reach_of(options);
  return options;
}

}  // namespace

template <typename T>
template <bool Carried>
bool row_lists<T>::make(const cpu_context& context, const cells_view& cells, const grain_records<T>& grains,
                        std::size_t count, T reach) {
  constexpr std::size_t least_of_part = 256;
  const partition parts = partition_for(context, count, least_of_part);
  rows_.resize(count);
  lists_.resize(parts.parts);
  std::atomic<bool> crowded = false;
  for_each_part(context.threads(), parts.parts, [&](std::size_t part) {
    if (!list_part<Carried>(cells, grains, part, parts.first(part), parts.last(part), reach)) crowded = true;
  });
  return !crowded;
}

/// Returns false if grains are too crowded.
template <typename T>
template <bool Carried>
bool row_lists<T>::list_part(const cells_view& cells, const grain_records<T>& grains, std::size_t part,
                             std::size_t first, std::size_t last, T reach) {
  std::vector<std::uint32_t>& list = lists_[part];
  list.clear();
  std::vector<std::uint64_t> near;  // id and slot
  const std::size_t most = memory_of_row * (last - first);
  for (std::size_t slot = first; slot < last; ++slot) {
    const vec<T, 3> here = grains.positions[slot].position;
    near.clear();
    for_each_near<Carried>(cells, grains.positions, here, reach, [&](std::uint32_t other, const vec<T, 3>& there) {
      if (other == slot || !(squared_norm(there - here) < reach * reach)) return;
      near.push_back(std::uint64_t{grains.velocities[other].id} << 32 | other);
    });
    if (list.size() + near.size() > most) return false;
    std::sort(near.begin(), near.end());
    for (const std::uint64_t one : near) list.push_back(static_cast<std::uint32_t>(one));
    rows_[slot].count = near.size();
  }
  const std::uint32_t* next = list.data();
  for (std::size_t slot = first; slot < last; next += rows_[slot++].count) rows_[slot].first = next;
  return true;
}

template <typename T>
std::size_t row_lists<T>::bytes() const {
  std::size_t sum = rows_.capacity() * sizeof(kept_row);
  for (const auto& list : lists_) sum += list.capacity() * sizeof(list[0]);
  return sum;
}

template <typename T>
kept_rows<T>::kept_rows(const cpu_context& context, const grid<T, 3>& finest, const cell_list_options<T>& options)
    : context_(context),
      reach_(reach_of(options)),
      cells_(context, grid_for_rows(finest, reach_), with_reach(options)) {
  // A little less than half, for rounding.
  const T limit = static_cast<T>(0.49 * skin) * options.fold_reach;
  squared_limit_ = limit * limit;
}

template <typename T>
void kept_rows<T>::build_and_carry_async(const points_view<T, 3>& points, std::span<const carried_array> arrays) {
  if (usable_ && homes_.size() == points.count && carry_if_near(arrays, points.count)) return;
  usable_ = false;
  cells_.build_and_carry_async(points, arrays);
  const grain_records<T> grains{static_cast<packed_record<T, 3>*>(arrays[0].to),
                                static_cast<velocity_record<T>*>(arrays[1].to)};
  homes_.resize(points.count);
  for_each(context_, "granular.homes", points.count, [&](std::size_t slot) {
    homes_[slot] = {grains.positions[slot].position, grains.velocities[slot].id};
  });
  usable_ = rows_.template make<true>(context_, cells_.view(), grains, points.count, reach_);
}

/// Copies the grains in the kept order; false if a grain is not the one of its place, or has moved too far.
template <typename T>
bool kept_rows<T>::carry_if_near(std::span<const carried_array> arrays, std::size_t count) const {
  const auto* const positions = static_cast<const packed_record<T, 3>*>(arrays[0].from);
  const auto* const velocities = static_cast<const velocity_record<T>*>(arrays[1].from);
  auto* const to_positions = static_cast<packed_record<T, 3>*>(arrays[0].to);
  auto* const to_velocities = static_cast<velocity_record<T>*>(arrays[1].to);
  std::atomic<bool> far = false;
  for_each(context_, "granular.kept", count, [&](std::size_t slot) {
    to_positions[slot] = positions[slot];
    to_velocities[slot] = velocities[slot];
    const home& before = homes_[slot];
    const bool near = squared_norm(positions[slot].position - before.position) <= squared_limit_;
    if (!near || velocities[slot].id != before.id) far.store(true, std::memory_order_relaxed);
  });
  return !far.load();
}

template <typename T>
std::size_t kept_rows<T>::bytes() const {
  return cells_.bytes() + homes_.capacity() * sizeof(home) + rows_.bytes();
}

#define QUADRAT_INSTANTIATE(T)                                                                                         \
  template class row_lists<T>;                                                                                         \
  template bool row_lists<T>::make<true>(const cpu_context&, const cells_view&, const grain_records<T>&, std::size_t,  \
                                         T);                                                                           \
  template bool row_lists<T>::make<false>(const cpu_context&, const cells_view&, const grain_records<T>&, std::size_t, \
                                          T);                                                                          \
  template class kept_rows<T>;
QUADRAT_INSTANTIATE(float)
QUADRAT_INSTANTIATE(double)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat::detail

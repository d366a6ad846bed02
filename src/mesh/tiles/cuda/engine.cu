// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cuda/engine.hpp"

#include <algorithm>

#include "mesh/tiles/cuda/units.hpp"
#include "parallel/block_scan.cuh"
#include "quadrat/parallel/cuda_launch.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/scan.hpp"

namespace quadrat::detail {

namespace {

/// Index: slot.
struct write_segments {
  segment_share share;
  std::size_t segments;
  std::uint32_t* segment_of_slot;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const std::size_t segment =
        segment_of(segments, static_cast<std::uint32_t>(slot), [&](std::size_t s) { return share.begin(s); });
    segment_of_slot[slot] = static_cast<std::uint32_t>(segment);
  }
};

/// Up to this many segments one block makes the units of all, in one launch instead of three.
constexpr std::size_t one_block_segments = 8192;
constexpr unsigned one_block_threads = 1024;

__global__ void __launch_bounds__(one_block_threads)
    make_units_kernel(const __grid_constant__ segment_share share, std::uint32_t count, std::uint32_t* firsts,
                      tile_unit* units) {
  __shared__ std::uint32_t warp_sums[one_block_threads / 32];
  const std::uint32_t each = (count + one_block_threads - 1) / one_block_threads;
  const std::uint32_t begin = min(threadIdx.x * each, count), end = min(begin + each, count);
  std::uint32_t sum = 0;
  for (std::uint32_t i = begin; i < end; ++i) sum += share.pieces(i);
  std::uint32_t before = block_exclusive_sum(sum, warp_sums);
  for (std::uint32_t i = begin; i < end; ++i) {
    firsts[i] = before;
    before += share.pieces(i);
  }
  if (threadIdx.x == one_block_threads - 1) firsts[count] = before;
  __syncthreads();
  const fill_units fill{share, count, firsts, units};
  const std::uint32_t total = firsts[count];
  for (std::uint32_t unit = threadIdx.x; unit < total; unit += one_block_threads) fill(unit);
}

}  // namespace

template <typename T>
std::size_t cuda_tiles_engine<T>::bytes_needed(std::size_t count) const {
  const tile_plan plan = plan_tiles(setup_.shape, setup_.options.clip, count, in_order());
  return count * (sizeof(tile_record<T>) + sizeof(std::uint32_t)) +
         (plan.most_units + plan.most_sliced_units) * sizeof(tile_unit) +
         (plan.most_extras(count) + 1) * sizeof(tile_extra) +
         tile_sorter<T>::bytes_needed(count, plan.grid.tile_count(), in_order()) +
         ((plan.grid.slices > 1 ? 2 : 1) * plan.grid.tile_count() + 2 * plan.grid.segment_count()) *
             sizeof(std::uint32_t) +
         plan.crowds.most_extras * (sizeof(tile_extra) + sizeof(tile_crowd)) +
         (plan.crowd_size() + (adds_shares(plan) ? plan.share_size() : 0)) * sizeof(T);
}

template <typename T>
void cuda_tiles_engine<T>::set_points(const point_placement<T>& points) {
  plan_ = plan_tiles(setup_.shape, points.clip, points.count, in_order());
  planned_ = points.count;
  set_points_async(points);
}

/// The plan is kept, so that fewer points never need more memory.
template <typename T>
void cuda_tiles_engine<T>::set_points_async(const point_placement<T>& points) {
  count_ = points.count;
  if (count_ == 0) return;
  records_.resize_discarding(context_, count_);
  offsets_ = sorter_.sort(context_, plan_.grid, points, planned_, in_order(), records_.data());
  // If only meshes that patches cannot read need units, each such call makes them.
  const bool holds_units = units_.units.size() >= plan_.most_units && units_.firsts.size() > plan_.grid.segment_count();
  if (plan_.needs_units() && !(makes_units_to_read() && holds_units)) make_units();
  if (adds_shares(plan_)) share_sums_.resize_discarding(context_, plan_.share_size());
  find_shares();
  if (plan_.reading == tile_reading::points) fill_segments();
  if (plan_.reading == tile_reading::cubes) segments_.resize_discarding(context_, count_);
}

template <typename T>
void cuda_tiles_engine<T>::fill_segments() {
  segments_.resize_discarding(context_, count_);
  for_each(
      context_, "mesh.tiles.segments", count_,
      write_segments{{plan_.grid, offsets_, plan_.unit_points, false}, plan_.grid.segment_count(), segments_.data()});
}

template <typename T>
void cuda_tiles_engine<T>::find_shares() {
  const bool collecting = plan_.crowds.most_extras > 0;
  const bool reading = sizeof(T) == sizeof(float) && !(setup_.details.real && reads_real_by_tiles());
  const tile_patches patches = reading ? plan_.patches : tile_patches{};
  if (!collecting && !patches.any()) return;
  if (collecting) {
    crowd_extras_.resize_discarding(context_, plan_.crowds.most_extras);
    crowds_.resize_discarding(context_, plan_.crowds.most_extras);
    share_sums_.resize_discarding(context_, plan_.crowd_size());
  }
  if (patches.any()) extras_.resize_discarding(context_, plan_.most_extras(count_));
  share_counts_.resize_discarding(context_, 1);
  find_tile_shares(context_, plan_.grid, offsets_, plan_.crowds, crowd_extras_.data(), crowds_.data(), patches,
                   extras_.data(), share_counts_.data());
}

template <typename T>
void cuda_tiles_engine<T>::make_units() {
  make_units(false, plan_.most_units, units_);
  if (plan_.grid.slices > 1) make_units(true, plan_.most_sliced_units, sliced_units_);
}

template <typename T>
void cuda_tiles_engine<T>::make_units(bool sliced, std::size_t most, unit_list& list) {
  const segment_share share{plan_.grid, offsets_, plan_.unit_points, sliced};
  const std::size_t count = share.count();
  list.firsts.resize_discarding(context_, count + 1);
  list.units.resize_discarding(context_, most);
  if (count <= one_block_segments && most <= 4 * one_block_segments) {
    const cuda_launch launch(context_, "mesh.tiles.units");
    make_units_kernel<<<1, one_block_threads, 0, context_.stream()>>>(share, static_cast<std::uint32_t>(count),
                                                                      list.firsts.data(), list.units.data());
    return launch.check();
  }
  for_each(context_, "mesh.tiles.count_units", count, count_units{share, list.firsts.data()});
  exclusive_scan_with_total(context_, list.firsts.data(), list.firsts.data(), count, scratch_);
  for_each(context_, "mesh.tiles.units", most, fill_units{share, count, list.firsts.data(), list.units.data()});
}

/// `sliced`: for writing results, not for reading values.
template <typename T>
tile_problem<T> cuda_tiles_engine<T>::problem(bool sliced) const {
  const bool in_slices = sliced && plan_.grid.slices > 1;
  const unit_list& list = in_slices ? sliced_units_ : units_;
  const std::size_t parts = plan_.grid.segment_count() * static_cast<std::size_t>(in_slices ? plan_.grid.slices : 1);
  return {plan_.grid,
          setup_.window,
          records_.data(),
          static_cast<std::uint32_t>(count_),
          offsets_,
          segments_.data(),
          list.units.data(),
          plan_.needs_units() ? list.firsts.data() + parts : nullptr,
          static_cast<std::uint32_t>(in_slices ? plan_.most_sliced_units : plan_.most_units)};
}

template <typename T>
tile_crowd_shares<T> cuda_tiles_engine<T>::crowd_shares() const {
  return {plan_.crowds.share,   plan_.crowds.most_extras, &share_counts_.data()->crowds,
          crowd_extras_.data(), crowds_.data(),           const_cast<T*>(share_sums_.data())};
}

/// Two channels from `channel`, or the last one.
template <typename T>
tile_channels<T> cuda_tiles_engine<T>::channels_of(const value_layout& layout, int channel, const T* values,
                                                   const T* mesh) const {
  tile_channels<T> channels{};
  channels.count = std::min(2, layout.channels() - channel);
  channels.stride = layout.components;
  for (int c = 0; c < channels.count; ++c) {
    channels.values[c] = values + layout.value(0, channel + c);
    channels.mesh[c] = const_cast<T*>(mesh) + layout.node(0, channel + c);
  }
  const auto aligned = [](const T* at) { return reinterpret_cast<std::uintptr_t>(at) % (2 * sizeof(T)) == 0; };
  channels.pairs = layout.components == 2 && aligned(values) && aligned(mesh);
  return channels;
}

template <typename T>
void cuda_tiles_engine<T>::spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) {
  const bool shares = adds_shares(plan_);
  const bool adds = count_ == 0 || !(plan_.collects || shares);
  if (adds && !accumulate) fill_bytes(context_, mesh, 0, layout.mesh_values() * sizeof(T));
  if (count_ == 0) return;
  for (int channel = 0; channel < layout.channels(); channel += 2) {
    const tile_channels<T> channels = channels_of(layout, channel, values, mesh);
    if (plan_.collects) {
      collect_tiles(context_, problem(), channels, crowd_shares(), accumulate);
    } else if (shares) {
      spread_tiles_in_order(context_, problem(), channels, {share_sums_.data(), units_.firsts.data()}, accumulate);
    } else if (plan_.cube > 0) {
      spread_cubes(context_, problem(), channels, plan_.cube);
    } else if (plan_.grid.planar) {
      spread_planar_tiles(context_, problem(), channels);
    } else {
      spread_tiles(context_, problem(), channels);
    }
  }
}

/// For real values only if tensor cores would be almost idle: on an H200, patches are 1.7 to 2.4 times faster at 0.05
/// points per mesh point, and take 1.2 to 1.5 times as long at 0.4 to 0.6. The same holds for gradients.
template <typename T>
bool cuda_tiles_engine<T>::reads_patches(const value_layout& layout, const T* mesh, bool gradient) const {
  if (!gradient && plan_.reading == tile_reading::patches && !plan_.values_by_patches) return false;
  if (layout.components == 1 && reads_real_by_tiles()) return false;
  const std::size_t pair = 2 * sizeof(T) * static_cast<std::size_t>(layout.components);
  return sizeof(T) == sizeof(float) && plan_.patches.any() && reinterpret_cast<std::uintptr_t>(mesh) % pair == 0;
}

/// `scale` is read only for gradients.
template <typename T>
void cuda_tiles_engine<T>::read_patches(const value_layout& layout, const T* mesh, const T* scale, T* values,
                                        T* gradients, bool accumulate) {
  if constexpr (sizeof(T) == sizeof(float)) {
    const tile_patch_shares shares{plan_.patches, extras_.data(), &share_counts_.data()->extras,
                                   plan_.most_extras(count_)};
    const bool directly = plan_.reading == tile_reading::points;
    for (int channel = 0; channel < layout.channels(); channel += layout.components) {
      tile_patch_values of{};
      of.mesh = mesh + layout.node(0, channel);
      of.accumulate = accumulate;
      if (values != nullptr) of.values = values + layout.value(0, channel);
      if (gradients != nullptr) {
        of.gradients = gradients + 3 * layout.value(0, channel);
        std::copy_n(scale, 3, of.scale);
      }
      if (layout.components == 1) {
        (directly ? interpolate_directly<1> : interpolate_patches<1>)(context_, problem(), shares, of);
      } else {
        (directly ? interpolate_directly<2> : interpolate_patches<2>)(context_, problem(), shares, of);
      }
    }
  }
}

/// `results` is complete except for the pointers.
template <typename T>
void cuda_tiles_engine<T>::read(const value_layout& layout, const T* mesh, T* values, T* gradients,
                                const tile_results<T>& results) {
  if (count_ == 0) return;
  if (makes_units_to_read()) make_units();
  // If values are read from cubes, only gradients are read point by point.
  const bool by_points = plan_.reading == tile_reading::points || (plan_.cube > 0 && results.gradient);
  if (plan_.cube > 0 && by_points) fill_segments();
  for (int channel = 0; channel < layout.channels(); channel += 2) {
    const tile_channels<T> channels = channels_of(layout, channel, nullptr, mesh);
    tile_results<T> here = results;
    here.pairs = layout.components == 2 && reinterpret_cast<std::uintptr_t>(values) % (2 * sizeof(T)) == 0;
    for (int c = 0; c < channels.count; ++c) {
      const auto vector = static_cast<std::size_t>((channel + c) / layout.components);
      const std::size_t component = static_cast<std::size_t>((channel + c) % layout.components);
      if (values != nullptr) here.values[c] = values + layout.value(0, channel + c);
      if (gradients == nullptr) continue;
      here.gradients[c] =
          gradients + vector * layout.points * static_cast<std::size_t>(here.gradient_stride) + component;
    }
    if (by_points) {
      interpolate_each_point(context_, problem(), channels, here);
    } else if (plan_.cube > 0) {
      interpolate_cubes(context_, problem(), channels, here, plan_.cube);
    } else if (plan_.grid.planar) {
      interpolate_planar_tiles(context_, problem(true), channels, here);
    } else {
      interpolate_tiles(context_, problem(true), channels, here);
    }
  }
}

template <typename T>
void cuda_tiles_engine<T>::interpolate(const value_layout& layout, const T* mesh, T* values, bool accumulate) {
  if (count_ != 0 && reads_patches(layout, mesh, false)) {
    return read_patches(layout, mesh, nullptr, values, nullptr, accumulate);
  }
  tile_results<T> results{};
  results.stride = layout.components;
  results.accumulate = accumulate;
  read(layout, mesh, values, nullptr, results);
}

template <typename T>
void cuda_tiles_engine<T>::interpolate_gradient(const value_layout& layout, const T* mesh, const T* scale, T* values,
                                                T* gradients, bool accumulate) {
  if (count_ != 0 && reads_patches(layout, mesh, true)) {
    return read_patches(layout, mesh, scale, values, gradients, accumulate);
  }
  const bool together = sizeof(T) == sizeof(float) && layout.components == 2 && !plan_.grid.planar;
  if (values != nullptr && plan_.reading == tile_reading::tiles && !together) {
    // On an H100 one kernel for both takes 1.1 times as long as the two; for complex floats they take 1.3 times as
    // long.
    interpolate(layout, mesh, values, accumulate);
    values = nullptr;
  }
  tile_results<T> results{};
  results.first_axis = setup_.shape.first_axis;
  results.stride = layout.components;
  results.gradient_stride = (3 - results.first_axis) * layout.components;
  results.accumulate = accumulate;
  results.gradient = true;
  for (int axis = 0; axis < 3; ++axis) results.scale[axis] = scale[axis];
  read(layout, mesh, values, gradients, results);
}

template class cuda_tiles_engine<float>;
template class cuda_tiles_engine<double>;

}  // namespace quadrat::detail

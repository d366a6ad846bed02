// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/parallel/atomic.hpp"
#include "search/levels/device.hpp"
#include "search/masks/search.cuh"
#include "search/trimmed_rows.cuh"

/// A thread per row: counts pairs, and writes the masks.
namespace quadrat::detail {

/// The values on which the cutoff of a pair depends.
enum class pair_cutoff { own, sum, larger };

/// The point of a row.
template <typename T, int D>
struct radius_row {
  vec<T, D> position;
  T radius;
  T squared;  ///< of its cutoff, if that depends on this point only
  T skin;
  particle_id id;
};

/// One 16-byte load through the read-only path if the record has 16 bytes.
template <typename T, int D>
__device__ radius_point<T, D> load_packed(const radius_point<T, D>* points, std::uint32_t slot) {
  if constexpr (sizeof(T) == 4) {
    const float4 words = __ldg(reinterpret_cast<const float4*>(points) + slot);
    radius_point<T, D> point;
    point.position[0] = words.x;
    point.position[1] = words.y;
    if constexpr (D == 3) point.position[2] = words.z;
    point.radius = D == 3 ? words.w : words.z;
    return point;
  } else {
    return points[slot];
  }
}

/// Not contracted with the subtraction that follows, so that every method compares with the same squared cutoff.
[[nodiscard]] __device__ inline float square(float x) { return __fmul_rn(x, x); }
[[nodiscard]] __device__ inline double square(double x) { return __dmul_rn(x, x); }

/// A word whose highest bit says whether a candidate is a pair: the sign of d^2 - R^2 decides.
template <pair_cutoff Cutoff, bool Half, typename T, int D, typename Image>
__device__ std::uint32_t radius_sign(const radius_search<T, D>& a, const radius_row<T, D>& own, std::uint32_t slot,
                                     const radius_point<T, D>& other, const Image& image) {
  T squared = own.squared;
  if constexpr (Cutoff == pair_cutoff::sum) {
    squared = square(cutoff_of_radii(cutoff_rule::sum_of_radii, own.radius, other.radius, own.skin));
  } else if constexpr (Cutoff == pair_cutoff::larger) {
    squared = square(cutoff_of_radii(cutoff_rule::larger_radius, own.radius, other.radius, own.skin));
  }
  std::uint32_t sign = sign_word(squared_norm(image(other.position - own.position)) - squared);
  if constexpr (Half) sign &= own.id - __ldg(a.walk.slots.ids + slot);
  return sign;
}

/// Bits of the candidates in [first, last), at most 32, that are nearer than their cutoff. Tests four at a time: reads
/// up to three records beyond the last, and drops their bits.
template <pair_cutoff Cutoff, bool Half, typename T, int D, typename Image>
__device__ std::uint32_t test_stretch(const radius_search<T, D>& a, const radius_row<T, D>& own, std::uint32_t first,
                                      std::uint32_t last, const Image& image) {
  std::uint32_t mask = 0;
  for (std::uint32_t four = first; four < last; four += 4) {
    radius_point<T, D> others[4];
#pragma unroll
    for (std::uint32_t k = 0; k < 4; ++k) others[k] = load_packed(a.walk.slots.packed, four + k);
#pragma unroll
    for (std::uint32_t k = 0; k < 4; ++k) {
      mask = __funnelshift_l(radius_sign<Cutoff, Half>(a, own, four + k, others[k], image), mask, 1);
    }
  }
  const std::uint32_t length = last - first;
  mask = __brev(mask) >> (32 - (length + 3) / 4 * 4);
  return mask & 0xffffffffu >> (32 - length);
}

template <pair_cutoff Cutoff, typename T, int D, typename Image>
__device__ std::uint32_t test_half_or_full(const radius_search<T, D>& a, const radius_row<T, D>& own,
                                           std::uint32_t first, std::uint32_t last, const Image& image) {
  return a.walk.search.half ? test_stretch<Cutoff, true>(a, own, first, last, image)
                            : test_stretch<Cutoff, false>(a, own, first, last, image);
}

/// Bits of the candidates in [first, last), at most 32, that are pairs.
template <typename T, int D, typename Image>
__device__ std::uint32_t test_candidates(const radius_search<T, D>& a, const radius_row<T, D>& own,
                                         std::uint32_t own_slot, std::uint32_t first, std::uint32_t last,
                                         const Image& image) {
  std::uint32_t mask = 0;
  if (a.walk.search.rule == cutoff_rule::sum_of_radii) {
    mask = test_half_or_full<pair_cutoff::sum>(a, own, first, last, image);
  } else if (a.walk.search.rule == cutoff_rule::larger_radius) {
    mask = test_half_or_full<pair_cutoff::larger>(a, own, first, last, image);
  } else {
    mask = test_half_or_full<pair_cutoff::own>(a, own, first, last, image);
  }
  if (own_slot - first < 32) mask &= ~(1u << (own_slot - first));
  if (a.walk.search.excluded_offsets == nullptr) return mask;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto bit = static_cast<std::uint32_t>(__ffs(static_cast<int>(rest)) - 1);
    if (a.walk.search.is_excluded(own.id, a.walk.slots.ids[first + bit])) mask &= ~(1u << bit);
  }
  return mask;
}

template <row_kind Kind, typename T, int D>
__device__ auto image_of_kind(const lattice<T, D>& shape, const vec<int, D>& shift) {
  if constexpr (Kind == row_kind::open) {
    return no_image{};
  } else {
    fixed_image<T, D> image;
    for (int axis = 0; axis < D; ++axis) {
      image.translation[axis] = static_cast<T>(shift[axis]) * shape.vectors[axis][axis];
    }
    return image;
  }
}

/// The image in the bits above the slot, as the method `masks` reads it.
template <row_kind Kind, int D>
__device__ std::uint32_t image_bits(const vec<int, D>& shift) {
  if constexpr (Kind == row_kind::open) return 0;
  int code = 0;
  for (int axis = D - 1; axis >= 0; --axis) code = 3 * code + shift[axis] + 1;
  return static_cast<std::uint32_t>(code) << slot_bits;
}

/// Calls f(first slot, mask, S) for the candidates of a row, at most 32 at a time. Stops and returns false if the row
/// is too long for a thread.
template <row_kind Kind, typename T, int D, typename F>
__device__ bool for_each_radius_mask(const radius_search<T, D>& a, const radius_row<T, D>& own, std::uint32_t own_slot,
                                     F&& f) {
  const search_layers<T, search_system<T, D>>& layers = a.walk.layers;
  const std::uint32_t system = a.walk.search.system_at(a.walk.search.system_of_point, own.id);
  std::uint32_t tested = 0;
  for (std::uint32_t visited = layers.visited[layers.levels.level_of(own.radius)]; visited != 0;
       visited &= visited - 1) {
    const int k = __ffs(static_cast<int>(visited)) - 1;
    const auto& layer = layers.layer[k];
    const T reach = layers.reach(own.radius, k);
    if (reach > a.thread_reach) return false;
    const search_system<T, D> cells = layer.grids[system];
    const row_walk<T, D, Kind> rows(cells, layer.offsets, own.position, reach);
    if (static_cast<std::uint32_t>(rows.count()) > most_cell_rows_of_thread) return false;
    rows.for_each([&](const row_range<D>& range) {
      tested += range.last - range.first;
      if (tested > most_candidates_of_thread) return;
      const auto image = image_of_kind<Kind>(cells.shape, range.shift);
      const std::uint32_t end = layer.first_slot + range.last;
      for (std::uint32_t first = layer.first_slot + range.first; first < end; first += 32) {
        f(first, test_candidates(a, own, own_slot, first, min(first + 32, end), image), range.shift);
      }
    });
    if (tested > most_candidates_of_thread) return false;
  }
  return true;
}

template <row_kind Kind, typename T, int D>
__global__ void __launch_bounds__(masks_block, 8)
    count_radius_rows(const __grid_constant__ radius_search<T, D> a, std::uint32_t* counts) {
  const std::uint32_t slot = blockIdx.x * masks_block + threadIdx.x;
  if (slot >= a.rows) return;
  const radius_point<T, D> point = load_packed(a.walk.slots.packed, slot);
  const neighbor_search<T, D>& search = a.walk.search;
  const T squared = search.rule == cutoff_rule::uniform
                        ? search.squared_reach
                        : square(cutoff_of_radii(cutoff_rule::own_radius, point.radius, point.radius, search.skin));
  const radius_row<T, D> own{point.position, point.radius, squared, search.skin, a.walk.slots.ids[slot]};
  std::uint32_t count = 0;
  std::uint32_t used = 0;
  candidate_mask* to = a.words + slot;
  const bool done =
      for_each_radius_mask<Kind>(a, own, slot, [&](std::uint32_t first, std::uint32_t mask, const vec<int, D>& shift) {
        if (mask == 0) return;
        if (used < a.words_a_row) *to = {mask, first - 1 + image_bits<Kind>(shift)};
        to += a.rows;
        ++used;
        count += static_cast<std::uint32_t>(__popc(mask));
      });
  const bool kept = done && used <= a.words_a_row;
  a.shares[slot] = kept ? row_share{count, used} : row_share{0, 0};
  if (kept) {
    counts[own.id] = count;
  } else {
    a.longer.slots[atomic_add(a.longer.count, 1u)] = slot;
    if (done) atomic_max(a.most_used, static_cast<std::uint64_t>(used));
  }
}

}  // namespace quadrat::detail

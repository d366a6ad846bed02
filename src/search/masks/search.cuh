// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "quadrat/parallel/warp_scan.hpp"
#include "search/masks/loads.cuh"
#include "search/masks/masks.hpp"
#include "search/trimmed_rows.cuh"

/// The search for pairs, by thread and by warp.
namespace quadrat::detail {

inline constexpr unsigned masks_block = 128;
/// Pairs that a warp stages in shared memory before it writes whole rows.
inline constexpr unsigned staged_most = 1536;

/// The longest row that is staged; the whole warp writes longer ones.
inline constexpr std::uint32_t staged_row_most = 256;

/// Bits of a word that hold the slot, where there are 27 images.
inline constexpr unsigned slot_bits = 27;
inline constexpr std::uint32_t slot_mask = (1u << slot_bits) - 1;

/// The boxes a kernel serves: one box that is open, or periodic with at most one image of a neighbor within reach; one
/// box of any kind, by images; several boxes of these kinds; or several so small that every pair of a system is tested
/// with its nearest image.
enum class boxes_kind { open, periodic, images, many, many_images, many_small };

template <boxes_kind Boxes>
inline constexpr bool by_images = Boxes == boxes_kind::images || Boxes == boxes_kind::many_images;

[[nodiscard]] __device__ inline std::uint32_t sign_word(float x) { return __float_as_uint(x); }
[[nodiscard]] __device__ inline std::uint32_t sign_word(double x) {
  return static_cast<std::uint32_t>(__double2hiint(x));
}

/// The box of a point.
template <boxes_kind Boxes, typename T, int D>
__device__ const search_system<T, D>& system_of(const masks_search<T, D>& a, particle_id id) {
  if constexpr (Boxes >= boxes_kind::many) return a.search.systems[a.search.system_at(a.search.system_of_point, id)];
  return a.system;
}

template <boxes_kind Boxes>
inline constexpr row_kind rows_of = Boxes == boxes_kind::open       ? row_kind::open
                                    : Boxes == boxes_kind::periodic ? row_kind::periodic
                                                                    : row_kind::folded;

/// The walk over the rows around the point of a row.
template <boxes_kind Boxes, typename T, int D>
__device__ auto walk_around(const masks_search<T, D>& a, const search_system<T, D>& system,
                            const search_point<T, D>& own) {
  if constexpr (by_images<Boxes>) {
    const cuboid_grid<T, D>& grid =
        Boxes == boxes_kind::images ? a.grid : a.grids[a.search.system_at(a.search.system_of_point, own.id)];
    return image_rows<T, D>(grid, a.search.cell_offsets, own.position, a.search.reach);
  } else {
    return row_walk<T, D, rows_of<Boxes>>(system, a.search.cell_offsets, own.position, a.search.reach);
  }
}

/// All points of a system that has one cell.
template <typename T, int D>
__device__ row_range<D> whole_system(const masks_search<T, D>& a, const search_system<T, D>& system) {
  return {a.search.cell_offsets[system.first_cell], a.search.cell_offsets[system.first_cell + 1], {}};
}

/// Maps a separation to that of the image.
struct no_image {
  template <typename V>
  __device__ V operator()(const V& r) const {
    return r;
  }
};
template <typename T, int D>
struct fixed_image {
  vec<T, D> translation;

  __device__ vec<T, D> operator()(const vec<T, D>& r) const { return r + translation; }
};
/// The nearest image, unique within reach if the reach is less than half the box.
template <typename T, int D>
struct nearest_image {
  vec<T, D> inverse;  ///< of the length; 0 along open axes
  vec<T, D> length;

  __device__ explicit nearest_image(const lattice<T, D>& shape) {
    for (int axis = 0; axis < D; ++axis) {
      length[axis] = shape.vectors[axis][axis];
      inverse[axis] = shape.periodic[axis] ? T(1) / length[axis] : T(0);
    }
  }
  /// Rounds by adding a number too large to leave a fraction.
  [[nodiscard]] __device__ T boxes(T r, int axis) const {
    constexpr T large = sizeof(T) == 4 ? T(12582912) : T(6755399441055744);
    return (r * inverse[axis] + large) - large;
  }
  __device__ vec<T, D> operator()(vec<T, D> r) const {
    for (int axis = 0; axis < D; ++axis) r[axis] = r[axis] + -boxes(r[axis], axis) * length[axis];
    return r;
  }
  [[nodiscard]] __device__ vec<int, D> shift(const vec<T, D>& r) const {
    vec<int, D> result{};
    for (int axis = 0; axis < D; ++axis) result[axis] = -static_cast<int>(boxes(r[axis], axis));
    return result;
  }
};

template <boxes_kind Boxes, typename T, int D>
__device__ auto image_of(const search_system<T, D>& system, const vec<int, D>& shift) {
  if constexpr (Boxes == boxes_kind::open) {
    return no_image{};
  } else if constexpr (Boxes == boxes_kind::many_small) {
    return nearest_image<T, D>(system.shape);
  } else if constexpr (by_images<Boxes>) {
    return fixed_image<T, D>{system.shape.translation(shift)};
  } else {
    fixed_image<T, D> image;
    for (int axis = 0; axis < D; ++axis) {
      image.translation[axis] = static_cast<T>(shift[axis]) * system.shape.vectors[axis][axis];
    }
    return image;
  }
}

/// A word whose highest bit says whether a candidate is a pair: the sign of d^2 - R^2 decides.
template <bool Half, typename T, int D, typename Image>
__device__ std::uint32_t pair_sign(const masks_search<T, D>& a, const search_point<T, D>& own,
                                   const search_point<T, D>& other, const Image& image) {
  const vec<T, D> r = image(other.position - own.position);
  std::uint32_t sign = sign_word(squared_norm(r) - a.search.squared_reach);
  if constexpr (Half) sign &= own.id - other.id;
  return sign;
}

/// The slot of the row's point, and whether its own images are listed.
struct own_place {
  std::uint32_t slot;
  bool image;
};

/// Bits of the candidates in [first, last), at most 32, that are pairs. `first` is the first slot of a block, unless
/// records are read. Bits of slots beyond the last are dropped.
template <bool Half, boxes_kind Boxes, typename T, int D, typename Image>
__device__ std::uint32_t test_range(const masks_search<T, D>& a, const search_point<T, D>& own, const own_place& place,
                                    std::uint32_t first, std::uint32_t last, const Image& image) {
  constexpr std::uint32_t points = point_block<T, D>::points;
  std::uint32_t mask = 0;
  auto from = four_points_at<Half>(a, first);
#pragma unroll 1
  for (std::uint32_t slot = first; slot < last; slot += points, ++from) {
    four_records<T, D> four;
    load_points<Half, T, D>(from, four);
#pragma unroll
    for (std::uint32_t k = 0; k < points; ++k) {
      mask = __funnelshift_l(pair_sign<Half>(a, own, four[k], image), mask, 1);
    }
  }
  const std::uint32_t length = last - first;
  mask = __brev(mask) >> (32 - (length + points - 1) / points * points);
  mask &= 0xffffffffu >> (32 - length);
  const std::uint32_t at = place.slot - first;
  if constexpr (by_images<Boxes>) {
    if (at < length) mask = (mask & ~(1u << at)) | (place.image ? 1u << at : 0);
  } else {
    if (at < 32) mask &= ~(1u << at);
  }
  return mask;
}

/// Calls f(first slot, mask, S) for every 32 candidates of a row.
template <bool Half, boxes_kind Boxes, typename T, int D, typename F>
__device__ void for_each_mask(const masks_search<T, D>& a, const search_point<T, D>& own, std::uint32_t slot, F&& f) {
  const search_system<T, D>& system = system_of<Boxes>(a, own.id);
  const auto visit = [&](const row_range<D>& range, const auto& image, bool own_image) {
    const own_place place{slot, own_image};
    // The slots of the first block that are before the range.
    const std::uint32_t before = reads_records<Half, T, D> ? 0 : range.first % point_block<T, D>::points;
    std::uint32_t keep = 0xffffffffu << before;
    for (std::uint32_t first = range.first - before; first < range.last; first += 32) {
      const std::uint32_t last = min(first + 32, range.last);
      const std::uint32_t mask = test_range<Half, Boxes>(a, own, place, first, last, image);
      f(first, mask & keep, range.shift);
      keep = 0xffffffffu;
    }
  };
  if constexpr (Boxes == boxes_kind::many_small) {
    const row_range<D> all = whole_system(a, system);
    visit(all, image_of<Boxes>(system, all.shift), false);
  } else if constexpr (by_images<Boxes>) {
    const auto walk = walk_around<Boxes>(a, system, own);
    walk.for_each_image([&](const vec<int, D>& shift) {
      const fixed_image<T, D> image = image_of<Boxes>(system, shift);
      const bool own_image =
          squared_norm(image.translation) < a.search.squared_reach && a.search.image_counts(own.id, shift);
      walk.for_each_range(shift, [&](const row_range<D>& range) { visit(range, image, own_image); });
    });
  } else {
    walk_around<Boxes>(a, system, own).for_each([&](const row_range<D>& range) {
      visit(range, image_of<Boxes>(system, range.shift), false);
    });
  }
}

/// The image of a pair in the upper bits of its slot.
template <boxes_kind Boxes, typename T, int D>
__device__ std::uint32_t packed_shift(const masks_search<T, D>& a, const vec<int, D>& shift) {
  if constexpr (by_images<Boxes>) return a.codes.of(shift);
  int code = 0;
  if constexpr (Boxes == boxes_kind::periodic || Boxes == boxes_kind::many) {
    for (int axis = D - 1; axis >= 0; --axis) code = 3 * code + shift[axis] + 1;
  }
  return static_cast<std::uint32_t>(code) << slot_bits;
}
template <boxes_kind Boxes, typename T, int D>
__device__ vec<int, D> unpacked_shift(const masks_search<T, D>& a, std::uint32_t word) {
  if constexpr (by_images<Boxes>) return a.codes.shift(word);
  vec<int, D> shift{};
  if constexpr (Boxes == boxes_kind::periodic || Boxes == boxes_kind::many) {
    int code = static_cast<int>(word >> slot_bits);
    for (int axis = 0; axis < D; ++axis) {
      shift[axis] = code % 3 - 1;
      code /= 3;
    }
  }
  return shift;
}
template <boxes_kind Boxes, typename T, int D>
__device__ std::uint32_t slot_of(const masks_search<T, D>& a, std::uint32_t word) {
  if constexpr (by_images<Boxes>) return a.codes.slot(word);
  return word & slot_mask;
}

/// Blocks per multiprocessor, which bounds registers: for one box in float 48 are enough. A walk along folded axes is
/// limited to 64; without it nvcc 13.0 chooses 48 and spills 72 bytes. By images, 64 hold everything in float; in
/// double, 80. 0: no limit.
template <boxes_kind Boxes, typename T>
inline constexpr unsigned masks_per_multiprocessor = by_images<Boxes>            ? (sizeof(T) == 4 ? 8 : 6)
                                                     : Boxes == boxes_kind::many ? 8
                                                     : sizeof(T) == 4            ? 10
                                                                                 : 0;

/// Counts the pairs of a row, and writes its masks.
template <bool Half, boxes_kind Boxes, typename T, int D>
__device__ void count_one_row(const masks_search<T, D>& a, std::uint32_t slot, std::uint32_t* counts) {
  const search_point<T, D> own = load_point(a, slot);
  std::uint32_t count = 0;
  std::uint32_t used = 0;
  candidate_mask* to = a.words + slot * a.slot_stride;
  for_each_mask<Half, Boxes>(a, own, slot, [&](std::uint32_t first, std::uint32_t mask, const vec<int, D>& shift) {
    if (mask == 0) return;
    if (used < a.words_a_row) *to = {mask, first - 1 + packed_shift<Boxes>(a, shift)};
    to += a.mask_stride;
    ++used;
    count += static_cast<std::uint32_t>(__popc(mask));
  });
  a.shares[slot] = {count, used};
  counts[own.id] = count;
  if (used > a.words_a_row) atomic_max(a.most_used, static_cast<std::uint64_t>(used));
}

/// A thread per row. Half: whether the list is; a kernel for both would need more registers.
template <bool Half, boxes_kind Boxes, typename T, int D>
__global__ void __launch_bounds__(masks_block, masks_per_multiprocessor<Boxes, T>)
    count_by_thread(const __grid_constant__ masks_search<T, D> a, std::uint32_t* counts) {
  const std::uint32_t slot = blockIdx.x * masks_block + threadIdx.x;
  if (slot < a.rows) count_one_row<Half, Boxes>(a, slot, counts);
}

/// Whether the candidate is an image of the point of this row that is not listed.
template <boxes_kind Boxes, typename T, int D>
__device__ bool is_own(const masks_search<T, D>& a, const search_point<T, D>& own, std::uint32_t own_slot,
                       std::uint32_t slot, const vec<int, D>& shift) {
  if constexpr (by_images<Boxes>) return slot == own_slot && !a.search.image_counts(own.id, shift);
  return slot == own_slot;
}

/// The candidates of a warp, one per lane: calls f(pair bits of the warp, this lane's slot, S).
template <boxes_kind Boxes, typename T, int D, typename F>
__device__ void test_by_warp(const masks_search<T, D>& a, const search_system<T, D>& system,
                             const search_point<T, D>& own, std::uint32_t own_slot, bool candidate, std::uint32_t slot,
                             const vec<int, D>& shift, F&& f) {
  bool pair = false;
  if (candidate && !is_own<Boxes>(a, own, own_slot, slot, shift)) {
    const search_point<T, D> other = load_point(a, slot);
    const auto image = image_of<Boxes>(system, shift);
    const bool ordered = a.search.half && !(by_images<Boxes> && slot == own_slot);
    const std::uint32_t sign = ordered ? pair_sign<true>(a, own, other, image) : pair_sign<false>(a, own, other, image);
    pair = (sign >> 31) != 0;
  }
  f(__ballot_sync(~0u, pair), slot, shift);
}

/// The candidates of a warp, one per lane: calls f(whether this lane has one, its slot, S) until no lane has any.
template <boxes_kind Boxes, typename T, int D, typename Walk, typename F>
__device__ void for_each_warp_candidate(const Walk& walk, F&& f) {
  const std::uint32_t lane = threadIdx.x % 32;
  using number = decltype(walk.count());
  const number ranges = walk.count();
  for (number base = 0; base < ranges; base += 32) {
    row_range<D> mine{0, 0, {}};
    if (base + lane < ranges) mine = walk.range(base + lane);
    const std::uint32_t length = mine.last - mine.first;
    const std::uint32_t end = warp_inclusive_sum(length, lane);
    const std::uint32_t total = __shfl_sync(~0u, end, 31);
    const auto shift_of = [&](int source) {
      vec<int, D> shift{};
      if constexpr (Boxes != boxes_kind::open) {
        for (int axis = 0; axis < D; ++axis) shift[axis] = __shfl_sync(~0u, mine.shift[axis], source);
      }
      return shift;
    };
    if (total > 32 * 32) {  // long ranges: one after another
      const auto batch = static_cast<int>(ranges - base < 32 ? ranges - base : 32);
      for (int source = 0; source < batch; ++source) {
        const std::uint32_t first = __shfl_sync(~0u, mine.first, source), last = __shfl_sync(~0u, mine.last, source);
        const vec<int, D> shift = shift_of(source);
        for (std::uint32_t slot = first + lane; slot - lane < last; slot += 32) f(slot < last, slot, shift);
      }
      continue;
    }
    for (std::uint32_t first = 0; first < total; first += 32) {
      const std::uint32_t candidate = first + lane;
      int source = 0;  // the range of the candidate: the number of ranges that end before it
      for (int step = 16; step > 0; step /= 2) {
        if (__shfl_sync(~0u, end, source + step - 1) <= candidate) source += step;
      }
      const std::uint32_t slot = __shfl_sync(~0u, mine.first + length - end, source) + candidate;
      f(candidate < total, slot, shift_of(source));
    }
  }
}

/// A warp per row: calls f(pair bits of the warp, this lane's slot, S) for every 32 candidates.
template <boxes_kind Boxes, typename T, int D, typename F>
__device__ void for_each_warp_mask(const masks_search<T, D>& a, const search_point<T, D>& own, std::uint32_t own_slot,
                                   F&& f) {
  const search_system<T, D>& system = system_of<Boxes>(a, own.id);
  const auto test = [&](bool candidate, std::uint32_t slot, const vec<int, D>& shift) {
    test_by_warp<Boxes>(a, system, own, own_slot, candidate, slot, shift, f);
  };
  if constexpr (Boxes == boxes_kind::many_small) {
    const row_range<D> all = whole_system(a, system);
    const std::uint32_t lane = threadIdx.x % 32;
    for (std::uint32_t slot = all.first + lane; slot - lane < all.last; slot += 32)
      test(slot < all.last, slot, all.shift);
  } else {
    for_each_warp_candidate<Boxes, T, D>(walk_around<Boxes>(a, system, own), test);
  }
}

template <boxes_kind Boxes, typename T, int D>
__global__ void __launch_bounds__(masks_block)
    count_by_warp(const __grid_constant__ masks_search<T, D> a, std::uint32_t* counts) {
  const std::uint32_t slot = (blockIdx.x * masks_block + threadIdx.x) / 32;
  if (slot >= a.rows) return;
  const search_point<T, D> own = load_point(a, slot);
  std::uint32_t count = 0;
  for_each_warp_mask<Boxes>(a, own, slot,
                            [&](std::uint32_t mask, std::uint32_t, const vec<int, D>&) { count += __popc(mask); });
  if (threadIdx.x % 32 == 0) counts[own.id] = count;
}

}  // namespace quadrat::detail

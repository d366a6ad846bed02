// SPDX-License-Identifier: BSD-3-Clause
#include "search/tiles/select.hpp"

#include <algorithm>
#include <bit>

#if defined(__x86_64__) && defined(__GNUC__)
#define QUADRAT_SELECTS_TILES 1
#include <immintrin.h>
#else
#define QUADRAT_SELECTS_TILES 0
#endif

// All variants take the same pairs in the same order, with the same separations: no fused operations
// (-ffp-contract=off).

namespace quadrat::detail {

namespace {

/// How many tiles certainly fit into the rows: all of them if they are empty.
constexpr std::size_t most_tiles_at_once = 32;
template <typename T, int D>
[[nodiscard]] std::uint64_t fitting_tiles(const std::size_t* counts, std::uint64_t left) {
  static_assert(most_tiles_at_once * points_of_group <= selected_pairs<T, D>::most);
  const std::size_t longest = *std::max_element(counts, counts + points_of_group);
  const std::size_t fitting = (selected_pairs<T, D>::most - longest) / points_of_group;
  return std::min<std::uint64_t>(left, std::min(fitting, most_tiles_at_once));
}

/// In plain C++, for CPUs without a variant of their own.
template <typename T, int D>
std::uint64_t select_tiles_plain(const cluster_pair_view<T, D>& view, std::size_t group, std::uint64_t tile,
                                 std::uint64_t last, selected_pairs<T, D>* pairs, std::size_t* counts) {
  const point_group<T, D>& own = view.groups[group];
  const T squared_cutoff = view.cutoff * view.cutoff;
  while (const std::uint64_t some = fitting_tiles<T, D>(counts, last - tile)) {
    for (const std::uint64_t end = tile + some; tile < end; ++tile) {
      const pair_tile<T, D>& near = view.tiles[tile];
      const point_group<T, D>& other = view.groups[near.group];
      std::uint64_t mask = view.masks[groups_of_row * tile + group % groups_of_row];
      for (; mask != 0; mask &= mask - 1) {
        const auto bit = static_cast<std::size_t>(std::countr_zero(mask));
        const std::size_t a = bit / points_of_group, b = bit % points_of_group;
        const vec<T, D> r = (other.position(b) - own.position(a)) + near.translation;
        const T squared = squared_norm(r);
        selected_pairs<T, D>& out = pairs[a];
        out.j[counts[a]] = other.id[b];
        for (int axis = 0; axis < D; ++axis) out.separation[axis][counts[a]] = r[axis];
        out.squared[counts[a]] = squared;
        counts[a] += static_cast<std::size_t>(squared < squared_cutoff);
      }
    }
  }
  return tile;
}

#if QUADRAT_SELECTS_TILES

#define QUADRAT_TILE_TARGET __attribute__((target("avx512f,avx512vl,popcnt,bmi")))

/// Registers of eight lanes.
template <typename T>
struct eight_lanes;

template <>
struct eight_lanes<double> {
  using vector = __m512d;
  QUADRAT_TILE_TARGET static vector load(const double* from) { return _mm512_loadu_pd(from); }
  QUADRAT_TILE_TARGET static vector filled(double x) { return _mm512_set1_pd(x); }
  QUADRAT_TILE_TARGET static __mmask8 less(vector a, vector b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
  QUADRAT_TILE_TARGET static void store(double* to, __mmask8 which, vector from) {
    _mm512_storeu_pd(to, _mm512_maskz_compress_pd(which, from));
  }
};

template <>
struct eight_lanes<float> {
  using vector = __m256;
  QUADRAT_TILE_TARGET static vector load(const float* from) { return _mm256_loadu_ps(from); }
  QUADRAT_TILE_TARGET static vector filled(float x) { return _mm256_set1_ps(x); }
  QUADRAT_TILE_TARGET static __mmask8 less(vector a, vector b) { return _mm256_cmp_ps_mask(a, b, _CMP_LT_OQ); }
  QUADRAT_TILE_TARGET static void store(float* to, __mmask8 which, vector from) {
    _mm256_storeu_ps(to, _mm256_maskz_compress_ps(which, from));
  }
};

/// The pairs of one tile. Points of the group without any are left out. Compresses in a register: a compressing store
/// takes a hundred cycles on some CPUs.
template <typename T, int D>
QUADRAT_TILE_TARGET void select_tile_512(const point_group<T, D>& own, const point_group<T, D>& other,
                                         const vec<T, D>& by, std::uint64_t mask, T squared_cutoff,
                                         selected_pairs<T, D>* pairs, std::size_t* counts) {
  using lanes = eight_lanes<T>;
  using vector = typename lanes::vector;
  static_assert(points_of_group <= selected_pairs<T, D>::beyond);
  const __m256i ids = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(other.id));
  const vector limit = lanes::filled(squared_cutoff);
  vector to[D], translation[D];
  for (int axis = 0; axis < D; ++axis) {
    to[axis] = lanes::load(other.at[axis]);
    translation[axis] = lanes::filled(by[axis]);
  }
  while (mask != 0) {
    const auto a = static_cast<std::size_t>(std::countr_zero(mask)) / points_of_group;
    const auto listed = static_cast<unsigned>(mask >> points_of_group * a);
    mask &= ~(std::uint64_t{0xff} << points_of_group * a);
    vector r[D], squared{};
    for (int axis = 0; axis < D; ++axis) {
      r[axis] = (to[axis] - lanes::filled(own.at[axis][a])) + translation[axis];
      squared = axis == 0 ? r[axis] * r[axis] : squared + r[axis] * r[axis];
    }
    const auto which = static_cast<__mmask8>(lanes::less(squared, limit) & listed);
    selected_pairs<T, D>& out = pairs[a];
    const std::size_t count = counts[a];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out.j + count), _mm256_maskz_compress_epi32(which, ids));
    for (int axis = 0; axis < D; ++axis) lanes::store(out.separation[axis] + count, which, r[axis]);
    lanes::store(out.squared + count, which, squared);
    counts[a] = count + static_cast<std::size_t>(__builtin_popcount(which));
  }
}

template <typename T, int D>
QUADRAT_TILE_TARGET std::uint64_t select_tiles_512(const cluster_pair_view<T, D>& view, std::size_t group,
                                                   std::uint64_t tile, std::uint64_t last, selected_pairs<T, D>* pairs,
                                                   std::size_t* counts) {
  while (const std::uint64_t some = fitting_tiles<T, D>(counts, last - tile)) {
    for (const std::uint64_t end = tile + some; tile < end; ++tile) {
      const std::uint64_t mask = view.masks[groups_of_row * tile + group % groups_of_row];
      if (mask == 0) continue;
      const pair_tile<T, D>& near = view.tiles[tile];
      select_tile_512(view.groups[group], view.groups[near.group], near.translation, mask, view.cutoff * view.cutoff,
                      pairs, counts);
    }
  }
  return tile;
}

#endif

}  // namespace

template <typename T, int D>
std::vector<select_tiles<T, D>> tile_selections() {
  std::vector<select_tiles<T, D>> result;
  bool wide = false;
#if QUADRAT_SELECTS_TILES
  wide = __builtin_cpu_supports("avx2") != 0;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) {
    result.push_back({select_tiles_512<T, D>, wide});
  }
#endif
  result.push_back({select_tiles_plain<T, D>, wide});
  if (wide) result.push_back({select_tiles_plain<T, D>, false});
  return result;
}

template <typename T, int D>
select_tiles<T, D> fastest_tile_selection() {
  static const select_tiles<T, D> fastest = tile_selections<T, D>().front();
  return fastest;
}

template std::vector<select_tiles<float, 2>> tile_selections();
template std::vector<select_tiles<float, 3>> tile_selections();
template std::vector<select_tiles<double, 2>> tile_selections();
template std::vector<select_tiles<double, 3>> tile_selections();
template select_tiles<float, 2> fastest_tile_selection();
template select_tiles<float, 3> fastest_tile_selection();
template select_tiles<double, 2> fastest_tile_selection();
template select_tiles<double, 3> fastest_tile_selection();

}  // namespace quadrat::detail

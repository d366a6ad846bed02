// SPDX-License-Identifier: BSD-3-Clause
#include "search/tiles/select.hpp"

#include <algorithm>
#include <bit>

#include "core/cpu_lanes.hpp"
#include "search/pairs/lanes_512.hpp"

// All variants take the same pairs in the same order, with the same separations: no fused operations
// (-ffp-contract=off).

namespace quadrat::detail {

namespace {

template <typename T>
using id_word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// The translations of the tiles [first, last).
template <typename T, int D>
void stage_translations(const cluster_pair_view<T, D>& view, std::uint64_t first, std::uint64_t last,
                        row_stage<T>& stage) {
  stage.translated = false;
  for (std::uint64_t tile = first; tile < last; ++tile) {
    const vec<T, D>& translation = view.tiles[tile].translation;
    pair_point<T, 3>& by = stage.translations[tile - first];
    by = {};
    for (int axis = 0; axis < D; ++axis) by.position[axis] = translation[axis];
    stage.translated = stage.translated || !(translation == vec<T, D>{});
  }
}

template <typename T, int D>
void stage_plain(const cluster_pair_view<T, D>& view, std::uint64_t first, std::uint64_t last, row_stage<T>& stage) {
  stage_translations(view, first, last, stage);
  pair_point<T, 3>* to = stage.points;
  for (std::uint64_t tile = first; tile < last; ++tile) {
    const point_group<T, D>& group = view.groups[view.tiles[tile].group];
    for (std::size_t b = 0; b < points_of_group; ++b, ++to) {
      *to = {{}, std::bit_cast<T>(id_word<T>{group.id[b]})};
      for (int axis = 0; axis < D; ++axis) to->position[axis] = group.at[axis][b];
    }
  }
}

template <typename T>
std::size_t select_plain(const row_stage<T>& stage, const vec<T, 3>& from, T squared_cutoff,
                         const std::uint16_t* places, std::size_t count, selected_pairs<T, 3>& pairs) {
  std::size_t selected = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const pair_point<T, 3>& point = stage.points[places[k]];
    vec<T, 3> r = point.position - from;
    if (stage.translated) r += stage.translations[places[k] / points_of_group].position;
    const T squared = squared_norm(r);
    pairs.j[selected] = static_cast<particle_id>(std::bit_cast<id_word<T>>(point.property));
    for (int axis = 0; axis < 3; ++axis) pairs.separation[axis][selected] = r[axis];
    pairs.squared[selected] = squared;
    selected += static_cast<std::size_t>(squared < squared_cutoff);
  }
  return selected;
}

#if QUADRAT_HAS_PAIR_LANES

/// Eight points and their ids, by component, become points.
QUADRAT_SELECT_TARGET inline void put_points(__m256 x, __m256 y, __m256 z, __m256i ids, pair_point<float, 3>* points) {
  float* const to = points->position.component;
  const __m256 id = _mm256_castsi256_ps(ids);
  const __m256 xy = _mm256_unpacklo_ps(x, y), xy2 = _mm256_unpackhi_ps(x, y);
  const __m256 zi = _mm256_unpacklo_ps(z, id), zi2 = _mm256_unpackhi_ps(z, id);
  const __m256 a = _mm256_shuffle_ps(xy, zi, 0x44), b = _mm256_shuffle_ps(xy, zi, 0xee);      // points 0 4, 1 5
  const __m256 c = _mm256_shuffle_ps(xy2, zi2, 0x44), d = _mm256_shuffle_ps(xy2, zi2, 0xee);  // points 2 6, 3 7
  _mm256_storeu_ps(to, _mm256_permute2f128_ps(a, b, 0x20));
  _mm256_storeu_ps(to + 8, _mm256_permute2f128_ps(c, d, 0x20));
  _mm256_storeu_ps(to + 16, _mm256_permute2f128_ps(a, b, 0x31));
  _mm256_storeu_ps(to + 24, _mm256_permute2f128_ps(c, d, 0x31));
}
QUADRAT_SELECT_TARGET inline void put_points(__m512d x, __m512d y, __m512d z, __m256i ids,
                                             pair_point<double, 3>* points) {
  double* const to = points->position.component;
  const __m512d id = _mm512_castsi512_pd(_mm512_cvtepu32_epi64(ids));
  const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  const __m512d xy = _mm512_unpacklo_pd(x, y), xy2 = _mm512_unpackhi_pd(x, y);
  const __m512d zi = _mm512_unpacklo_pd(z, id), zi2 = _mm512_unpackhi_pd(z, id);
  const __m512d a = _mm512_permutex2var_pd(xy, low, zi), b = _mm512_permutex2var_pd(xy2, low, zi2);    // 0 2, 1 3
  const __m512d c = _mm512_permutex2var_pd(xy, high, zi), d = _mm512_permutex2var_pd(xy2, high, zi2);  // 4 6, 5 7
  _mm512_storeu_pd(to, _mm512_shuffle_f64x2(a, b, 0x44));
  _mm512_storeu_pd(to + 8, _mm512_shuffle_f64x2(a, b, 0xee));
  _mm512_storeu_pd(to + 16, _mm512_shuffle_f64x2(c, d, 0x44));
  _mm512_storeu_pd(to + 24, _mm512_shuffle_f64x2(c, d, 0xee));
}
QUADRAT_SELECT_TARGET inline __m256 eight_of(const float* from) { return _mm256_loadu_ps(from); }
QUADRAT_SELECT_TARGET inline __m512d eight_of(const double* from) { return _mm512_loadu_pd(from); }

template <typename T, int D>
QUADRAT_SELECT_TARGET void stage_512(const cluster_pair_view<T, D>& view, std::uint64_t first, std::uint64_t last,
                                     row_stage<T>& stage) {
  stage_translations(view, first, last, stage);
  pair_point<T, 3>* to = stage.points;
  for (std::uint64_t tile = first; tile < last; ++tile, to += points_of_group) {
    const point_group<T, D>& group = view.groups[view.tiles[tile].group];
    const auto x = eight_of(group.at[0]), y = eight_of(group.at[1]);
    std::remove_const_t<decltype(x)> z{};
    if constexpr (D == 3) z = eight_of(group.at[2]);
    put_points(x, y, z, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(group.id)), to);
  }
}

QUADRAT_SELECT_TARGET inline __m512i ids_of(__m512 property) { return _mm512_castps_si512(property); }
QUADRAT_SELECT_TARGET inline __m256i ids_of(__m512d property) {
  return _mm512_cvtepi64_epi32(_mm512_castpd_si512(property));
}
QUADRAT_SELECT_TARGET inline void put_ids(particle_id* to, __mmask16 which, __m512i ids) {
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(which, ids));
}
QUADRAT_SELECT_TARGET inline void put_ids(particle_id* to, __mmask8 which, __m256i ids) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_maskz_compress_epi32(which, ids));
}

/// Compresses in a register: a compressing store takes a hundred cycles on some CPUs.
template <bool Translated, typename T>
QUADRAT_SELECT_TARGET std::size_t select_512_of(const row_stage<T>& stage, const vec<T, 3>& from, T squared_cutoff,
                                                const std::uint16_t* places, std::size_t count,
                                                selected_pairs<T, 3>& pairs) {
  using lanes = pair_lanes_512<T>;
  using vector = typename lanes::vector;
  static_assert(lanes::count <= selected_pairs<T, 3>::beyond && lanes::count <= numbers_beyond);
  const vector limit = lanes::filled(squared_cutoff);
  vector own[3];
  for (int axis = 0; axis < 3; ++axis) own[axis] = lanes::filled(from[axis]);
  std::size_t selected = 0;
  for (std::size_t k = 0; k < count; k += lanes::count) {
    const std::size_t left = count - k;
    const unsigned valid = left < lanes::count ? (1u << left) - 1 : (1u << lanes::count) - 1;
    particle_id at[lanes::count], tiles[lanes::count];
    for (unsigned lane = 0; lane < lanes::count; ++lane) at[lane] = places[k + lane];
    vector r[4], by[4];
    lanes::load(stage.points, at, r);
    if constexpr (Translated) {
      for (unsigned lane = 0; lane < lanes::count; ++lane) tiles[lane] = at[lane] / points_of_group;
      lanes::load(stage.translations, tiles, by);
    }
    for (int axis = 0; axis < 3; ++axis) {
      r[axis] = r[axis] - own[axis];
      if constexpr (Translated) r[axis] = r[axis] + by[axis];
    }
    const vector squared = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    const auto which = static_cast<typename lanes::mask>(lanes::less(squared, limit) & valid);
    put_ids(pairs.j + selected, which, ids_of(r[3]));
    for (int axis = 0; axis < 3; ++axis) lanes::store(pairs.separation[axis] + selected, which, r[axis]);
    lanes::store(pairs.squared + selected, which, squared);
    selected += static_cast<std::size_t>(__builtin_popcount(which));
  }
  return selected;
}

template <typename T>
std::size_t select_tiles_512(const row_stage<T>& stage, const vec<T, 3>& from, T squared_cutoff,
                             const std::uint16_t* places, std::size_t count, selected_pairs<T, 3>& pairs) {
  return stage.translated ? select_512_of<true>(stage, from, squared_cutoff, places, count, pairs)
                          : select_512_of<false>(stage, from, squared_cutoff, places, count, pairs);
}

#endif

}  // namespace

template <typename T, int D>
std::vector<select_tiles<T, D>> tile_selections() {
  std::vector<select_tiles<T, D>> result;
  bool wide = false;
#if QUADRAT_HAS_PAIR_LANES
  wide = has_lanes(cpu_lanes::avx2);
  if (has_lanes(cpu_lanes::avx512)) result.push_back({stage_512<T, D>, select_tiles_512<T>, wide});
#endif
  result.push_back({stage_plain<T, D>, select_plain<T>, wide});
  if (wide) result.push_back({stage_plain<T, D>, select_plain<T>, false});
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

// SPDX-License-Identifier: BSD-3-Clause
#include "search/tiles/pairs.hpp"

#include "core/cpu_lanes.hpp"
#include "parallel/cpu_vector.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define QUADRAT_PAIRS_BY_AVX2 1
#include <immintrin.h>
#else
#define QUADRAT_PAIRS_BY_AVX2 0
#endif

// All variants add and multiply in the same order: no fused operations (-ffp-contract=off).

namespace quadrat::detail {

namespace {

template <typename T, int D>
std::uint64_t pairs_of_groups_plain(const point_group<T, D>& from, const point_group<T, D>& to,
                                    const vec<T, D>& translation, T squared_reach) {
  std::uint64_t pairs = 0;
  for (std::size_t a = 0; a < points_of_group; ++a) {
    for (std::size_t b = 0; b < points_of_group; ++b) {
      const T squared = squared_norm((to.position(b) - from.position(a)) + translation);
      pairs |= static_cast<std::uint64_t>(squared < squared_reach) << (points_of_group * a + b);
    }
  }
  return pairs;
}

#if QUADRAT_PAIRS_BY_AVX2

__attribute__((target("avx2"))) inline int lanes_below(__m256 x, __m256 limit) {
  return _mm256_movemask_ps(_mm256_cmp_ps(x, limit, _CMP_LT_OQ));
}
__attribute__((target("avx2"))) inline int lanes_below(__m256d x, __m256d limit) {
  return _mm256_movemask_pd(_mm256_cmp_pd(x, limit, _CMP_LT_OQ));
}

template <typename T, int D>
__attribute__((target("avx2"))) std::uint64_t pairs_of_groups_avx2(const point_group<T, D>& from,
                                                                   const point_group<T, D>& to,
                                                                   const vec<T, D>& translation, T squared_reach) {
  constexpr int lanes = 32 / sizeof(T);
  using vector = typename cpu_vector<T, lanes>::type;
  using anywhere = typename cpu_vector<T, lanes>::anywhere;
  const vector limit = vector{} + squared_reach;
  std::uint64_t pairs = 0;
  for (std::size_t part = 0; part < points_of_group; part += lanes) {
    vector at[D];
    for (int axis = 0; axis < D; ++axis) at[axis] = *reinterpret_cast<const anywhere*>(to.at[axis] + part);
    for (std::size_t a = 0; a < points_of_group; ++a) {
      vector squared{};
      for (int axis = 0; axis < D; ++axis) {
        const vector r = (at[axis] - from.at[axis][a]) + translation[axis];
        squared = axis == 0 ? r * r : squared + r * r;
      }
      const auto bits = static_cast<unsigned>(lanes_below(squared, limit));
      pairs |= static_cast<std::uint64_t>(bits) << (points_of_group * a + part);
    }
  }
  return pairs;
}

#endif

}  // namespace

template <typename T, int D>
std::vector<pairs_of_groups<T, D>> pairs_of_groups_functions() {
  std::vector<pairs_of_groups<T, D>> functions;
#if QUADRAT_PAIRS_BY_AVX2
  if (has_lanes(cpu_lanes::avx2)) functions.push_back(pairs_of_groups_avx2<T, D>);
#endif
  functions.push_back(pairs_of_groups_plain<T, D>);
  return functions;
}

template std::vector<pairs_of_groups<float, 2>> pairs_of_groups_functions();
template std::vector<pairs_of_groups<float, 3>> pairs_of_groups_functions();
template std::vector<pairs_of_groups<double, 2>> pairs_of_groups_functions();
template std::vector<pairs_of_groups<double, 3>> pairs_of_groups_functions();

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "quadrat/core/context.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/search/cluster_pairs.hpp"
#include "quadrat/search/interaction.hpp"
#include "quadrat/search/listed_pairs.hpp"

/// Cluster pairs on a CPU, for visit_clusters.hpp: the pairs of the eight points of a group that are within the cutoff
/// are written side by side, point by point, and the functor then runs over eight of them at a time, in vector units if
/// the compiler can turn it into their instructions.
namespace quadrat::detail {

/// Writes the pairs of the points of a group among the tiles [tile, last) of its row, and adds their numbers to
/// `counts`, until a row of `pairs` may be full. Returns the first tile that has not been done.
template <typename T, int D>
struct select_tiles {
  std::uint64_t (*run)(const cluster_pair_view<T, D>& view, std::size_t group, std::uint64_t tile, std::uint64_t last,
                       selected_pairs<T, D>* pairs, std::size_t* counts);
  bool wide;  ///< whether this CPU has AVX2
};

/// Numbers that a sum consists of, so that vector units can add them up. None for types that are not known.
template <typename Sum>
struct sum_parts {
  static constexpr int count = 0;
};
template <typename T>
  requires(std::is_floating_point_v<T>)
struct sum_parts<T> {
  using value_type = T;
  static constexpr int count = 1;
  template <int Part>
  static T& part(T& sum) {
    return sum;
  }
};
template <typename T, int D>
struct sum_parts<vec<T, D>> {
  using value_type = T;
  static constexpr int count = D;
  template <int Part>
  static T& part(vec<T, D>& sum) {
    return sum[Part];
  }
};
template <typename T, int D>
struct sum_parts<interaction<T, D>> {
  using value_type = T;
  static constexpr int count = D + 2;
  template <int Part>
  static T& part(interaction<T, D>& sum) {
    if constexpr (Part < D) {
      return sum.force[Part];
    } else {
      return Part == D ? sum.energy : sum.virial;
    }
  }
};

#if defined(__GNUC__)
#define QUADRAT_INLINED __attribute__((always_inline)) inline
#else
#define QUADRAT_INLINED inline
#endif

/// f of a selected pair.
template <typename T, int D, typename F>
[[nodiscard]] QUADRAT_INLINED auto term_of(particle_id i, const selected_pairs<T, D>& pairs, std::size_t k,
                                           const F& f) {
  vec<T, D> r{};
  for (int axis = 0; axis < D; ++axis) r[axis] = pairs.separation[axis][k];
  return f(i, pairs.j[k], r, pairs.squared[k]);
}

/// Apart from the loop over lanes, whose own variables the compiler would keep in memory.
template <typename Sum, int... Parts, typename Value, typename T, int D, typename F>
QUADRAT_INLINED void add_to_lane(Value (&lane_sums)[sizeof...(Parts)][points_of_group], std::size_t lane, particle_id i,
                                 const selected_pairs<T, D>& pairs, std::size_t k, const F& f) {
  Sum term = term_of(i, pairs, k, f);
  ((lane_sums[Parts][lane] += sum_parts<Sum>::template part<Parts>(term)), ...);
}

/// Adds f over the first pairs, eight at a time, each in a lane of its own; returns how many were added. The order of
/// additions does not depend on the instructions.
template <typename Sum, typename T, int D, typename F, int... Parts>
[[nodiscard]] QUADRAT_INLINED std::size_t add_eights(Sum& sum, particle_id i, const selected_pairs<T, D>& pairs,
                                                     std::size_t count, const F& f,
                                                     std::integer_sequence<int, Parts...> /*parts*/) {
  constexpr std::size_t lanes = points_of_group;
  using parts = sum_parts<Sum>;
  typename parts::value_type lane_sums[sizeof...(Parts)][lanes] = {};
  std::size_t k = 0;
  for (; k + lanes <= count; k += lanes) {
#pragma omp simd
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      add_to_lane<Sum, Parts...>(lane_sums, lane, i, pairs, k + lane, f);
    }
  }
  for (std::size_t lane = 0; k > 0 && lane < lanes; ++lane) {
    ((parts::template part<Parts>(sum) += lane_sums[Parts][lane]), ...);
  }
  return k;
}

template <typename Sum, typename T, int D, typename F>
QUADRAT_INLINED void add_selected(Sum& sum, particle_id i, const selected_pairs<T, D>& pairs, std::size_t count,
                                  const F& f) {
  constexpr int parts = sum_parts<Sum>::count;
  std::size_t k = 0;
  if constexpr (parts > 0) k = add_eights(sum, i, pairs, count, f, std::make_integer_sequence<int, parts>{});
  for (; k < count; ++k) sum += term_of(i, pairs, k, f);
}

/// Compiled for AVX2 whatever the rest of the program is compiled for.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__)
#define QUADRAT_WIDE __attribute__((target("avx2")))
#else
#define QUADRAT_WIDE
#endif
template <typename Sum, typename T, int D, typename F>
QUADRAT_WIDE void add_selected_wide(Sum& sum, particle_id i, const selected_pairs<T, D>& pairs, std::size_t count,
                                    const F& f) {
  add_selected(sum, i, pairs, count, f);
}

#undef QUADRAT_WIDE
#undef QUADRAT_INLINED

/// Index: place. Does the group of each eighth place: with one index a point, small sets use all threads, too.
template <typename T, int D, typename Sum, typename F>
struct accumulate_groups_of {
  cluster_pair_view<T, D> view;
  select_tiles<T, D> select;
  Sum* result;
  const F& f;

  void operator()(std::size_t place) const {
    if (place % points_of_group != 0) return;
    const std::size_t number = place / points_of_group, row = number / groups_of_row;
    const point_group<T, D>& group = view.groups[number];
    selected_pairs<T, D> pairs[points_of_group];
    Sum sums[points_of_group]{};
    const std::uint64_t last = view.offsets[row + 1];
    for (std::uint64_t tile = view.offsets[row]; tile < last;) {
      std::size_t counts[points_of_group] = {};
      tile = select.run(view, number, tile, last, pairs, counts);
      for (std::size_t a = 0; a < points_of_group; ++a) {
        if (select.wide) {
          add_selected_wide(sums[a], group.id[a], pairs[a], counts[a], f);
        } else {
          add_selected(sums[a], group.id[a], pairs[a], counts[a], f);
        }
      }
    }
    for (std::size_t a = 0; a < points_of_group; ++a) {
      if (group.id[a] != no_particle) result[group.id[a]] = sums[a];
    }
  }
};

}  // namespace quadrat::detail

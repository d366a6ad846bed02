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

/// Cluster pairs on a CPU, for visit_clusters.hpp. The points of the tiles of a row are stored contiguously in a stage,
/// which 32 points share. Each of these points has a list of places in the stage. Its pairs within the cutoff are
/// written contiguously, and the functor then runs over eight of them at a time, in vector instructions if the compiler
/// can vectorize it.
namespace quadrat::detail {

/// Points of at most tiles_of_stage tiles of a row: point b of tile t is at place 8 t + b. In two dimensions z is 0.
/// There is room for one more of each: a register that is read beyond the end of a list holds the number of places that
/// follows it, which may be one larger than the largest place.
template <typename T>
struct row_stage {
  pair_point<T, 3> points[tiles_of_stage * points_of_group + 1];  ///< the property has the bits of the id
  pair_point<T, 3> translations[tiles_of_stage + 1];              ///< of the tiles
  bool translated;                                                ///< whether some translation is not zero
};

/// The functions for sums over tiles on a CPU.
template <typename T, int D>
struct select_tiles {
  /// Stages the tiles [first, last), at most tiles_of_stage.
  void (*stage)(const cluster_pair_view<T, D>& view, std::uint64_t first, std::uint64_t last, row_stage<T>& stage);
  /// Writes the pairs of a point at `from` with at most selected_pairs::most places that are nearer than the cutoff, in
  /// their order; returns how many. May read numbers_beyond numbers after the places.
  std::size_t (*select)(const row_stage<T>& stage, const vec<T, 3>& from, T squared_cutoff, const std::uint16_t* places,
                        std::size_t count, selected_pairs<T, 3>& pairs);
  bool wide;  ///< whether this CPU has AVX2
};

/// The numbers of a sum, so that vector instructions can add them. None for unknown types.
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
template <typename T, int D, typename Virial>
struct sum_parts<interaction<T, D, Virial>> {
  using value_type = T;
  using virial_parts = sum_parts<Virial>;
  static constexpr int count = D + 1 + virial_parts::count;
  template <int Part>
  static T& part(interaction<T, D, Virial>& sum) {
    if constexpr (Part < D) {
      return sum.force[Part];
    } else if constexpr (Part == D) {
      return sum.energy;
    } else {
      return virial_parts::template part<Part - D - 1>(sum.virial);
    }
  }
};

#if defined(__GNUC__)
#define QUADRAT_INLINED __attribute__((always_inline)) inline
#else
#define QUADRAT_INLINED inline
#endif

/// f of a selected pair.
template <int D, typename T, typename F>
[[nodiscard]] QUADRAT_INLINED auto term_of(particle_id i, const selected_pairs<T, 3>& pairs, std::size_t k,
                                           const F& f) {
  vec<T, D> r{};
  for (int axis = 0; axis < D; ++axis) r[axis] = pairs.separation[axis][k];
  return f(i, pairs.j[k], r, pairs.squared[k]);
}

/// A separate function, because inside the loop over lanes the compiler would keep the variables in memory.
template <typename Sum, int D, int... Parts, typename Value, typename T, typename F>
QUADRAT_INLINED void add_to_lane(Value (&lane_sums)[sizeof...(Parts)][points_of_group], std::size_t lane, particle_id i,
                                 const selected_pairs<T, 3>& pairs, std::size_t k, const F& f) {
  Sum term = term_of<D>(i, pairs, k, f);
  ((lane_sums[Parts][lane] += sum_parts<Sum>::template part<Parts>(term)), ...);
}

/// Adds f over the first pairs, eight at a time, one per lane; returns how many were added. The order of additions does
/// not depend on the instruction set.
template <int D, typename Sum, typename T, typename F, int... Parts>
[[nodiscard]] QUADRAT_INLINED std::size_t add_eights(Sum& sum, particle_id i, const selected_pairs<T, 3>& pairs,
                                                     std::size_t count, const F& f,
                                                     std::integer_sequence<int, Parts...> /*parts*/) {
  constexpr std::size_t lanes = points_of_group;
  using parts = sum_parts<Sum>;
  typename parts::value_type lane_sums[sizeof...(Parts)][lanes] = {};
  std::size_t k = 0;
  for (; k + lanes <= count; k += lanes) {
#pragma omp simd
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      add_to_lane<Sum, D, Parts...>(lane_sums, lane, i, pairs, k + lane, f);
    }
  }
  for (std::size_t lane = 0; k > 0 && lane < lanes; ++lane) {
    ((parts::template part<Parts>(sum) += lane_sums[Parts][lane]), ...);
  }
  return k;
}

template <int D, typename Sum, typename T, typename F>
QUADRAT_INLINED void add_selected(Sum& sum, particle_id i, const selected_pairs<T, 3>& pairs, std::size_t count,
                                  const F& f) {
  constexpr int parts = sum_parts<Sum>::count;
  std::size_t k = 0;
  if constexpr (parts > 0) k = add_eights<D>(sum, i, pairs, count, f, std::make_integer_sequence<int, parts>{});
  for (; k < count; ++k) sum += term_of<D>(i, pairs, k, f);
}

/// Compiled for AVX2, regardless of the flags of the rest of the program.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__)
#define QUADRAT_WIDE __attribute__((target("avx2")))
#else
#define QUADRAT_WIDE
#endif
template <int D, typename Sum, typename T, typename F>
QUADRAT_WIDE void add_selected_wide(Sum& sum, particle_id i, const selected_pairs<T, 3>& pairs, std::size_t count,
                                    const F& f) {
  add_selected<D>(sum, i, pairs, count, f);
}

#undef QUADRAT_WIDE
#undef QUADRAT_INLINED

/// Index: a point's place. The index of the first place of a row does the whole row of 32; the others do nothing. With
/// one index per point, small sets also use all threads.
template <typename T, int D, typename Sum, typename F>
struct accumulate_rows_of_tiles {
  cluster_pair_view<T, D> view;
  staged_places places;
  select_tiles<T, D> select;
  Sum* result;
  const F& f;

  void operator()(std::size_t place) const {
    if (place % points_of_row != 0) return;
    const std::size_t row = place / points_of_row;
    row_stage<T> stage;
    Sum sums[points_of_row]{};
    const std::uint16_t* numbers = places.numbers + places.offsets[row];
    const std::uint64_t last = view.offsets[row + 1];
    for (std::uint64_t tile = view.offsets[row]; tile < last; tile += tiles_of_stage) {
      select.stage(view, tile, last - tile < tiles_of_stage ? last : tile + tiles_of_stage, stage);
      for (std::size_t p = 0; p < points_of_row; ++p) {
        const std::size_t count = *numbers++;
        if (count > 0) add_point(row, p, stage, numbers, count, sums[p]);
        numbers += count;
      }
    }
    for (std::size_t p = 0; p < points_of_row; ++p) {
      const particle_id i = view.id(points_of_row * row + p);
      if (i != no_particle) result[i] = sums[p];
    }
  }

 private:
  /// Adds the pairs of point p with `listed` places.
  void add_point(std::size_t row, std::size_t p, const row_stage<T>& stage, const std::uint16_t* of_point,
                 std::size_t listed, Sum& sum) const {
    const point_group<T, D>& own = view.groups[groups_of_row * row + p / points_of_group];
    const particle_id i = own.id[p % points_of_group];
    vec<T, 3> from{};
    for (int axis = 0; axis < D; ++axis) from[axis] = own.at[axis][p % points_of_group];
    selected_pairs<T, 3> pairs;
    for (std::size_t first = 0; first < listed; first += pairs.most) {
      const std::size_t some = listed - first < pairs.most ? listed - first : pairs.most;
      const std::size_t count = select.select(stage, from, view.cutoff * view.cutoff, of_point + first, some, pairs);
      if (select.wide) {
        add_selected_wide<D>(sum, i, pairs, count, f);
      } else {
        add_selected<D>(sum, i, pairs, count, f);
      }
    }
  }
};

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "quadrat/core/box.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/workspace.hpp"

/// Cluster pairs: neighbors as tiles of 32 x 8 points with a mask, instead of one index per pair (S. Pall, B. Hess, "A
/// flexible algorithm for calculating pair interactions on SIMD architectures", 2013). Points are kept in an order in
/// which successive ones are close to each other. Eight successive points are a group, and four groups are a row. A row
/// has a list of tiles: a group, its image, and a bit for each of the 32 x 8 pairs. A tile is read once for 32 points,
/// from contiguous memory, and a pair takes one bit.
namespace quadrat {

inline constexpr std::size_t points_of_group = 8;
inline constexpr std::size_t groups_of_row = 4;
inline constexpr std::size_t points_of_row = points_of_group * groups_of_row;

template <typename T>
struct cluster_pair_options {
  T cutoff = T(0);
  /// The tiles hold pairs up to cutoff + skin, so they stay complete until a point has moved by half of the skin.
  T skin = T(0);
};

/// Positions and ids of eight points, by component. Unused places at the end are at infinity, with no_particle.
template <typename T, int D>
struct alignas(32) point_group {
  T at[static_cast<std::size_t>(D)][points_of_group];
  particle_id id[points_of_group];

  [[nodiscard]] QUADRAT_HD vec<T, D> position(std::size_t place) const {
    return make_vec<T, D>([&](int axis) { return at[axis][place]; });
  }
};

/// A group near the points of a row. The separation of a pair is (to - from) + translation.
template <typename T, int D>
struct alignas(4 * sizeof(T)) pair_tile {
  vec<T, D> translation;  ///< of the image
  std::uint32_t group;
};

namespace detail {

/// The pairs of tiles in another form, for sums on a GPU (tile_kernels.hpp). The tiles of a row are summed in stages of
/// at most `staged_tiles`, as equal as possible: tile t of a row is in stage t % (their number), at place t / (their
/// number). In each stage all points of a row take the same number of turns, of four neighbors each.
struct staged_turns {
  const std::uint64_t* offsets;  ///< rows + 1: the turns of row r, of all its stages, begin at offsets[r]
  /// A word for each point of a row, turn by turn. Each byte is 8 k + b for point b of tile k of the stage, or
  /// no_place.
  const std::uint32_t* words;
};
/// A byte can number their points, plus one value for none.
inline constexpr unsigned staged_tiles = 31;
inline constexpr unsigned no_place = staged_tiles * points_of_group;
inline constexpr unsigned places_of_turn = 4;

[[nodiscard]] QUADRAT_HD constexpr unsigned stages_of_tiles(unsigned tiles) {
  return tiles / staged_tiles + (tiles % staged_tiles != 0 ? 1 : 0);
}

/// The same for sums on a CPU (tile_selection.hpp): stages of `tiles_of_stage` successive tiles of a row. For each
/// stage, and each point of the row in it, the number of its places, then the places: 8 t + b for point b of tile t.
struct staged_places {
  const std::uint64_t* offsets;  ///< rows + 1: of the numbers of row r, of all its stages
  const std::uint16_t* numbers;
};
inline constexpr unsigned tiles_of_stage = 128;
/// Room for numbers beyond the last row, so that whole registers can be read.
inline constexpr std::size_t numbers_beyond = 16;

template <typename T, int D>
struct selected_pairs;
template <typename T, int D>
struct select_tiles;
struct tile_access;

/// The number of the lowest bit that is set.
[[nodiscard]] QUADRAT_HD inline unsigned lowest_bit(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  return static_cast<unsigned>(__ffs(static_cast<int>(word)) - 1);
#else
  return static_cast<unsigned>(std::countr_zero(word));
#endif
}

}  // namespace detail

/// The tiles, in the memory of the context, for your own kernels. Valid until the next build or update. Place p of the
/// order is place p % 8 of group p / 8, and place p % 32 of row p / 32.
template <typename T, int D>
struct cluster_pair_view {
  std::size_t points;
  std::size_t rows;                 ///< points / 32, rounded up
  const point_group<T, D>* groups;  ///< rows x 4; positions of the last build or update
  const std::uint64_t* offsets;     ///< rows + 1: the tiles of row r are [offsets[r], offsets[r + 1])
  const pair_tile<T, D>* tiles;
  /// Four words a tile, one for each group of its row: bit 8 a + b of word k stands for point a of group k and point b
  /// of the tile's group. Set if nearer than cutoff + skin at the last build; never for a point and itself.
  const std::uint64_t* masks;
  T cutoff;

  /// The point at a place; no_particle at unused places at the end.
  [[nodiscard]] QUADRAT_HD particle_id id(std::size_t place) const {
    return groups[place / points_of_group].id[place % points_of_group];
  }
  /// Bit b: whether the point at place `place` of the tile's row and point b of the tile's group may be a pair.
  [[nodiscard]] QUADRAT_HD std::uint32_t pairs_of_place(std::uint64_t tile, std::size_t place) const {
    const std::uint64_t word = masks[groups_of_row * tile + place / points_of_group % groups_of_row];
    return static_cast<std::uint32_t>(word >> points_of_group * (place % points_of_group)) & 0xffu;
  }

  /// Calls f(j, separation, squared distance) for each neighbor of the point at a place that is currently nearer than
  /// the cutoff. For kernels with a thread per point, and any f. Neighbors come in the order of the tiles.
  QUADRAT_CALLS_ANY
  template <typename F>
  QUADRAT_HD void for_each_neighbor(std::size_t place, F&& f) const {
    const vec<T, D> from = groups[place / points_of_group].position(place % points_of_group);
    const std::size_t row = place / points_of_row;
    for (std::uint64_t t = offsets[row]; t < offsets[row + 1]; ++t) {
      const pair_tile<T, D>& tile = tiles[t];
      const point_group<T, D>& group = groups[tile.group];
      for (std::uint32_t bits = pairs_of_place(t, place); bits != 0; bits &= bits - 1) {
        const unsigned b = detail::lowest_bit(bits);
        const vec<T, D> r = (group.position(b) - from) + tile.translation;
        const T squared = squared_norm(r);
        if (squared < cutoff * cutoff) f(group.id[b], r, squared);
      }
    }
  }
};

/// A full list of tiles: each pair is in it twice, once for each of its points. Move-only. T: float or double; D: 2 or
/// 3; Context: cpu_context or cuda_context. visit_clusters.hpp sums forces over it.
///
/// The pairs are those of a neighbor_list with one cutoff: (i, j, S), images included, never (i, i, 0). Axes are open
/// or periodic in any mixture, the box orthorhombic or triclinic and of any size. Points may lie anywhere along open
/// axes, where the size of the box does not matter, and up to 2^20 boxes outside along periodic ones. The time follows
/// the number of points and pairs, wherever they are.
///
/// Determinism: always the same tiles, in the same order.
template <typename Context, typename T, int D>
class cluster_pair_list {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// Throws argument_error for a cutoff that is not positive and finite, a negative skin, a cutoff that spans more than
  /// 33 periods of the box, and a box that is too skewed or has an open vector that is not perpendicular to the
  /// periodic ones.
  cluster_pair_list(const Context& context, const lattice<T, D>& box, const cluster_pair_options<T>& options);

  /// Builds the list; keeps a copy of the points. Waits. May allocate, if it needs more memory than earlier builds.
  /// Throws argument_error for invalid input visible to the host, and if the free memory cannot hold the tiles;
  /// data_error naming the first point that is not finite or too far outside a periodic box. The list is unusable after
  /// an exception.
  void build(const points_view<T, D>& points);

  /// Updates the list to these points; returns whether it was rebuilt: if there is no list, if the number of points has
  /// changed, or if some point has moved by more than half of the skin, less a bound on rounding, since the last build.
  /// Motion is taken modulo the periodic box. Otherwise only positions change. Needs a skin. Waits. May allocate.
  /// Throws what build throws.
  bool update(const points_view<T, D>& points);

  /// Throws argument_error if nothing has been built, or the last build failed.
  [[nodiscard]] cluster_pair_view<T, D> view() const;
  /// Number of tiles.
  [[nodiscard]] std::uint64_t tiles() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const cluster_pair_options<T>& options() const;
  [[nodiscard]] const Context& context() const;

 private:
  friend detail::tile_access;
  /// For visit_clusters.hpp: memory for reductions, the fastest selection for this CPU, and the pairs for sums on a GPU
  /// and a CPU.
  [[nodiscard]] workspace<Context>& scratch() const;
  [[nodiscard]] static detail::select_tiles<T, D> selection();
  [[nodiscard]] detail::staged_turns turns() const;
  [[nodiscard]] detail::staged_places places() const;

  struct implementation;
  detail::pimpl<implementation> implementation_;
};

namespace detail {

/// Access to a list for the functions of visit_clusters.hpp.
struct tile_access {
  template <typename List>
  [[nodiscard]] static auto& scratch(const List& list) {
    return list.scratch();
  }
  template <typename List>
  [[nodiscard]] static auto selection(const List& list) {
    return list.selection();
  }
  template <typename List>
  [[nodiscard]] static auto turns(const List& list) {
    return list.turns();
  }
  template <typename List>
  [[nodiscard]] static auto places(const List& list) {
    return list.places();
  }
};

}  // namespace detail

/// A list without points in a box of any shape. Context, precision and dimension are deduced from the arguments, so
/// that options can be written in place: `make_cluster_pair_list(context, box, {.cutoff = 2.5, .skin = 0.3})`. Throws
/// what the constructor throws.
template <typename Context, typename T, int D>
[[nodiscard]] cluster_pair_list<Context, T, D> make_cluster_pair_list(
    const Context& context, const lattice<T, D>& shape, const cluster_pair_options<std::type_identity_t<T>>& options) {
  return {context, shape, options};
}
template <typename Context, typename T, int D>
[[nodiscard]] cluster_pair_list<Context, T, D> make_cluster_pair_list(
    const Context& context, const box<T, D>& domain, const cluster_pair_options<std::type_identity_t<T>>& options) {
  return {context, make_lattice(domain), options};
}

}  // namespace quadrat

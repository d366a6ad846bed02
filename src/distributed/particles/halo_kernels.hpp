// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "distributed/particles/bisection.hpp"
#include "distributed/particles/rank_extents.hpp"
#include "distributed/ranks/runs_of_ranks.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/distributed/decomposition.hpp"
#include "quadrat/distributed/halo.hpp"

/// The kernel bodies of halos.
namespace quadrat::detail {

/// Finds the ranks that need a copy of a particle.
template <typename T, int D>
struct ranks_near {
  grid<T, D> space;
  decomposition_view<D> shares;
  points_view<T, D> points;
  T reach;
  const T* of_rank;   ///< nullptr: 0
  const T* of_point;  ///< nullptr: 0
  T largest_of_rank;
  int self;

  template <typename F>
  QUADRAT_HD void operator()(std::size_t i, F&& f) const {
    const vec<T, D> point = space.domain.wrap(points[i]);
    const T base = reach + (of_point != nullptr ? of_point[i] : T(0));
    shares.for_each_rank(space.reach(point, base + largest_of_rank), [&](int rank) {
      if (rank == self) return;
      if (of_rank != nullptr && !shares.meets(space.reach(point, base + of_rank[rank]), rank)) return;
      f(rank);
    });
  }
};

/// The same in a box of any shape: ranks with points within a distance.
template <typename T, int D>
struct ranks_with_points_near {
  ranks_by_extent<T, D> near;
  double squared;

  template <typename F>
  QUADRAT_HD void operator()(std::size_t i, F&& f) const {
    near.for_each(i, squared, [&](std::uint32_t rank) { f(static_cast<int>(rank)); });
  }
};

/// `Near`: one of these.
template <typename Near>
struct count_copies {
  Near near;
  std::uint32_t* counts;

  QUADRAT_HD void operator()(std::size_t i) const {
    std::uint32_t count = 0;
    near(i, [&](int) { ++count; });
    counts[i] = count;
  }
};

/// Lists the copies of each particle that has some.
struct copies_of_some {
  const std::uint32_t* copies;
  const std::uint32_t* some;
  std::uint32_t* counts;

  QUADRAT_HD void operator()(std::size_t k) const { counts[k] = copies[some[k]]; }
};

template <typename Near>
struct fill_copies {
  Near near;
  const std::uint32_t* some;
  const std::uint64_t* offsets;
  std::uint32_t* keys;
  std::uint32_t* indices;

  QUADRAT_HD void operator()(std::size_t k) const {
    std::uint64_t place = offsets[k];
    near(some[k], [&](int rank) {
      keys[place] = static_cast<std::uint32_t>(rank);
      indices[place++] = some[k];
    });
  }
};

/// Arrays that travel together: the elements of a particle in all arrays form one row of 32-bit words.
struct halo_rows {
  static constexpr int most = 8;

  std::uint32_t* data[most];
  std::size_t width[most];  ///< words of an element
  int arrays;
  std::size_t words;  ///< of a row
};

[[nodiscard]] inline halo_rows rows_of(std::span<const halo_array> arrays) {
  require(!arrays.empty() && arrays.size() <= halo_rows::most, "a halo moves ", arrays.size(), " arrays; 1 to ",
          halo_rows::most, " are possible");
  halo_rows rows{};
  for (const halo_array& one : arrays) {
    require_words(one.element_bytes);
    rows.data[rows.arrays] = static_cast<std::uint32_t*>(one.data);
    rows.width[rows.arrays] = one.element_bytes / sizeof(std::uint32_t);
    rows.words += rows.width[rows.arrays++];
  }
  return rows;
}

struct pack_rows {
  halo_rows rows;
  const std::uint32_t* indices;
  std::uint32_t* out;

  QUADRAT_HD void operator()(std::size_t k) const {
    std::uint32_t* target = out + k * rows.words;
    for (int one = 0; one < rows.arrays; ++one) {
      const std::uint32_t* const source = rows.data[one] + indices[k] * rows.width[one];
      for (std::size_t word = 0; word < rows.width[one]; ++word) *target++ = source[word];
    }
  }
};

struct unpack_rows {
  halo_rows rows;
  std::size_t own;
  const std::uint32_t* in;

  QUADRAT_HD void operator()(std::size_t k) const {
    const std::uint32_t* source = in + k * rows.words;
    for (int one = 0; one < rows.arrays; ++one) {
      std::uint32_t* const target = rows.data[one] + (own + k) * rows.width[one];
      for (std::size_t word = 0; word < rows.width[one]; ++word) target[word] = *source++;
    }
  }
};

/// Adds what one rank has sent to the particles of its entries.
template <typename V>
struct add_rows {
  const V* received;
  const std::uint32_t* indices;
  std::size_t width;
  V* values;

  QUADRAT_HD void operator()(std::size_t k) const {
    for (std::size_t c = 0; c < width; ++c) values[indices[k] * width + c] += received[k * width + c];
  }
};

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "mesh/tiles/cuda/grid.hpp"
#include "quadrat/cells/counting.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Sorts points by tile into records, and finds where each tile begins. Only for CUDA.
///
/// Many points are first sorted into 512 ranges of tiles, and then, piece by piece of a range, into tiles. Both steps
/// move whole records through shared memory and write them in contiguous runs, so no access to a record is scattered. A
/// crowded range has many pieces. For few points, more than 2^23 tiles, or points that must be in order, ids are sorted
/// by counting, and their records are gathered.
template <typename T>
class tile_sorter {
 public:
  /// `planned`: at least the number of points. With the same `planned`, fewer points need no more memory.
  ///
  /// Writes `points.count` records, and returns `grid.tile_count() + 1` offsets, valid until the next call: tile t is
  /// [offsets[t], offsets[t + 1]) of the records. Within a tile: increasing ids where `ordered`, otherwise the order of
  /// atomic operations. An invalid point raises a fault and gets an arbitrary tile. Asynchronous; allocates only when
  /// sizes grow. The memory and stream of the first context are used as long as the sorter lives.
  [[nodiscard]] const std::uint32_t* sort(const cuda_context& context, const tile_grid& grid,
                                          const point_placement<T>& points, std::size_t planned, bool ordered,
                                          tile_record<T>* records);
  /// Bytes held.
  [[nodiscard]] std::size_t bytes() const {
    return buckets_.bytes() + tiles_.bytes() + grouped_.bytes() + low_keys_.bytes() + tile_counts_.bytes() +
           control_.bytes() + offsets_.bytes() + scratch_.bytes();
  }
  /// An approximate upper bound on the bytes that would be held.
  [[nodiscard]] static std::size_t bytes_needed(std::size_t count, std::size_t tiles, bool ordered);

 private:
  [[nodiscard]] const std::uint32_t* gather(const cuda_context& context, const tile_grid& grid,
                                            const point_placement<T>& points, bool ordered, tile_record<T>* records);
  void partition(const cuda_context& context, const tile_grid& grid, const point_placement<T>& points,
                 tile_record<T>* records, std::uint32_t* offsets);
  void prepare(const cuda_context& context, std::size_t count, std::size_t tiles);

  std::optional<cuda_context> kept_;        ///< keeps alive the stream of contexts made from it
  counting_buckets<cuda_context> buckets_;  ///< for few points, or in order
  array<std::uint32_t, cuda_context> tiles_;
  array<tile_record<T>, cuda_context> grouped_;
  array<std::uint16_t, cuda_context> low_keys_;
  array<std::uint32_t, cuda_context> tile_counts_;  ///< zeros between two sorts
  array<std::uint32_t, cuda_context> control_;
  array<std::uint32_t, cuda_context> offsets_;  ///< unless they are those of `buckets_`
  workspace<cuda_context> scratch_;
  bool clean_ = false;  ///< whether counts are zero
};

}  // namespace quadrat::detail

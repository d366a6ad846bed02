// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "quadrat/parallel/atomic.hpp"
#include "search/search.hpp"

/// Counting the distances of pairs, as host-device code.
namespace quadrat::detail {

/// The system of all slots, passed to kernels by value.
template <typename T, int D>
struct one_system {
  search_system<T, D> system;
  [[nodiscard]] QUADRAT_HD const search_system<T, D>& of_slot(std::size_t) const { return system; }
};
/// The systems of slots, in the memory of the context.
template <typename T, int D>
struct systems_of_slots {
  const search_system<T, D>* systems;
  const std::uint32_t* system_of_point;
  const particle_id* elements;
  [[nodiscard]] QUADRAT_HD const search_system<T, D>& of_slot(std::size_t slot) const {
    return systems[system_of_point[elements[slot]]];
  }
};

/// Index: slot. Stores points in the order of cells; `id` of a record is the point's type.
template <typename T, int D, typename Systems>
struct place_typed_points {
  Systems systems;
  points_view<T, D> points;
  const std::uint32_t* types;  ///< by point, or nullptr
  const particle_id* elements;
  search_point<T, D>* placed;

  QUADRAT_HD void operator()(std::size_t slot) const {
    const particle_id i = elements[slot];
    vec<int, D> boxes{};
    placed[slot] = {systems.of_slot(slot).shape.wrap(points[i], boxes), types == nullptr ? 0 : types[i]};
  }
};

/// Points in cells, and the bins of their distances.
template <typename T, int D, typename Systems>
struct pair_distances {
  Systems systems;
  const std::uint32_t* cell_offsets;
  const search_point<T, D>* points;
  T cutoff;
  T squared_cutoff;
  T bins_per_length;
  std::uint32_t bins;
  std::uint32_t types;

  /// Calls add(bin of the histogram, pairs) for the point in a slot with those in earlier slots, and with its own
  /// images. Each pair of different points is found once; pairs of equal types count twice, once from each end.
  template <typename Add>
  QUADRAT_HD void count(std::uint32_t slot, Add&& add) const {
    const search_point<T, D> point = points[slot];
    const search_system<T, D>& system = systems.of_slot(slot);
    const walking_order rows{true, 1};
    for_each_image_run(
        system, system.reach(point.position, cutoff), rows, [&](cell_id first, cell_id last, const vec<int, D>& shift) {
          const std::uint32_t begin = cell_offsets[first], end = cell_offsets[last + 1];
          const vec<T, D> translation = system.shape.translation(shift);
          count_run(begin, end < slot ? end : slot, point, translation, add);
          if (begin <= slot && slot < end && !(shift == vec<int, D>{})) {
            count_run(slot, slot + 1, point, translation, [&](std::uint32_t bin, std::uint32_t) { add(bin, 1u); });
          }
        });
  }

 private:
  template <typename Add>
  QUADRAT_HD void count_run(std::uint32_t begin, std::uint32_t end, const search_point<T, D>& point,
                            const vec<T, D>& translation, Add&& add) const {
    for (std::uint32_t k = begin; k < end; ++k) {
      const search_point<T, D> other = points[k];
      const T squared = squared_norm(neighbor_search<T, D>::separation(point.position, other.position, translation));
      if (!(squared < squared_cutoff)) continue;
      const auto bin = static_cast<std::uint32_t>(std::sqrt(squared) * bins_per_length);
      const bool same = point.id == other.id;
      add(first_bin(point.id, other.id) + (bin < bins ? bin : bins - 1), same ? 2u : 1u);
    }
  }
  [[nodiscard]] QUADRAT_HD std::uint32_t first_bin(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t low = a < b ? a : b, high = a < b ? b : a;
    return (low * types - low * (low + 1) / 2 + high) * bins;
  }
};

/// Index: slot. Adds to one of several copies of the histogram, so that few threads compete for the same word.
template <typename Pairs>
struct count_distances {
  Pairs pairs;
  std::uint64_t* counts;
  std::size_t size;    ///< of a copy
  std::size_t copies;  ///< a power of two

  QUADRAT_HD void operator()(std::size_t slot) const {
    std::uint64_t* const own = counts + (slot / 32 & (copies - 1)) * size;
    pairs.count(static_cast<std::uint32_t>(slot),
                [&](std::uint32_t bin, std::uint32_t number) { atomic_add(own + bin, std::uint64_t{number}); });
  }
};

/// Index: bin. Adds all copies to the total.
struct collect_copies {
  std::uint64_t* total;
  const std::uint64_t* counts;
  std::size_t size;
  std::size_t copies;

  QUADRAT_HD void operator()(std::size_t bin) const {
    for (std::size_t c = 0; c < copies; ++c) total[bin] += counts[c * size + bin];
  }
};

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/cpu_lanes.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/for_each_part.hpp"
#include "search/pairs/counting.hpp"
#include "search/pairs/levels_512.hpp"

namespace quadrat::detail {

namespace {

/// The pairs that one thread counts. Sources are taken in groups of neighbors in memory, which share the rows of cells
/// around them; each source takes from a row what is within its own reach.
template <typename T>
class thread_pairs {
 public:
  explicit thread_pairs(const counted_pairs<T>& pairs)
      : a_(pairs), words_(pairs.sums.any() ? pairs.words() : pairs.bins.size()) {
#if QUADRAT_HAS_PAIR_LANES
    if (!pairs.sums.any() && pairs.bins.second_edges == nullptr && has_lanes(cpu_lanes::avx512)) {
      levels_.emplace(pairs.bins.squared_edges, pairs.bins.bins);
    }
#endif
  }

  /// Counts the pairs of the sources in [first, last).
  void count(std::uint32_t first, std::uint32_t last) {
    while (first < last) {
      reach_[0] = reach_of(first);
      group_reach<T, 3> all = reach_[0];
      std::uint32_t size = 1;
      for (; size < most_sources && first + size < last; ++size) {
        reach_[size] = reach_of(first + size);
        if (!reach_[0].takes(a_.system, reach_[size], a_.span)) break;
        all.join(reach_[size]);
      }
      count_group(first, size, layer_rows<T, 3>(a_.system, all, a_.region));
      first += size;
    }
  }

  void add_to(std::uint64_t* totals) {
#if QUADRAT_HAS_PAIR_LANES
    if (levels_) levels_->take(words_.data(), a_.bins.bins);
#endif
    for (std::size_t k = 0; k < words_.size(); ++k) totals[k] += words_[k];
  }

 private:
  static constexpr std::uint32_t most_sources = 16, most_targets = 256;

  [[nodiscard]] static vec<T, 3> point_at(const placed_points<T>& points, std::uint32_t slot) {
    return make_vec<T, 3>([&](int axis) { return points.component[axis][slot]; });
  }
  [[nodiscard]] group_reach<T, 3> reach_of(std::uint32_t slot) const {
    return group_reach<T, 3>::of_point(a_.system, point_at(a_.sources, slot), a_.region.reach);
  }

  void count_group(std::uint32_t first, std::uint32_t size, const layer_rows<T, 3>& rows) {
    const std::uint64_t count = rows.count();
    for (std::uint64_t n = 0; n < count; ++n) {
      const cell_run<3> run = rows[n];
      if (run.last < run.first) continue;
      const std::uint32_t begin = a_.cell_offsets[run.first], end = a_.cell_offsets[run.last + 1];
      if (begin >= (a_.own ? std::min(end, first + size - 1) : end)) continue;
      const vec<T, 3> translation = a_.system.shape.translation(run.shift);
      for (std::uint32_t k = 0; k < size; ++k) count_source(first + k, translation, rows.part_for(reach_[k], run));
    }
  }
  void count_source(std::uint32_t slot, const vec<T, 3>& translation, const cell_run<3>& run) {
    if (run.last < run.first) return;
    std::uint32_t begin = a_.cell_offsets[run.first], end = a_.cell_offsets[run.last + 1];
    if (a_.own) end = std::min(end, slot);
    if (begin >= end) return;
    const vec<T, 3> point = point_at(a_.sources, slot);
#if QUADRAT_HAS_PAIR_LANES
    if (levels_) return levels_->add(point, translation, a_.targets.component, begin, end);
#endif
    for (; begin < end; begin += most_targets) {
      add_targets(slot, point, translation, begin, std::min(end - begin, most_targets));
    }
  }

  /// Distances first, in loops that compilers turn into vector instructions, then those that are in bins.
  void add_targets(std::uint32_t slot, const vec<T, 3>& point, const vec<T, 3>& translation, std::uint32_t begin,
                   std::uint32_t count) {
    T squared[most_targets], along[most_targets];
    std::uint32_t kept[most_targets];
    for (std::uint32_t j = 0; j < count; ++j) {
      const vec<T, 3> r = neighbor_search<T, 3>::separation(point, point_at(a_.targets, begin + j), translation);
      squared[j] = a_.bins.squared(r);
      along[j] = r[2];
    }
    std::uint32_t size = 0;
    for (std::uint32_t j = 0; j < count; ++j) {
      kept[size] = j;
      size +=
          static_cast<std::uint32_t>(squared[j] >= a_.bins.low) & static_cast<std::uint32_t>(squared[j] < a_.bins.high);
    }
    for (std::uint32_t n = 0; n < size; ++n) {
      const std::uint32_t j = kept[n];
      std::uint32_t bin = a_.bins.first_bin(squared[j]);
      if (a_.bins.add_second(squared[j], along[j], bin)) add(bin, slot, begin + j, squared[j]);
    }
  }
  void add(std::uint32_t bin, std::uint32_t slot, std::uint32_t target, T squared) {
    ++words_[bin];
    std::int64_t product = 0;
    if (a_.sums.weighted) {
      product =
          fixed_point(static_cast<double>(a_.sources.weights[slot]) * static_cast<double>(a_.targets.weights[target]),
                      a_.sums.weight_steps);
      add_term(weights_low, bin, product);
    }
    if (a_.sums.regions > 0) {
      const std::uint32_t one = a_.sources.regions[slot], other = a_.targets.regions[target];
      add_to_region(one, bin, product);
      if (other != one) add_to_region(other, bin, product);
    }
    if (a_.sums.means) {
      const auto separation = static_cast<double>(a_.bins.separation(squared));
      add_term(separations_low, bin, fixed_point(separation, a_.sums.separation_steps));
    }
  }
  void add_to_region(std::uint32_t region, std::uint32_t bin, std::int64_t product) {
    ++words_[a_.place(region_pairs, region, bin)];
    if (!a_.sums.weighted) return;
    words_[a_.place(region_weights_low, region, bin)] += low_part(product);
    words_[a_.place(region_weights_high, region, bin)] += high_part(product);
  }
  void add_term(pair_word low, std::uint32_t bin, std::int64_t term) {
    std::uint64_t* const to = words_.data() + low * std::size_t{a_.bins.size()} + bin;
    to[0] += low_part(term);
    to[a_.bins.size()] += high_part(term);
  }

  const counted_pairs<T>& a_;
  std::vector<std::uint64_t> words_;  ///< as the totals; only counts if there are no sums
  group_reach<T, 3> reach_[most_sources];
#if QUADRAT_HAS_PAIR_LANES
  std::optional<level_counts<T>> levels_;  ///< counts by the first coordinate alone
#endif
};

}  // namespace

template <typename T>
void count_pairs(const cpu_context& context, const counted_pairs<T>& pairs, std::uint64_t* totals) {
  constexpr std::uint32_t chunk = 256;
  const std::int64_t chunks = (std::int64_t{pairs.sources.count} + chunk - 1) / chunk;
  const auto threads = static_cast<std::size_t>(std::min(std::int64_t{context.threads()}, chunks));
  std::vector<thread_pairs<T>> parts(threads, thread_pairs<T>(pairs));
  std::int64_t next = 0;
  for_each_part(context.threads(), threads, [&](std::size_t part) {
    for (;;) {
      const std::int64_t taken = atomic_add(&next, std::int64_t{1});
      if (taken >= chunks) break;
      const auto first = static_cast<std::uint32_t>(taken) * chunk;
      parts[part].count(first, first + std::min(chunk, pairs.sources.count - first));
    }
  });
  for (thread_pairs<T>& part : parts) part.add_to(totals);
}

template void count_pairs(const cpu_context&, const counted_pairs<float>&, std::uint64_t*);
template void count_pairs(const cpu_context&, const counted_pairs<double>&, std::uint64_t*);

}  // namespace quadrat::detail

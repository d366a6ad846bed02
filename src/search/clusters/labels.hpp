// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "quadrat/core/context.hpp"
#include "quadrat/search/cluster_finder.hpp"
#include "search/clusters/search.hpp"

/// The numbers of clusters, labels and sizes, as host-device code.
namespace quadrat::detail {

/// Words that the device writes and the host reads.
struct cluster_words {
  enum word : std::size_t { fault, needed, parts, crowded, clusters, count };
};

/// The cells to which a step applies.
enum class cluster_step { always, if_crowded, if_sparse };

template <typename Body>
[[nodiscard]] constexpr unsigned blocks_of_step() {
  if constexpr (requires { Body::resident_blocks; }) {
    return Body::resident_blocks;
  } else {
    return 0;
  }
}

/// A step that is enqueued before the host knows the words. It does nothing after a fault, if it applies to other
/// cells, or, in a step over parts, for parts that do not exist.
template <typename Body>
struct gated_step {
  static constexpr unsigned resident_blocks = blocks_of_step<Body>();

  Body body;
  const std::uint64_t* words;
  cluster_step step;
  bool of_parts;

  QUADRAT_HD void operator()(std::size_t i) const {
    if (words[cluster_words::fault] != ~std::uint64_t{0}) return;
    const bool crowded = words[cluster_words::crowded] != 0;
    if (step != cluster_step::always && crowded != (step == cluster_step::if_crowded)) return;
    if (of_parts && i >= words[cluster_words::parts]) return;
    body(i);
  }
};

/// Chunks of slots or points, one per thread, so that one large cluster causes few atomic operations on the same word.
/// The elements of a warp's chunks are interleaved, so that loads coalesce.
struct cluster_chunks {
  std::size_t count;
  std::size_t length;
  std::size_t turns;

  [[nodiscard]] std::size_t number() const { return (count + turns * length - 1) / (turns * length) * turns; }
  [[nodiscard]] QUADRAT_HD std::size_t first(std::size_t chunk) const {
    return chunk / turns * turns * length + chunk % turns;
  }
  [[nodiscard]] QUADRAT_HD std::size_t last(std::size_t chunk) const {
    const std::size_t end = (chunk / turns + 1) * turns * length;
    return end < count ? end : count;
  }
};
[[nodiscard]] inline cluster_chunks make_cluster_chunks(const cpu_context& /*context*/, std::size_t count) {
  return {count, 64, 1};
}
[[nodiscard]] inline cluster_chunks make_cluster_chunks(const cuda_context& /*context*/, std::size_t count) {
  return {count, std::clamp<std::size_t>(count >> 18, 16, 128), 32};
}

/// Index: chunk of slots. Finds the smallest index of the core points of each root.
template <typename Search>
struct find_smallest {
  const typename Search::point_type* points;
  const particle_id* elements;
  cluster_chunks chunks;
  typename Search::forest_type forest;
  std::uint32_t* smallest;  ///< by part: no_particle at first

  QUADRAT_HD void operator()(std::size_t chunk) const {
    std::uint32_t root = no_particle, least = no_particle;
    for (std::size_t k = chunks.first(chunk), last = chunks.last(chunk); k < last; k += chunks.turns) {
      if (!points[k].is_core()) continue;
      const std::uint32_t next = forest.root(points[k].part());
      if (next != root) {
        if (root != no_particle) atomic_min(smallest + root, least);
        root = next;
        least = no_particle;
      }
      least = elements[k] < least ? elements[k] : least;
    }
    if (root != no_particle) atomic_min(smallest + root, least);
  }
};

/// Index: part. Marks the first core point of each cluster.
struct mark_first_points {
  const std::uint32_t* smallest;
  std::uint32_t* marks;  ///< by point: 0 at first

  QUADRAT_HD void operator()(std::size_t part) const {
    if (smallest[part] != no_particle) marks[smallest[part]] = 1;
  }
};

/// Index: part. The label of the core points of each part, or no_particle if it has none.
template <typename Forest>
struct label_parts {
  Forest forest;
  const std::uint32_t* smallest;
  const std::uint32_t* clusters_before;  ///< by point
  std::uint32_t* labels;                 ///< by part

  QUADRAT_HD void operator()(std::size_t part) const {
    const std::uint32_t first = smallest[forest.root(static_cast<std::uint32_t>(part))];
    labels[part] = first == no_particle ? no_particle : clusters_before[first];
  }
};

/// Index: slot. The label of each point, in the caller's order.
template <typename Search>
struct label_points {
  using vector = typename Search::vector;

  Search search;
  const std::uint32_t* part_labels;
  const particle_id* elements;
  std::int32_t* labels;

  struct visitor {
    const std::uint32_t* part_labels;
    std::uint32_t least;

    [[nodiscard]] QUADRAT_HD bool wants(std::uint32_t part) const { return part_labels[part] < least; }
    [[nodiscard]] QUADRAT_HD bool still_wants(std::uint32_t part) const { return wants(part); }
    QUADRAT_HD void found(std::uint32_t part) { least = part_labels[part]; }
    QUADRAT_HD void settle() {}
  };

  QUADRAT_HD void operator()(std::size_t k) const {
    const typename Search::point_type point = search.points[k];
    visitor visits{part_labels, no_particle};
    if (point.is_core()) {
      visits.found(point.part());
    } else {
      search.for_each_run(k, point.position, [&](std::uint32_t begin, std::uint32_t end, const vector& translation) {
        search.visit_run(begin, end, point.position, translation, visits);
        return true;
      });
    }
    labels[elements[k]] = static_cast<std::int32_t>(visits.least);
  }
};
static_assert(static_cast<std::int32_t>(no_particle) == noise_label);

/// Index: chunk of points. Counts the points of each cluster.
struct count_cluster_sizes {
  const std::int32_t* labels;
  cluster_chunks chunks;
  std::uint32_t* sizes;  ///< 0 at first
  std::uint32_t room;    ///< number of sizes that fit

  QUADRAT_HD void operator()(std::size_t chunk) const {
    std::int32_t label = noise_label;
    std::uint32_t points = 0;
    for (std::size_t i = chunks.first(chunk), last = chunks.last(chunk); i < last; i += chunks.turns) {
      if (labels[i] != label) {
        add(label, points);
        label = labels[i];
        points = 0;
      }
      ++points;
    }
    add(label, points);
  }

 private:
  QUADRAT_HD void add(std::int32_t label, std::uint32_t points) const {
    if (label != noise_label && points > 0 && static_cast<std::uint32_t>(label) < room) {
      atomic_add(sizes + label, points);
    }
  }
};

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/search/cluster_finder.hpp"
#include "search/clusters/boxes.hpp"
#include "search/clusters/forest.hpp"
#include "search/clusters/parts.hpp"

/// Core points, links, border points and labels, as host-device code: one thread per point.
namespace quadrat::detail {

/// Points in cells, in the order of their slots, passed to kernels by value.
template <typename T, int D>
struct cluster_search {
  search_system<T, D> system;
  T link;
  T squared_link;
  const std::uint32_t* cell_offsets;
  cluster_point<T, D>* points;
  const std::uint32_t* part_begins;  ///< with one at the end
  box_tree<T, D> tree;               ///< without levels if no cell is crowded

  /// Calls f(first slot, last slot + 1, translation) for each row of cells within reach of a wrapped point, until f
  /// returns false.
  template <typename F>
  QUADRAT_HD void for_each_run(const vec<T, D>& point, F&& f) const {
    bool more = true;
    const walking_order rows{true, 1};
    for_each_image_run(system, system.reach(point, link), rows, [&](cell_id first, cell_id last, const vec<int, D>& s) {
      if (more) more = f(cell_offsets[first], cell_offsets[last + 1], system.shape.translation(s));
    });
  }
  [[nodiscard]] QUADRAT_HD bool linked(const vec<T, D>& from, const vec<T, D>& to, const vec<T, D>& translation) const {
    return squared_norm(neighbor_search<T, D>::separation(from, to, translation)) < squared_link;
  }
  /// Whether a run is worth the tree.
  [[nodiscard]] QUADRAT_HD bool is_long(std::uint32_t begin, std::uint32_t end) const {
    constexpr std::uint32_t most = 64;
    return tree.levels > 0 && end - begin > most;
  }

  /// Calls visitor.found(part) for a core point in each part of a run of which visitor.wants(part), if one is linked to
  /// `point`.
  template <typename Visitor>
  QUADRAT_HD void visit_run(std::uint32_t begin, std::uint32_t end, const vec<T, D>& point,
                            const vec<T, D>& translation, Visitor& visitor) const {
    if (is_long(begin, end)) return visit_long_run(begin, end, point, translation, visitor);
    for (std::uint32_t k = begin; k < end; ++k) {
      const cluster_point<T, D> other = points[k];
      if (other.is_core() && linked(point, other.position, translation) && visitor.wants(other.part())) {
        visitor.found(other.part());
      }
    }
  }

 private:
  template <typename Visitor>
  QUADRAT_HD void visit_long_run(std::uint32_t begin, std::uint32_t end, const vec<T, D>& point,
                                 const vec<T, D>& translation, Visitor& visitor) const {
    std::uint32_t wanted = no_particle;  // the part that was asked about last
    for (std::uint32_t k = begin; k < end;) {
      const cluster_point<T, D> other = points[k];
      if (other.part() != wanted && !visitor.wants(other.part())) {
        k = part_begins[other.part() + 1];
        continue;
      }
      wanted = other.part();
      int level = tree.level_of(k);
      while (level > 0 && tree.place(tree.at(level, k), point, translation, squared_link) != box_place::far) --level;
      if (level > 0) {
        k += tree.width(level);
      } else if (other.is_core() && linked(point, other.position, translation)) {
        visitor.found(other.part());
        k = part_begins[other.part() + 1];
      } else {
        ++k;
      }
    }
  }
};

/// Index: slot. Finds the core points.
template <typename T, int D>
struct find_core_points {
  cluster_search<T, D> search;
  std::uint32_t least;  ///< points within the linking length

  QUADRAT_HD void operator()(std::size_t k) const {
    const cluster_point<T, D> point = search.points[k];
    const std::uint32_t part = point.part();
    // Points of a part are linked.
    if (search.part_begins[part + 1] - search.part_begins[part] >= least) return;
    std::uint32_t count = 0;
    search.for_each_run(point.position, [&](std::uint32_t begin, std::uint32_t end, const vec<T, D>& translation) {
      count = counted(count, begin, end, point.position, translation);
      return count < least;
    });
    if (count < least) search.points[k].part_and_core |= cluster_point<T, D>::not_core;
  }

 private:
  /// `count` and the linked points of a run, if they are less than `least`.
  [[nodiscard]] QUADRAT_HD std::uint32_t counted(std::uint32_t count, std::uint32_t begin, std::uint32_t end,
                                                 const vec<T, D>& point, const vec<T, D>& translation) const {
    const bool by_boxes = search.is_long(begin, end);
    for (std::uint32_t k = begin; k < end && count < least;) {
      int level = by_boxes ? search.tree.level_of(k) : 0;
      box_place place = box_place::near;
      for (; level > 0; --level) {
        place = search.tree.place(search.tree.at(level, k), point, translation, search.squared_link);
        if (place != box_place::near) break;
      }
      const std::uint32_t width = search.tree.width(level);
      if (level > 0) {
        if (place == box_place::inside) count += width < end - k ? width : end - k;
      } else if (search.linked(point, search.points[k].position, translation)) {
        ++count;
      }
      k += width;
    }
    return count;
  }
};

/// Index: slot. Unites the parts of linked core points; each pair is tested by the one in the higher slot.
template <typename T, int D>
struct unite_linked {
  cluster_search<T, D> search;
  cluster_forest forest;

  struct visitor {
    cluster_forest forest;
    std::uint32_t own;  ///< part

    [[nodiscard]] QUADRAT_HD bool wants(std::uint32_t part) const {
      return part != own && forest.root(part) != forest.root(own);
    }
    QUADRAT_HD void found(std::uint32_t part) const { forest.unite(part, own); }
  };

  QUADRAT_HD void operator()(std::size_t k) const {
    const cluster_point<T, D> point = search.points[k];
    if (!point.is_core()) return;
    visitor visits{forest, point.part()};
    const auto slot = static_cast<std::uint32_t>(k);
    search.for_each_run(point.position, [&](std::uint32_t begin, std::uint32_t end, const vec<T, D>& translation) {
      if (begin < slot) search.visit_run(begin, end < slot ? end : slot, point.position, translation, visits);
      return true;
    });
  }
};

/// Slots or points that one thread goes through, so that where most belong to one cluster there are few atomic
/// operations on the same word.
inline constexpr std::size_t cluster_chunk = 64;

/// Index: chunk of slots. Finds the smallest index of the core points of each root.
template <typename T, int D>
struct find_smallest {
  const cluster_point<T, D>* points;
  const particle_id* elements;
  std::size_t count;
  cluster_forest forest;
  std::uint32_t* smallest;  ///< by part: no_particle at first

  QUADRAT_HD void operator()(std::size_t chunk) const {
    const std::size_t begin = chunk * cluster_chunk;
    const std::size_t end = begin + cluster_chunk < count ? begin + cluster_chunk : count;
    std::uint32_t root = no_particle, least = no_particle;
    for (std::size_t k = begin; k < end; ++k) {
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
struct label_parts {
  cluster_forest forest;
  const std::uint32_t* smallest;
  const std::uint32_t* clusters_before;  ///< by point
  std::uint32_t* labels;                 ///< by part

  QUADRAT_HD void operator()(std::size_t part) const {
    const std::uint32_t first = smallest[forest.root(static_cast<std::uint32_t>(part))];
    labels[part] = first == no_particle ? no_particle : clusters_before[first];
  }
};

/// Index: slot. The label of each point, in the caller's order.
template <typename T, int D>
struct label_points {
  cluster_search<T, D> search;
  const std::uint32_t* part_labels;
  const particle_id* elements;
  std::int32_t* labels;

  struct visitor {
    const std::uint32_t* part_labels;
    std::uint32_t least;

    [[nodiscard]] QUADRAT_HD bool wants(std::uint32_t part) const { return part_labels[part] < least; }
    QUADRAT_HD void found(std::uint32_t part) { least = part_labels[part]; }
  };

  QUADRAT_HD void operator()(std::size_t k) const {
    const cluster_point<T, D> point = search.points[k];
    visitor visits{part_labels, no_particle};
    if (point.is_core()) {
      visits.found(point.part());
    } else {
      search.for_each_run(point.position, [&](std::uint32_t begin, std::uint32_t end, const vec<T, D>& translation) {
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
  std::size_t count;
  std::uint32_t* sizes;  ///< 0 at first

  QUADRAT_HD void operator()(std::size_t chunk) const {
    const std::size_t begin = chunk * cluster_chunk;
    const std::size_t end = begin + cluster_chunk < count ? begin + cluster_chunk : count;
    std::size_t from = begin;
    for (std::size_t i = begin + 1; i <= end; ++i) {
      if (i < end && labels[i] == labels[from]) continue;
      if (labels[from] != noise_label) atomic_add(sizes + labels[from], static_cast<std::uint32_t>(i - from));
      from = i;
    }
  }
};

}  // namespace quadrat::detail

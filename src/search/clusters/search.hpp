// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "search/clusters/boxes.hpp"
#include "search/clusters/forest.hpp"
#include "search/clusters/parts.hpp"

/// Core points and links, as host-device code: one thread per point.
namespace quadrat::detail {

/// Points in cells, by slot. Passed to kernels by value.
template <typename Precision, int Dimension, typename Systems, typename Counts>
struct cluster_search {
  using T = Precision;
  static constexpr int D = Dimension;
  using vector = vec<T, D>;
  using point_type = cluster_point<T, D>;
  using forest_type = cluster_forest<Counts>;

  Systems systems;
  T squared_cutoff;
  const std::uint32_t* cell_offsets;
  cluster_point<T, D>* points;
  const std::uint32_t* part_begins;  ///< with one at the end
  box_tree<T, D> tree;               ///< without levels if no cell is crowded
  Counts counts;

  /// The bucket of the point in a slot.
  [[nodiscard]] QUADRAT_HD cell_id bucket_of(std::size_t slot, const vec<T, D>& point) const {
    const cluster_cells<T, D>& cells = systems.of_slot(slot).cells;
    return cells.template bucket_at<Systems::several>(cells.coordinates(point));
  }
  /// Calls f(first slot, last slot + 1, translation) for each row of cells within reach of the wrapped point in a slot,
  /// until f returns false. Rows that begin after cell `most` are left out.
  template <typename F>
  [[gnu::always_inline]] QUADRAT_HD void for_each_run(std::size_t slot, const vec<T, D>& point, cell_id most,
                                                      F&& f) const {
    const cluster_cells<T, D>& cells = systems.of_slot(slot).cells;
    bool more = true;
    cells.template for_each_run<Systems::several>(point, [&](cell_id first, cell_id last, const vec<int, D>& s) {
      counts.look();
      if (more && first <= most) more = f(cell_offsets[first], cell_offsets[last + 1], cells.shape.translation(s));
    });
  }
  template <typename F>
  [[gnu::always_inline]] QUADRAT_HD void for_each_run(std::size_t slot, const vec<T, D>& point, F&& f) const {
    for_each_run(slot, point, ~cell_id{0}, f);
  }
  [[nodiscard]] QUADRAT_HD bool linked(const vec<T, D>& from, const vec<T, D>& to, const vec<T, D>& translation) const {
    return squared_norm(neighbor_search<T, D>::separation(from, to, translation)) < squared_cutoff;
  }
  /// Whether a run is so long that the tree of boxes pays.
  [[nodiscard]] QUADRAT_HD bool is_long(std::uint32_t begin, std::uint32_t end) const {
    constexpr std::uint32_t most = 64;
    return tree.levels > 0 && end - begin > most;
  }

  /// Calls visitor.found(part) for each part of a run that has a core point linked to `point`, if visitor.wants(part).
  /// In long runs it asks visitor.still_wants(part) before it tests a whole part, and calls visitor.settle() after each
  /// part found.
  template <typename Visitor>
  QUADRAT_HD void visit_run(std::uint32_t begin, std::uint32_t end, const vec<T, D>& point,
                            const vec<T, D>& translation, Visitor& visitor) const {
    if (is_long(begin, end)) return visit_long_run(begin, end, point, translation, visitor);
    for (std::uint32_t k = begin; k < end; ++k) {
      counts.look();
      const cluster_point<T, D> other = points[k];
      if (other.is_core() && visitor.wants(other.part()) && linked(point, other.position, translation)) {
        visitor.found(other.part());
      }
    }
  }

 private:
  template <typename Visitor>
  QUADRAT_HD void visit_long_run(std::uint32_t begin, std::uint32_t end, const vec<T, D>& point,
                                 const vec<T, D>& translation, Visitor& visitor) const {
    std::uint32_t wanted = no_particle;  // the last part passed to wants
    for (std::uint32_t k = begin; k < end;) {
      counts.look();
      const cluster_point<T, D> other = points[k];
      const std::uint32_t next = part_begins[other.part() + 1];
      const bool passes = other.part() != wanted && !visitor.still_wants(other.part());
      int level = tree.level_of(k);
      if (passes && next - k >= tree.width(level)) level = 0;  // a box would skip no more points
      for (; level > 0; --level) {
        counts.look();
        if (tree.place(tree.at(level, k), point, translation, squared_cutoff) == box_place::far) break;
      }
      if (level > 0) {
        k += tree.width(level);
        continue;
      }
      bool done = passes;
      if (!done && other.is_core() && linked(point, other.position, translation)) {
        visitor.found(other.part());
        visitor.settle();
        done = true;
      }
      wanted = other.part();
      k = done ? next : k + 1;
    }
  }
};

/// Index: slot. Finds the core points.
template <typename Search>
struct find_core_points {
  using vector = typename Search::vector;

  Search search;
  std::uint32_t least;  ///< points within the cutoff

  QUADRAT_HD void operator()(std::size_t k) const {
    const typename Search::point_type point = search.points[k];
    const std::uint32_t part = point.part();
    // All points of a part are linked to each other.
    if (search.part_begins[part + 1] - search.part_begins[part] >= least) return;
    std::uint32_t count = 0;
    search.for_each_run(k, point.position, [&](std::uint32_t begin, std::uint32_t end, const vector& translation) {
      count = counted(count, begin, end, point.position, translation);
      return count < least;
    });
    if (count < least) search.points[k].part_and_core |= Search::point_type::not_core;
  }

 private:
  /// Adds the linked points of a run to `count`; may stop at `least`.
  [[nodiscard]] QUADRAT_HD std::uint32_t counted(std::uint32_t count, std::uint32_t begin, std::uint32_t end,
                                                 const vector& point, const vector& translation) const {
    const bool by_boxes = search.is_long(begin, end);
    for (std::uint32_t k = begin; k < end && count < least;) {
      search.counts.look();
      int level = by_boxes ? search.tree.level_of(k) : 0;
      box_place place = box_place::near;
      for (; level > 0; --level) {
        search.counts.look();
        place = search.tree.place(search.tree.at(level, k), point, translation, search.squared_cutoff);
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

/// Unites the parts of linked core points with the part of one point. Collects several linked parts first, because the
/// threads of a warp would wait for each other at each union.
template <typename Forest>
class uniting_visitor {
 public:
  QUADRAT_HD uniting_visitor(const Forest& of, std::uint32_t part) : forest_(of), own_(part), last_(part) {}

  [[nodiscard]] QUADRAT_HD bool wants(std::uint32_t part) const { return part != own_ && part != last_; }
  [[nodiscard]] QUADRAT_HD bool still_wants(std::uint32_t part) const {
    return wants(part) && forest_.root(part) != forest_.root(own_);
  }
  QUADRAT_HD void found(std::uint32_t part) {
    last_ = part;
    linked_[count_++] = part;
    if (count_ == most) settle();
  }
  QUADRAT_HD void settle() {
    for (int k = 0; k < count_; ++k) forest_.unite(linked_[k], own_);
    count_ = 0;
  }
  /// Parts that are linked and not yet united.
  [[nodiscard]] QUADRAT_HD int kept() const { return count_; }

 private:
  static constexpr int most = 16;
  const Forest& forest_;
  std::uint32_t own_, last_;
  int count_ = 0;
  std::uint32_t linked_[most];
};

/// Index: slot. Unites the parts of linked core points. The point in the higher slot tests each pair.
template <typename Search>
struct unite_linked {
  static constexpr unsigned resident_blocks = 4;

  using vector = typename Search::vector;

  Search search;
  typename Search::forest_type forest;

  QUADRAT_HD void operator()(std::size_t k) const {
    const typename Search::point_type point = search.points[k];
    if (!point.is_core()) return;
    uniting_visitor visits(forest, point.part());
    const auto slot = static_cast<std::uint32_t>(k);
    const cell_id own = search.bucket_of(k, point.position);
    search.for_each_run(k, point.position, own, [&](std::uint32_t begin, std::uint32_t end, const vector& translation) {
      if (begin < slot) search.visit_run(begin, end < slot ? end : slot, point.position, translation, visits);
      return true;
    });
    visits.settle();
  }
};

/// Index: slot. Like unite_linked, but a point stops after a few links. In sets with large clusters, nearly all points
/// then belong to the largest one.
template <typename Search>
struct unite_few {
  static constexpr unsigned resident_blocks = 5;

  using vector = typename Search::vector;

  Search search;
  typename Search::forest_type forest;
  std::uint32_t* stopped;  ///< by slot: 1 if the point stopped before it tested all lower slots

  QUADRAT_HD void operator()(std::size_t k) const {
    const typename Search::point_type point = search.points[k];
    bool more = true;
    if (point.is_core()) {
      uniting_visitor visits(forest, point.part());
      const auto slot = static_cast<std::uint32_t>(k);
      const cell_id own = search.bucket_of(k, point.position);
      search.for_each_run(k, point.position, own, [&](std::uint32_t begin, std::uint32_t end, const vector& s) {
        for (std::uint32_t other = begin; more && other < end && other < slot; ++other) {
          more = go_on(visits, point.position, search.points[other], s);
        }
        return more;
      });
      visits.settle();
    }
    stopped[k] = more ? 0 : 1;
  }

 private:
  /// On an H200, 1 and 3 are slower.
  static constexpr int few = 2;

  [[nodiscard]] QUADRAT_HD bool go_on(uniting_visitor<typename Search::forest_type>& visits, const vector& from,
                                      const typename Search::point_type& to, const vector& translation) const {
    search.counts.look();
    if (!to.is_core() || !visits.wants(to.part()) || !search.linked(from, to.position, translation)) return true;
    visits.found(to.part());
    return visits.kept() < few;
  }
};

/// Index: part. Makes every part a child of its root.
template <typename Forest>
struct flatten_forest {
  Forest forest;

  QUADRAT_HD void operator()(std::size_t part) const { forest.flatten(static_cast<std::uint32_t>(part)); }
};

/// Index: 0. The root of more than half of some parts, or no_particle (R. Boyer, J Moore, "MJRTY: a fast majority vote
/// algorithm", 1991). The forest must be flat.
struct vote_for_root {
  const std::uint32_t* parents;
  const std::uint64_t* part_count;
  std::uint32_t* elected;

  QUADRAT_HD void operator()(std::size_t) const {
    constexpr std::size_t voters = 128;
    const std::uint64_t parts = *part_count;
    std::uint32_t candidate = no_particle;
    int lead = 0, votes = 0;
    for (std::size_t k = 0; k < voters; ++k) {
      const std::uint32_t root = parents[k * parts / voters];
      if (lead == 0) candidate = root;
      lead += root == candidate ? 1 : -1;
    }
    for (std::size_t k = 0; k < voters; ++k) votes += parents[k * parts / voters] == candidate ? 1 : 0;
    *elected = 2 * votes > static_cast<int>(voters) ? candidate : no_particle;
  }
};

/// Index: slot. Completes unite_few: unites the parts of linked core points, unless both are in the largest tree (M.
/// Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling", 2018).
/// Points of that tree do nothing, so the others also test points in higher slots.
template <typename Search>
struct unite_rest {
  static constexpr unsigned resident_blocks = 4;

  using vector = typename Search::vector;

  Search search;
  typename Search::forest_type forest;
  const std::uint32_t* stopped;
  const std::uint32_t* largest;  ///< its root, or no_particle

  QUADRAT_HD void operator()(std::size_t k) const {
    const typename Search::point_type point = search.points[k];
    const std::uint32_t root = *largest;
    const bool lower = stopped[k] != 0, higher = root != no_particle;
    if (!point.is_core() || (!lower && !higher) || forest.parents[point.part()] == root) return;
    uniting_visitor visits(forest, point.part());
    const auto slot = static_cast<std::uint32_t>(k);
    const cell_id last = higher ? ~cell_id{0} : search.bucket_of(k, point.position);
    search.for_each_run(k, point.position, last, [&](std::uint32_t begin, std::uint32_t end, const vector& s) {
      if (!lower && begin <= slot) begin = slot + 1;
      if (!higher && end > slot) end = slot;
      if (begin < end) search.visit_run(begin, end, point.position, s, visits);
      return true;
    });
    visits.settle();
  }
};

}  // namespace quadrat::detail

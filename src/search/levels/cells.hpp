// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "parallel/host_mirror.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "search/cells.hpp"
#include "search/levels/buckets.hpp"
#include "search/levels/layers.hpp"
#include "search/levels/plan.hpp"
#include "search/levels/radius_classes.hpp"

namespace quadrat::detail {

/// The requirements on the cells of a layer.
template <typename T>
struct layer_request {
  T edge;                  ///< about the edge of cells
  T reach;                 ///< the largest search distance
  std::size_t most_cells;  ///< of all systems together
  bool points_anywhere;    ///< points may be anywhere along open axes
};

/// The storage of points (layer_slots).
struct slot_storage {
  bool packed;
  std::size_t padding;  ///< slots beyond the last
};

/// Layers of cells, for one cutoff or for radii, and the points in them. `Grids` has, for its `grid`,
///   make(std::span<const lattice<T, D>>, layer_request<T>)   a vector of grids, whose cells are numbered through
///   cells(grid)                                              its search_system
template <typename Context, typename T, int D, typename Grids>
class level_cells {
 public:
  using grid = typename Grids::grid;
  using layers_type = search_layers<T, grid>;

  /// Chooses levels, cuts boxes where they or the points have changed, and makes room for points. Synchronizes if there
  /// are radii.
  void prepare(const Context& context, const search_task<T, D>& task, const neighbor_options<T>& options,
               const slot_storage& storage) {
    points_ = task.input.points.count;
    systems_ = task.input.boxes.size();
    radii_given_ = has_radii(options.rule);
    sizes_ = sizes_of(options);
    const radius_plan wanted = radii_given_ ? plan_radii(context, task.input.radii) : plan_of_one_level(points_);
    if (boxes_number_ != task.boxes_number || !still_fits(wanted)) cut(context, task, options.accept_outside, wanted);
    plan_ = wanted;
    copied_ = std::accumulate(plan_.copied.begin(), plan_.copied.end(), std::uint64_t{0});
    stride_ = points_ + copied_ + storage.padding;
    packed_ = storage.packed;
    if (packed_) {
      packed_slots_.resize_discarding(context, stride_);
      records_.resize_discarding(context, stride_);
    } else {
      coordinates_.resize_discarding(context, D * stride_);
      if (radii_given_) radii_.resize_discarding(context, stride_);
    }
    ids_.resize_discarding(context, stride_);
    boxes_kept_ = task.keeps_shifts && !options.sorted;  // entries are sorted before they get their shifts
    if (boxes_kept_) boxes_.resize_discarding(context, stride_);
    if (keeps_placed()) placed_.resize_discarding(context, points_);
  }

  /// Puts the points into the cells. Asynchronous.
  void fill(const Context& context, const search_key<T, D>& key, T most_radius) {
    const radius_levels<T> levels = level_ends();
    const T* radii = radii_given_ ? key.search.radii : nullptr;
    buckets_.build(context, points_, row_cells_, level_key<T, D, grid>{key, levels, grids_.data(), radii, placed()},
                   key.faults, plan_.levels.size() == 1);
    for_each(context, "search.gather", points_,
             gather_layer_slots<T, D>{key.search, levels, buckets_.view().elements, most_radius, key.faults, slots(),
                                      placed()});
    if (copied_ > 0) copy_finer(context, key);
  }

  [[nodiscard]] layers_type layers() const {
    layers_type result{};
    result.levels = level_ends();
    const std::size_t levels = plan_.levels.size();
    for (std::size_t k = 0; k < levels; ++k) {
      result.visited[k] = plan_.visited[k];
      result.layer[k] = {grids_.data() + k * systems_, buckets_.view().offsets, 0, widest(plan_, k)};
      if (plan_.copied[k] == 0) continue;
      result.layer[levels + k] = {grids_.data() + first_grid_[k], finer_.view().offsets,
                                  static_cast<std::uint32_t>(points_), widest(plan_, levels + k)};
    }
    return result;
  }
  [[nodiscard]] layer_slots<T, D> slots() {
    return {coordinates_.data(),
            stride_,
            ids_.data(),
            radii_given_ && !packed_ ? radii_.data() : nullptr,
            boxes_kept_ ? boxes_.data() : nullptr,
            packed_ ? packed_slots_.data() : nullptr,
            records_.data()};
  }
  /// The number of cells of all levels, without copies.
  [[nodiscard]] std::size_t row_cells() const { return row_cells_; }
  [[nodiscard]] std::size_t points() const { return points_; }
  /// The number of slots, with those of copies, without padding.
  [[nodiscard]] std::size_t slot_count() const { return points_ + copied_; }
  [[nodiscard]] std::size_t levels() const { return plan_.levels.size(); }
  /// Whether the cells of any layer are folded along any axis.
  [[nodiscard]] bool folded() const { return folded_; }
  [[nodiscard]] std::size_t bytes() const {
    return counts_.bytes() + grids_.bytes() + buckets_.bytes() + finer_.bytes() + coordinates_.bytes() + ids_.bytes() +
           radii_.bytes() + boxes_.bytes() + placed_.bytes() + packed_slots_.bytes() + records_.bytes();
  }

 private:
  /// On a CPU it takes longer to wrap points twice than to keep them. A GPU waits for memory instead.
  [[nodiscard]] bool keeps_placed() const { return std::is_same_v<Context, cpu_context> && !boxes_kept_; }
  [[nodiscard]] vec<T, D>* placed() { return keeps_placed() ? placed_.data() : nullptr; }
  [[nodiscard]] radius_plan plan_radii(const Context& context, const T* radii) {
    if (points_ == 0) return plan_of_one_level(0);
    constexpr std::size_t points_a_share = 8192;
    const std::size_t shares = (points_ + points_a_share - 1) / points_a_share;
    counts_.resize_discarding(context, radius_classes);
    fill_bytes(context, counts_.data(), 0, counts_.bytes());
    count_radius_classes(context, count_radii<T>{radii, points_, shares, sizes_, counts_.data()});
    const std::uint64_t* counts = mirror_.read(context, counts_.data(), radius_classes);
    return plan_radius_levels({counts, radius_classes}, sizes_.rule == cutoff_rule::sum_of_radii, D);
  }

  /// Whether the cells cut for an earlier plan also serve this one.
  [[nodiscard]] bool still_fits(const radius_plan& wanted) const {
    if (wanted.levels.size() != cut_for_.levels.size() || wanted.visited != cut_for_.visited) return false;
    for (std::size_t k = 0; k < wanted.levels.size(); ++k) {
      const radius_level &now = wanted.levels[k], &then = cut_for_.levels[k];
      if (now.end != then.end || now.points > 2 * then.points || 2 * now.points < then.points) return false;
    }
    return true;
  }

  [[nodiscard]] T widest(const radius_plan& plan, std::size_t layer) const {
    return static_cast<T>(plan.widest(layer)) * sizes_.largest;
  }
  /// The largest search distance in a layer.
  [[nodiscard]] T reach_in(const radius_plan& plan, std::size_t layer) const {
    T reach = T(0);
    for (std::size_t level = 0; level < plan.levels.size(); ++level) {
      if ((plan.visited[level] >> layer & 1) == 0) continue;
      reach = std::max(reach, sizes_.reach(widest(plan, level), widest(plan, layer)));
    }
    return reach;
  }

  void cut(const Context& context, const search_task<T, D>& task, bool accept_outside, const radius_plan& plan) {
    boxes_number_ = 0;  // in case of an exception below
    const std::size_t levels = plan.levels.size();
    std::vector<grid> all;
    const auto add = [&](std::size_t layer, T edge, std::size_t points, cell_id first) {
      const T reach = reach_in(plan, layer);
      std::vector<grid> made =
          Grids::make(task.input.boxes, layer_request<T>{edge, reach, most_cells(points), accept_outside});
      for (grid& each : made) {
        Grids::cells(each).first_cell += first;
        folded_ = folded_ || Grids::cells(each).folded();
        all.push_back(each);
      }
      return end_of(Grids::cells(all.back()));
    };
    row_cells_ = 0;
    folded_ = false;
    for (std::size_t k = 0; k < levels; ++k) {
      const T edge = sizes_.reach(widest(plan, k), widest(plan, k));
      row_cells_ = add(k, edge, plan.levels[k].points, static_cast<cell_id>(row_cells_));
    }
    copy_cells_ = 0;
    for (std::size_t k = 0; k < levels; ++k) {
      if (plan.copied[k] == 0) continue;
      first_grid_[k] = all.size();
      const T edge = sizes_.reach(widest(plan, k), widest(plan, levels + k));
      last_of_copy_[k] = add(levels + k, edge, plan.copied[k], static_cast<cell_id>(copy_cells_));
      copy_cells_ = last_of_copy_[k] + 1;
    }
    first_cell_of_level_.assign(levels, 0);
    for (std::size_t k = 0; k < levels; ++k) first_cell_of_level_[k] = Grids::cells(all[k * systems_]).first_cell;
    grids_ = to_device(context, all);
    cut_for_ = plan;
    boxes_number_ = task.boxes_number;
  }
  [[nodiscard]] static std::size_t end_of(const search_system<T, D>& cells) {
    return std::size_t{cells.first_cell} + cells.count;
  }

  [[nodiscard]] finer_copies<grid> copies() const {
    finer_copies<grid> result{};
    std::uint64_t first = 0;
    for (std::size_t k = 0; k < plan_.levels.size(); ++k) {
      if (plan_.copied[k] == 0) continue;
      const int copy = result.count++;
      result.first[copy] = first;
      result.level[copy] = static_cast<int>(k);
      result.grids[copy] = grids_.data() + first_grid_[k];
      result.last[copy] = static_cast<cell_id>(last_of_copy_[k]);
      result.first_of_level[copy] = first_cell_of_level_[k];
      first += plan_.copied[k];
    }
    return result;
  }
  void copy_finer(const Context& context, const search_key<T, D>& key) {
    const finer_copies<grid> all = copies();
    finer_.build(context, copied_, copy_cells_, finer_key<T, D, grid>{key.search, level_ends(), slots(), all},
                 key.faults, false);
    for_each(context, "search.copy_layers", copied_,
             copy_layer_slots<T, D, grid>{all, finer_.view().elements, points_, slots()});
    for_each(context, "search.check_layers", static_cast<std::size_t>(all.count),
             check_copies<T, D, grid>{all, buckets_.view().offsets, copied_, slots(), key.faults});
  }

  [[nodiscard]] radius_levels<T> level_ends() const {
    radius_levels<T> result{};
    result.count = static_cast<int>(plan_.levels.size());
    result.sizes = sizes_;
    for (std::size_t k = 0; k < plan_.levels.size(); ++k) result.ends[k] = static_cast<T>(plan_.levels[k].end);
    return result;
  }

  radius_plan plan_ = plan_of_one_level(0);  // of the points
  radius_plan cut_for_;                      // the plan for which cells were made
  radius_sizes<T> sizes_{};
  std::uint64_t boxes_number_ = 0;  // 0: no cells
  std::size_t points_ = 0;
  std::size_t systems_ = 0;
  std::size_t stride_ = 0;
  std::size_t row_cells_ = 0;
  bool radii_given_ = false;
  bool boxes_kept_ = false;
  bool packed_ = false;
  bool folded_ = false;
  std::uint64_t copied_ = 0;                                    // points in all copies
  std::size_t copy_cells_ = 0;                                  // of all copies
  std::array<std::size_t, most_radius_levels> first_grid_{};    // of the copies, by level
  std::array<std::size_t, most_radius_levels> last_of_copy_{};  // its last cell
  std::vector<cell_id> first_cell_of_level_;
  array<std::uint64_t, Context> counts_;
  host_mirror<Context> mirror_;
  array<grid, Context> grids_;  // by layer, then system
  level_buckets<Context> buckets_;
  level_buckets<Context> finer_;
  array<T, Context> coordinates_;
  array<particle_id, Context> ids_;
  array<T, Context> radii_;
  array<vec<int, D>, Context> boxes_;
  array<vec<T, D>, Context> placed_;  // by point
  array<radius_point<T, D>, Context> packed_slots_;
  array<search_point<T, D>, Context> records_;
};

}  // namespace quadrat::detail

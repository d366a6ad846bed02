// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "quadrat/core/config.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "search/engine.hpp"
#include "search/masks/masks.hpp"
#include "search/request.hpp"

namespace quadrat::detail {

/// The methods `masks` and `warps`: see masks.hpp.
template <typename T, int D>
class masks_engine final : public neighbor_engine<cuda_context, T, D> {
 public:
  masks_engine(const cuda_context& context, const neighbor_options<T>& options, bool by_warps)
      : neighbor_engine<cuda_context, T, D>(context, options), by_warps_(by_warps) {}

  void prepare(const search_task<T, D>& task) override {
    systems_tried_ = false;
    points_ = task.input.points.count;
    rows_ = task.rows;
    one_system_ = task.one_system;
    note_ = task.note;
    const std::size_t boxes = task.input.boxes.size();
    const bool small_boxes = !by_warps_ && task.nearest_image && boxes > 1 && points_ <= all_pairs_most_points * boxes;
    if (!cut_ || cells_.unfit(task) || small_boxes != small_boxes_) cut(task, small_boxes);
    codes_.slot_bits = static_cast<unsigned>(std::bit_width(points_ > 0 ? points_ - 1 : 0));
    warp_a_row_ = by_warps_ || (by_images_ && !codes_.fit());
    records_.resize_discarding(context_, points_ + point_block<T, D>::points - 1);  // read four at a time
    blocks_.resize_discarding(context_, points_ / point_block<T, D>::points + 1);
    keeps_turns_ = task.keeps_shifts && (by_images_ || any_periodic_);
    if (keeps_turns_) turns_.resize_discarding(context_, points_);
    if (!warp_a_row_) {
      words_.resize_discarding(context_, static_cast<std::size_t>(words_a_row_) * rows_);
      shares_.resize_discarding(context_, rows_);
    }
    prepare_at_once();
    if (small()) {
      small_offsets_.resize_discarding(context_, cell_count_ + 1);
      small_elements_.resize_discarding(context_, points_);
    }
  }

  void enqueue_cells(const search_key<T, D>& key) override {
    in_disorder_ = in_disorder_ || std::exchange(systems_tried_, false);
    if (!by_images_) {
      const search_key_of_one<T, D> of_one{key, cells_.first};
      one_system_ ? fill(key, of_one) : fill(key, key);
    } else if (one_system_) {
      fill(key, grid_key_of_one<T, D>{key, cells_.first, grid_});
    } else {
      fill(key, grid_key<T, D>{key, grids_.data()});
    }
  }

  void enqueue_counts(const neighbor_search<T, D>& what, std::uint32_t* counts, const fault_flag&) override {
    enqueue_masks(context_, masks(what), counts);
  }
  void enqueue_entries(const neighbor_search<T, D>& what, const neighbor_sink<T, D>& sink) override {
    if (sink.offsets == nullptr) enqueue_counts(what, sink.counts, sink.faults);
    enqueue_entries_of_masks(context_, masks(what), sink);
    searched_points_ = std::max(searched_points_, points_);
    searched_cells_ = std::max(searched_cells_, cell_count_);
  }
  [[nodiscard]] bool enqueue_at_once(const search_key<T, D>& key, std::uint64_t* offsets,
                                     const neighbor_sink<T, D>& sink, bool may_give_up) override {
    systems_tried_ = takes_systems_at_once() && may_give_up && sink.plain();
    if (systems_tried_) {
      enqueue_systems_at_once(context_,
                              systems_at_once<T, D>{masks(key.search), key, sink, offsets, first_points_.data(),
                                                    first_points_.data() + key.search.system_count + 1, sums()});
      return true;
    }
    if (at_once_.blocks == 0) return false;
    detail::enqueue_at_once(context_,
                            list_at_once<T, D>{{key, cells_.first},
                                               sink,
                                               offsets,
                                               sink.plain(),
                                               any_periodic_,
                                               static_cast<std::uint32_t>(cell_count_),
                                               static_cast<std::uint32_t>(rows_),
                                               at_once_.rows_a_block,
                                               sums()},
                            at_once_);
    return true;
  }
  [[nodiscard]] build_step adapt(const search_task<T, D>& task, std::uint64_t pairs, std::uint64_t note) override {
    const bool finer = refine(task), more = grow(pairs, note);
    return finer ? build_step::cells : more ? build_step::counts : build_step::entries;
  }

  [[nodiscard]] std::size_t bytes() const override {
    return cells_.bytes() + grids_.bytes() + small_offsets_.bytes() + small_elements_.bytes() + sums_.bytes() +
           first_points_.bytes() + records_.bytes() + blocks_.bytes() + turns_.bytes() + words_.bytes() +
           shares_.bytes();
  }

 private:
  using neighbor_engine<cuda_context, T, D>::context_;
  using neighbor_engine<cuda_context, T, D>::options_;
  using neighbor_engine<cuda_context, T, D>::cells_;

  /// Makes smaller cells where rows turned out to be long.
  [[nodiscard]] bool refine(const search_task<T, D>& task) {
    const cells_across finer = cells_across_cutoff<D>(task.mean_row);
    if (by_warps_ || by_images_ || small_boxes_ || across_ == finer) return false;
    // Larger cells are better than cells that must be folded.
    const double times = static_cast<double>(finer.count()) / static_cast<double>(across_.count());
    const double most = static_cast<double>(most_cells(points_, finer));
    if (times * static_cast<double>(cell_count_) > most) return false;
    const std::uint32_t words = words_a_row_;
    cut(task, false);
    words_a_row_ = std::max(words_a_row_, words);
    warp_a_row_ = by_images_ && !codes_.fit();
    if (!warp_a_row_) words_.resize_discarding(context_, static_cast<std::size_t>(words_a_row_) * rows_);
    return true;
  }

  /// Rows with more masks than fit would be searched twice. The new room takes at most as much memory as the list.
  [[nodiscard]] bool grow(std::uint64_t pairs, std::uint64_t most_used) {
    if (warp_a_row_) return false;
    const std::uint64_t fair = pairs * sizeof(particle_id) / (rows_ * sizeof(candidate_mask));
    const std::uint64_t wanted = std::min(most_used, fair);
    if (wanted <= words_a_row_) return false;
    words_.resize_discarding(context_, wanted * rows_);
    words_a_row_ = static_cast<std::uint32_t>(wanted);
    return true;
  }

  void cut(const search_task<T, D>& task, bool small_boxes) {
    cut_ = false;  // in case of an exception below
    const T reach = this->reach();
    const bool anywhere = options_.accept_outside && !small_boxes;
    by_images_ = !task.one_image;
    across_ = by_warps_ || by_images_ || small_boxes ? cells_across{} : cells_across_cutoff<D>(task.mean_row);
    // A warp per row serves few points; one block builds their cells if there are few.
    const std::size_t most = small_boxes ? 1 : by_warps_ ? most_cells(points_) : most_cells(points_, across_);
    if (!by_images_) {
      vec<T, D> edges = vec<T, D>::filled(reach);
      edges[0] /= static_cast<T>(across_.first_axis);
      edges[1] /= static_cast<T>(across_.second_axis);
      if constexpr (D == 3) edges[2] /= static_cast<T>(across_.third_axis);
      cells_.cut(context_, task, {edges, reach, most, anywhere});
      by_images_ = folded_by_images && one_system_ && cells_.folded;
    }
    by_images_ ? cut_grids(task, {reach, reach, most, anywhere}) : use_systems(task);
    small_boxes_ = small_boxes;
    const double occupancy = static_cast<double>(points_) / static_cast<double>(task.input.boxes.size());
    tile_points_ = small_boxes ? tile_points(occupancy, sizeof(search_point<T, D>)) : 0;
    const double cubes = volume_ / std::pow(static_cast<double>(reach), D);
    words_a_row_ = small_boxes
                       ? static_cast<std::uint32_t>(points_ / task.input.boxes.size() / 20 + 2)
                       : masks_a_row<D>(static_cast<double>(points_) / cubes, by_images_ ? cells_across{} : across_);
    if (by_images_) words_a_row_ += words_a_row_ / 2;  // rows of cells have parts where images of the box meet
    if (tile_points_ > 0 && first_points_.size() != task.input.boxes.size() + 2) {
      first_points_.resize_discarding(context_, task.input.boxes.size() + 2);
      fill_bytes(context_, first_points_.data(), 0, first_points_.bytes());
      in_disorder_ = false;
    }
    cut_ = true;
  }

  void use_systems(const search_task<T, D>& task) {
    cell_count_ = cells_.count;
    volume_ = cells_.volume;
    any_periodic_ = false;
    for (const lattice<T, D>& shape : task.input.boxes) {
      for (int axis = 0; axis < D; ++axis) any_periodic_ = any_periodic_ || shape.periodic[axis];
    }
  }

  void cut_grids(const search_task<T, D>& task, const cuboid_grid_request<T>& request) {
    // The boxes themselves are one cell each.
    cells_.cut(context_, task, {vec<T, D>::filled(request.reach), request.reach, 1, false});
    const std::vector<cuboid_grid<T, D>> grids = make_cuboid_grids<T, D>(task.input.boxes, request);
    grid_ = grids.front();
    grids_ = to_device(context_, grids);
    cell_count_ = 0;
    volume_ = 0;
    codes_.most = {};
    for (const cuboid_grid<T, D>& grid : grids) {
      cell_count_ += grid.cell_count();
      volume_ += grid.volume();
      for (int k = 0; k < D; ++k) codes_.most[k] = std::max(codes_.most[k], grid.most_images[k]);
    }
  }

  void prepare_at_once() {
    at_once_ = {};
    const bool one_walk = by_warps_ && one_system_ && !by_images_ && !cells_.folded;
    if (one_walk && context_.reproducibility() == determinism::none) {
      at_once_ = plan_at_once<T, D>(points_, cell_count_, context_.multiprocessors(), at_once_room(context_));
    }
    sum_over(tile_points_ > 0 && !in_disorder_ ? cells_.systems.size() : at_once_.blocks);
  }

  /// Not until there is memory for a search in steps, which an asynchronous build needs.
  [[nodiscard]] bool takes_systems_at_once() const {
    return tile_points_ > 0 && !in_disorder_ && points_ <= searched_points_ && cell_count_ <= searched_cells_ &&
           system_bytes(tile_points_, sizeof(search_point<T, D>)) <= system_room(context_);
  }

  /// Makes room for sums over blocks.
  void sum_over(std::size_t blocks) {
    if (blocks == summed_blocks_) return;
    summed_blocks_ = 0;  // in case of an exception below
    sums_.resize_discarding(context_, look_back_words(blocks));
    fill_bytes(context_, sums_.data(), 0, sums_.bytes());
    summed_blocks_ = blocks;
  }
  [[nodiscard]] look_back_state sums() { return look_back_state::in(sums_.data(), summed_blocks_); }

  /// `of_one` finds the cell of a point if there is only one system.
  template <typename Key>
  void fill(const search_key<T, D>& key, const Key& of_one) {
    if constexpr (requires { of_one.system; }) {
      if (small()) {
        enqueue_small_cells(
            context_, of_one, points_, cell_count_,
            small_cells<T, D>{small_offsets_.data(), small_elements_.data(), records_.data(), {blocks_.data()}});
        return;
      }
    }
    cells_.buckets.build(context_, points_, cell_count_, of_one, key.faults);
    const gather_search_points<T, D> body{
        key.search,      cells_.buckets.view().elements, options_.cutoff, key.faults, records_.data(), turns(),
        {blocks_.data()}};
    for_each(context_, "search.gather", points_, body);
  }

  [[nodiscard]] bool small() const {
    return by_warps_ && one_system_ && points_ <= small_cells_most && cell_count_ <= small_cells_most &&
           context_.reproducibility() == determinism::none;
  }
  [[nodiscard]] masks_search<T, D> masks(neighbor_search<T, D> what) {
    what.records = records_.data();
    what.cell_offsets = small() ? small_offsets_.data() : cells_.buckets.view().offsets;
    const bool long_rows = words_a_row_ >= masks_of_long_rows;
    return {what,
            cells_.first,
            by_images_,
            grid_,
            grids_.data(),
            codes_,
            any_periodic_,
            cells_.folded,
            warp_a_row_,
            small_boxes_,
            tile_points_,
            static_cast<std::uint32_t>(rows_),
            small() ? small_elements_.data() : cells_.buckets.view().elements,
            blocks_.data(),
            words_.data(),
            words_a_row_,
            long_rows ? words_a_row_ : std::size_t{1},
            long_rows ? std::size_t{1} : rows_,
            shares_.data(),
            note_,
            small() ? nullptr : turns()};
  }
  [[nodiscard]] vec<int, D>* turns() { return keeps_turns_ ? turns_.data() : nullptr; }

  bool by_warps_;
  std::size_t points_ = 0;
  std::size_t rows_ = 0;
  bool one_system_ = false;
  bool cut_ = false;  // cells and grids belong to the same boxes
  bool any_periodic_ = false;
  cells_across across_;       // the cutoff
  bool small_boxes_ = false;  // every pair of a system is tested
  std::uint32_t tile_points_ = 0;
  bool by_images_ = false;  // cells are those of grids
  bool warp_a_row_ = false;
  bool keeps_turns_ = false;
  cuboid_grid<T, D> grid_{};  // the first
  array<cuboid_grid<T, D>, cuda_context> grids_;
  image_codes<D> codes_{};
  std::size_t cell_count_ = 0;  // of all systems
  double volume_ = 0;           // that holds the points
  std::uint32_t words_a_row_ = 0;
  std::uint64_t* note_ = nullptr;
  array<std::uint32_t, cuda_context> small_offsets_;  // replaces the cells if one block builds them
  array<particle_id, cuda_context> small_elements_;
  at_once_plan at_once_;
  array<std::uint32_t, cuda_context> first_points_;       // of many systems, and a word
  bool systems_tried_ = false;                            // at once, in the build that goes on
  bool in_disorder_ = false;                              // as a build has found
  std::size_t searched_points_ = 0, searched_cells_ = 0;  // the most for which entries have been written
  array<std::uint64_t, cuda_context> sums_;               // over blocks
  std::size_t summed_blocks_ = 0;
  array<search_point<T, D>, cuda_context> records_;
  array<point_block<T, D>, cuda_context> blocks_;
  array<vec<int, D>, cuda_context> turns_;
  array<candidate_mask, cuda_context> words_;
  array<row_share, cuda_context> shares_;
};

namespace neighbor_search_methods {

template <bool ByWarps>
struct masks_method : trimmed_rows_method {
  static constexpr bool on_cpu = false;
  static constexpr bool on_cuda = true;
  template <typename Context, typename T, int D>
  [[nodiscard]] static std::unique_ptr<neighbor_engine<Context, T, D>> make(const Context& context,
                                                                            const neighbor_options<T>& options) {
    if constexpr (std::is_same_v<Context, cuda_context>) {
      return std::make_unique<masks_engine<T, D>>(context, options, ByWarps);
    } else {
      return nullptr;
    }
  }
  [[nodiscard]] static method_cost cost(const neighbor_request& request) {
    return search_cost(request, request.dimension == 3 ? 14.0 : 6.0, ByWarps ? 32 : 1);
  }
};

struct masks : masks_method<false> {
  static constexpr std::string_view name = "masks";
  static constexpr std::string_view summary =
      "trimmed rows, one search that stores a bit per candidate, whole rows written";
};
struct warps : masks_method<true> {
  static constexpr std::string_view name = "warps";
  static constexpr std::string_view summary = "trimmed rows, a warp per point; two passes";
};

}  // namespace neighbor_search_methods

}  // namespace quadrat::detail

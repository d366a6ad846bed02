// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "search/engine.hpp"
#include "search/levels/cells.hpp"
#include "search/levels/device.hpp"
#include "search/levels/grids.hpp"

namespace quadrat::detail {

/// The largest reach at which no point of the boxes has two images within reach of another; 0 in boxes that are not
/// orthorhombic.
template <typename T, int D>
[[nodiscard]] T reach_of_one_image(std::span<const lattice<T, D>> boxes) {
  T reach = std::numeric_limits<T>::max();
  for (const lattice<T, D>& shape : boxes) {
    if (!shape.orthorhombic) return T(0);
    for (int axis = 0; axis < D; ++axis) {
      if (shape.periodic[axis]) reach = std::min(reach, shape.vectors[axis][axis] / static_cast<T>(boxes_of_one_image));
    }
  }
  return reach;
}

/// The method `levels` on a GPU: see device.hpp.
///
/// Memory in float: for each point and each copy of one 36 bytes, and for each point 8 bytes for each mask and 29 for
/// long rows. Determinism: run_to_run.
template <typename T, int D>
class device_levels_engine final : public neighbor_engine<cuda_context, T, D> {
 public:
  using neighbor_engine<cuda_context, T, D>::neighbor_engine;

  void prepare(const search_task<T, D>& task) override {
    rows_ = task.rows;
    note_ = task.note;
    // The boxes themselves are one cell each.
    if (cells_.unfit(task)) cut(task);
    layers_.prepare(context_, task, options_, {true, levels_padding});
    // A word holds a slot and an image.
    by_threads_ = thread_reach_ > T(0) && layers_.slot_count() <= trimmed_rows_most_points;
    if (by_threads_) {
      words_a_row_ = std::max(words_a_row_, words_at_first());
      words_.resize_discarding(context_, words_a_row_ * rows_);
      shares_.resize_discarding(context_, rows_);
      long_slots_.resize_discarding(context_, rows_);
    }
    candidates_.resize_discarding(context_, rows_ + 2);
    cell_rows_.resize_discarding(context_, rows_);
    parts_.resize_discarding(context_, rows_);
    first_part_.resize_discarding(context_, rows_ + 1);
    pairs_of_parts_.resize_discarding(context_, rows_ + spare_parts(rows_));
  }
  void enqueue_cells(const search_key<T, D>& key) override {
    layers_.fill(context_, key, options_.rule == cutoff_rule::sum_of_radii ? options_.cutoff / 2 : options_.cutoff);
  }
  void enqueue_counts(const neighbor_search<T, D>& what, std::uint32_t* counts, const fault_flag& faults) override {
    enqueue_radius_counts(context_, search(what), counts, faults, scratch_);
  }
  void enqueue_entries(const neighbor_search<T, D>& what, const neighbor_sink<T, D>& sink) override {
    if (sink.offsets == nullptr) enqueue_counts(what, sink.counts, sink.faults);
    enqueue_radius_entries(context_, search(what), sink);
  }
  /// Rows with more masks than fit are searched as long ones. The new room takes at most as much memory as the list.
  [[nodiscard]] build_step adapt(const search_task<T, D>&, std::uint64_t pairs, std::uint64_t most_used) override {
    if (!by_threads_) return build_step::entries;
    const std::uint64_t fair = pairs * sizeof(particle_id) / (rows_ * sizeof(candidate_mask));
    const std::uint64_t wanted = std::min(most_used, fair);
    if (wanted <= words_a_row_) return build_step::entries;
    words_.resize_discarding(context_, wanted * rows_);
    words_a_row_ = wanted;
    return build_step::counts;
  }

  [[nodiscard]] std::size_t bytes() const override {
    return cells_.bytes() + layers_.bytes() + words_.bytes() + shares_.bytes() + long_slots_.bytes() +
           candidates_.bytes() + cell_rows_.bytes() + parts_.bytes() + first_part_.bytes() + pairs_of_parts_.bytes() +
           scratch_.bytes();
  }

 private:
  using neighbor_engine<cuda_context, T, D>::context_;
  using neighbor_engine<cuda_context, T, D>::options_;
  using neighbor_engine<cuda_context, T, D>::cells_;

  void cut(const search_task<T, D>& task) {
    cells_.cut(context_, task, {vec<T, D>::filled(this->reach()), this->reach(), 1, false});
    thread_reach_ = reach_of_one_image<T, D>(task.input.boxes);
    any_periodic_ = false;
    for (const lattice<T, D>& shape : task.input.boxes) {
      for (int axis = 0; axis < D; ++axis) any_periodic_ = any_periodic_ || shape.periodic[axis];
    }
  }
  /// Masks of the rows of cells of one level, and some of each other.
  [[nodiscard]] std::size_t words_at_first() const { return masks_a_row<D>(0, {}) + 3 * (layers_.levels() - 1); }

  [[nodiscard]] radius_search<T, D> search(const neighbor_search<T, D>& what) {
    // The count of long rows and their candidates are after the candidates of each.
    auto* count = reinterpret_cast<std::uint32_t*>(candidates_.data() + rows_);
    return {{what, layers_.layers(), layers_.slots()},
            cells_.first,
            any_periodic_,
            layers_.folded(),
            thread_reach_,
            static_cast<std::uint32_t>(rows_),
            words_.data(),
            static_cast<std::uint32_t>(words_a_row_),
            shares_.data(),
            note_,
            {static_cast<std::uint32_t>(rows_), spare_parts(rows_), by_threads_ ? long_slots_.data() : nullptr, count,
             candidates_.data(), cell_rows_.data(), candidates_.data() + rows_ + 1, parts_.data(), first_part_.data(),
             pairs_of_parts_.data()}};
  }

  std::size_t rows_ = 0;
  std::uint64_t* note_ = nullptr;
  bool any_periodic_ = false;
  T thread_reach_ = T(0);
  bool by_threads_ = false;  // whether threads search rows that are not long
  std::size_t words_a_row_ = 0;
  level_cells<cuda_context, T, D, walked_grids<T, D>> layers_;
  array<candidate_mask, cuda_context> words_;
  array<row_share, cuda_context> shares_;
  array<std::uint32_t, cuda_context> long_slots_;
  array<std::uint64_t, cuda_context> candidates_;
  array<std::uint32_t, cuda_context> cell_rows_;
  array<std::uint32_t, cuda_context> parts_;
  array<std::uint32_t, cuda_context> first_part_;
  array<std::uint32_t, cuda_context> pairs_of_parts_;
  workspace<cuda_context> scratch_;
};

}  // namespace quadrat::detail

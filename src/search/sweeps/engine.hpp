// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <vector>

#include "search/engine.hpp"
#include "search/request.hpp"
#include "search/sweeps/sweeps.hpp"

namespace quadrat::detail {

/// The method `sweeps`: see sweeps.hpp.
template <typename T, int D>
class sweeps_engine final : public neighbor_engine<cpu_context, T, D> {
 public:
  using neighbor_engine<cpu_context, T, D>::neighbor_engine;

  void prepare(const search_task<T, D>& task) override {
    const std::size_t points = task.input.points.count;
    if (cells_.unfit(task)) {
      const bool anywhere = options_.accept_outside;
      grids_ = make_sweeps_grids<T, D>(task.input.boxes, {this->reach(), most_cells(points, anywhere), anywhere});
      // The boxes themselves are one cell each.
      cells_.cut(context_, task, {vec<T, D>::filled(this->reach()), this->reach(), 1, false});
    }
    stride_ = points + sweeps_padding;
    coordinates_.resize_discarding(context_, D * stride_);
    ids_.resize_discarding(context_, stride_);
    // Shifts are written with their pairs, unless these are sorted first.
    records_ = !(options_.sorted || options_.vectors || options_.squared_distances || task.keeps_shifts ||
                 options_.layout == neighbor_layout::matrix);
    if (records_) first_of_slot_.resize_discarding(context_, stride_);
    boxes_kept_ = task.keeps_shifts && !options_.sorted;
    if (boxes_kept_) boxes_.resize_discarding(context_, stride_);
  }

  void enqueue_cells(const search_key<T, D>& key) override {
    cells_.buckets.build(context_, key.search.points.count, cell_count(), sweeps_key<T, D>{key, grids_.data()},
                         key.faults);
    gather_for_sweeps(context_, sweeps(key.search));
  }
  void enqueue_counts(const neighbor_search<T, D>& what, std::uint32_t* counts, const fault_flag& faults) override {
    recorded_ = 0;
    count_by_sweeps(context_, sweeps(what), counts, faults);
    if (entries_.size() == 0) recorded_ = not_recorded;
  }
  void enqueue_entries(const neighbor_search<T, D>& what, const neighbor_sink<T, D>& sink) override {
    if (recorded_ <= std::min<std::uint64_t>(entries_.size(), sink.capacity)) {
      copy_recorded(context_, sweeps(what), sink);
    } else {
      fill_by_sweeps(context_, sweeps(what), sink);
    }
  }
  /// Makes room to record neighbors, from the next count on, where there is plenty of memory.
  [[nodiscard]] bool grow(std::uint64_t pairs, std::uint64_t) override {
    recorded_ = not_recorded;
    const std::uint64_t room = pairs + pairs / 16;
    if (!records_ || room * sizeof(particle_id) > context_.memory().available_bytes() / 4) return false;
    try {
      entries_.resize_discarding(context_, room);
    } catch (const std::bad_alloc&) {  // the list is complete without
    }
    return false;
  }

  [[nodiscard]] std::size_t bytes() const override {
    return cells_.bytes() + grids_.capacity() * sizeof(grids_[0]) + coordinates_.bytes() + ids_.bytes() +
           boxes_.bytes() + entries_.bytes() + first_of_slot_.bytes();
  }

 private:
  using neighbor_engine<cpu_context, T, D>::context_;
  using neighbor_engine<cpu_context, T, D>::options_;
  using neighbor_engine<cpu_context, T, D>::cells_;

  [[nodiscard]] sweeps_search<T, D> sweeps(neighbor_search<T, D> what) {
    what.cell_offsets = cells_.buckets.view().offsets;
    return {what,
            grids_.data(),
            cell_count(),
            cells_.buckets.view().elements,
            coordinates_.data(),
            boxes_kept_ ? boxes_.data() : nullptr,
            ids_.data(),
            stride_,
            {entries_.size() > 0 ? entries_.data() : nullptr, entries_.size(), &recorded_, first_of_slot_.data()}};
  }
  [[nodiscard]] std::size_t cell_count() const {
    std::size_t product = 1;
    for (const int cells : grids_.back().cells.cells.component) product *= static_cast<std::size_t>(cells);
    return grids_.back().cells.first_cell + product;
  }

  std::vector<sweeps_grid<T, D>> grids_;
  std::size_t stride_ = 0;
  bool boxes_kept_ = false;
  static constexpr std::uint64_t not_recorded = ~std::uint64_t{0};
  bool records_ = false;                   // whether the list holds nothing but neighbors
  std::uint64_t recorded_ = not_recorded;  // entries found by the last count
  array<T, cpu_context> coordinates_;
  array<particle_id, cpu_context> ids_;
  array<vec<int, D>, cpu_context> boxes_;  // by slot
  array<particle_id, cpu_context> entries_;
  array<std::uint64_t, cpu_context> first_of_slot_;
};

namespace neighbor_search_methods {

struct sweeps {
  static constexpr std::string_view name = "sweeps";
  static constexpr std::string_view summary =
      "trimmed rows, side by side for vector units, by a few points; two passes";
  static constexpr std::string_view reason = "one cutoff on a CPU";
  static constexpr std::string_view served = "the uniform rule, without queries or excluded pairs";
  static constexpr determinism reproducible = determinism::run_to_run;
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = false;
  template <typename Context, typename T, int D>
  [[nodiscard]] static std::unique_ptr<neighbor_engine<Context, T, D>> make(const Context& context,
                                                                            const neighbor_options<T>& options) {
    if constexpr (std::is_same_v<Context, cpu_context>) {
      return std::make_unique<sweeps_engine<T, D>>(context, options);
    } else {
      return nullptr;
    }
  }
  [[nodiscard]] static bool serves(const neighbor_request& request) { return request.one_cutoff; }
  /// In milliseconds: an eighth of a walk's time per point, after a longer start.
  [[nodiscard]] static double cost(const neighbor_request& request) {
    return 1e-6 * (3600 + 8 * static_cast<double>(request.points));
  }
};

}  // namespace neighbor_search_methods

}  // namespace quadrat::detail

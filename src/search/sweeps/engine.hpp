// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "search/engine.hpp"
#include "search/levels/cells.hpp"
#include "search/request.hpp"
#include "search/sweeps/sweeps.hpp"

namespace quadrat::detail {

template <typename T, int D>
struct sweeps_grids {
  using grid = cuboid_grid<T, D>;

  [[nodiscard]] static std::vector<grid> make(std::span<const lattice<T, D>> boxes, const layer_request<T>& request) {
    return make_cuboid_grids<T, D>(boxes, {request.edge, request.reach, request.most_cells, request.points_anywhere});
  }
  [[nodiscard]] static search_system<T, D>& cells(grid& of) { return of.cells; }
};

/// The method `sweeps`: see sweeps.hpp. Points with radii are on levels, as for the method `levels`.
template <typename T, int D>
class sweeps_engine final : public neighbor_engine<cpu_context, T, D> {
 public:
  using neighbor_engine<cpu_context, T, D>::neighbor_engine;

  void prepare(const search_task<T, D>& task) override {
    // The boxes themselves are one cell each.
    if (cells_.unfit(task)) cells_.cut(context_, task, {vec<T, D>::filled(this->reach()), this->reach(), 1, false});
    layers_.prepare(context_, task, options_, {false, sweeps_padding});
    records_ = !(options_.sorted || options_.vectors || options_.squared_distances || task.keeps_shifts ||
                 options_.layout == neighbor_layout::matrix);
    if (records_) first_of_slot_.resize_discarding(context_, layers_.points());
  }

  void enqueue_cells(const search_key<T, D>& key) override {
    layers_.fill(context_, key, options_.rule == cutoff_rule::sum_of_radii ? options_.cutoff / 2 : options_.cutoff);
  }
  void enqueue_counts(const neighbor_search<T, D>& what, std::uint32_t* counts, const fault_flag& faults) override {
    recorded_ = left_out_ = 0;
    count_by_sweeps(context_, sweeps(what), counts, faults, limit_);
    if (entries_.size() == 0) recorded_ = not_recorded;
  }
  void enqueue_entries(const neighbor_search<T, D>& what, const neighbor_sink<T, D>& sink) override {
    if (recorded_ <= std::min<std::uint64_t>(entries_.size(), sink.capacity)) {
      copy_recorded(context_, sweeps(what), sink);
      if (left_out_ > 0) fill_by_sweeps(context_, sweeps(what), sink, true);
    } else {
      fill_by_sweeps(context_, sweeps(what), sink, false);
    }
  }
  /// If there is plenty of memory, makes room to record neighbors from the next count on.
  [[nodiscard]] build_step adapt(const search_task<T, D>&, std::uint64_t pairs, std::uint64_t) override {
    recorded_ = not_recorded;
    const std::uint64_t room = pairs + pairs / 16;
    if (!records_ || room * sizeof(particle_id) > context_.memory().available_bytes() / 4) return build_step::entries;
    try {
      entries_.resize_discarding(context_, room);
    } catch (const std::bad_alloc&) {  // recording is optional
    }
    return build_step::entries;
  }

  [[nodiscard]] std::size_t bytes() const override {
    return cells_.bytes() + layers_.bytes() + entries_.bytes() + first_of_slot_.bytes();
  }

 private:
  using neighbor_engine<cpu_context, T, D>::context_;
  using neighbor_engine<cpu_context, T, D>::options_;
  using neighbor_engine<cpu_context, T, D>::cells_;
  using neighbor_engine<cpu_context, T, D>::limit_;

  [[nodiscard]] sweeps_search<T, D> sweeps(const neighbor_search<T, D>& what) {
    particle_id* entries = entries_.size() > 0 ? entries_.data() : nullptr;
    return {what,
            layers_.layers(),
            layers_.slots(),
            layers_.points(),
            layers_.row_cells(),
            {entries, entries_.size(), &recorded_, &left_out_, first_of_slot_.data()}};
  }

  level_cells<cpu_context, T, D, sweeps_grids<T, D>> layers_;
  static constexpr std::uint64_t not_recorded = ~std::uint64_t{0};
  bool records_ = false;                   // whether the list holds nothing but neighbors
  std::uint64_t recorded_ = not_recorded;  // number of entries recorded by the last count
  std::uint64_t left_out_ = 0;             // rows that the last count did not record
  array<particle_id, cpu_context> entries_;
  array<std::uint64_t, cpu_context> first_of_slot_;
};

namespace neighbor_search_methods {

struct sweeps {
  static constexpr std::string_view name = "sweeps";
  static constexpr std::string_view summary =
      "trimmed rows, read by vector instructions for a few points at a time; two passes";
  static constexpr std::string_view served = "the uniform rule and those with radii, without queries or excluded pairs";
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
  [[nodiscard]] static bool serves(const neighbor_request& request) {
    return request.one_cutoff || (request.radii && !request.excluded);
  }
  /// Trimmed rows of cells of half the reach.
  [[nodiscard]] static method_cost cost(const neighbor_request& request) {
    return search_cost(request.with_team_from(sweeps_team_points), request.dimension == 3 ? 10.5 : 5.0);
  }
};

}  // namespace neighbor_search_methods

}  // namespace quadrat::detail

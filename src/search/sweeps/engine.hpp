// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string_view>
#include <type_traits>

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
      vec<T, D> edges = vec<T, D>::filled(this->reach());
      edges[0] /= T(trimmed_cells_along_first_axis);
      const bool anywhere = options_.accept_outside;
      cells_.cut(context_, task, {edges, this->reach(), most_cells(points, anywhere), anywhere});
    }
    one_system_ = task.one_system;
    stride_ = points + sweeps_padding;
    coordinates_.resize_discarding(context_, D * stride_);
    ids_.resize_discarding(context_, stride_);
  }

  void enqueue_cells(const search_key<T, D>& key) override {
    cells_.fill(context_, key, one_system_);
    gather_for_sweeps(context_, sweeps(key.search));
  }
  void enqueue_counts(const neighbor_search<T, D>& what, std::uint32_t* counts, const fault_flag&) override {
    count_by_sweeps(context_, sweeps(what), counts);
  }
  void enqueue_entries(const neighbor_search<T, D>& what, const neighbor_sink<T, D>& sink) override {
    fill_by_sweeps(context_, sweeps(what), sink);
  }

  [[nodiscard]] std::size_t bytes() const override { return cells_.bytes() + coordinates_.bytes() + ids_.bytes(); }

 private:
  using neighbor_engine<cpu_context, T, D>::context_;
  using neighbor_engine<cpu_context, T, D>::options_;
  using neighbor_engine<cpu_context, T, D>::cells_;

  [[nodiscard]] sweeps_search<T, D> sweeps(neighbor_search<T, D> what) {
    what.cell_offsets = cells_.buckets.view().offsets;
    return {what, cells_.count, cells_.buckets.view().elements, coordinates_.data(), ids_.data(), stride_};
  }

  bool one_system_ = false;
  std::size_t stride_ = 0;
  array<T, cpu_context> coordinates_;
  array<particle_id, cpu_context> ids_;
};

namespace neighbor_search_methods {

struct sweeps : trimmed_rows_method {
  static constexpr std::string_view name = "sweeps";
  static constexpr std::string_view summary =
      "trimmed rows, side by side for vector units, by a few points; two passes";
  static constexpr std::string_view reason = "orthorhombic boxes and one cutoff on a CPU";
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
  /// In milliseconds: an eighth of a walk's time per point, after a longer start.
  [[nodiscard]] static double cost(const neighbor_request& request) {
    return 1e-6 * (3600 + 8 * static_cast<double>(request.points));
  }
};

}  // namespace neighbor_search_methods

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "mesh/cost.hpp"
#include "mesh/engine.hpp"
#include "mesh/sparse/rows.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Entries of a row per thread of a unit beyond which a warp takes the row. If all rows are long, none delays the
/// others.
[[nodiscard]] constexpr double most_entries_alone(double mean_row, int unit) {
  constexpr double least = long_row_list::least, uneven = 4;
  return std::max(least, uneven * mean_row / unit);
}
inline constexpr int warp_threads = 32, row_block_threads = 256;

/// The number of threads that multiply a row.
struct row_threads {
  int unit;
  unit_reduction reduction;
  std::uint32_t most_alone;  ///< most entries of a row for a unit; a warp or block takes longer rows
};
/// The most entries of a row for a warp; a block takes longer rows.
inline constexpr std::uint32_t most_entries_of_warp = 4096;

/// Single mesh (particle-mesh-spreading, sections 3.1 and 3.2): the spreading operator as compressed sparse rows, built
/// in three steps; a row is multiplied by a compute unit of 1 to 32 threads. Determinism: run_to_run, with rows sorted
/// by point when they are built; canonical also uses one thread per row, whatever the compute unit. At `none` rows are
/// not sorted, and their order is that of the atomic operations.
template <typename Context, typename T>
class single_mesh_engine : public placed_points_engine<Context, T> {
 public:
  using placed_points_engine<Context, T>::placed_points_engine;
  [[nodiscard]] std::size_t bytes_needed(std::size_t count) const override;
  /// Synchronizes if an axis is open, to learn how much is left after clipping.
  void set_points(const point_placement<T>& points) override;
  void spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) override;
  [[nodiscard]] std::size_t bytes() const override;

 private:
  [[nodiscard]] row_threads threads(std::size_t count) const;
  [[nodiscard]] std::uint32_t most_unlisted(std::size_t count) const;

  array<std::uint32_t, Context> counts_;
  array<std::uint64_t, Context> offsets_;
  array<mesh_entry<T>, Context> entries_;
  array<std::size_t, Context> long_rows_;
  long_row_list list_;
  workspace<Context> scratch_;
};

/// Threads per mesh point for `average` contributions (particle-mesh-spreading, section 3.2).
[[nodiscard]] constexpr int paper_compute_unit(double average) {
  int unit = 1;
  while (unit < 16 && average >= 2.0 * unit) unit *= 2;
  return unit;
}

/// node[k] = sum over the entries of row k of weight times value. Asynchronous. On CUDA the list must have all rows too
/// long for a unit.
template <typename T>
void multiply_rows(const cpu_context& context, const listed_rows<T>& all, const channel_pair<T>& channels,
                   const row_threads& threads);
#if QUADRAT_HAS_CUDA
template <typename T>
void multiply_rows(const cuda_context& context, const listed_rows<T>& all, const channel_pair<T>& channels,
                   const row_threads& threads);
#else
template <typename T>
void multiply_rows(const cuda_context& context, const listed_rows<T>&, const channel_pair<T>&, const row_threads&) {
  context.activate();
}
#endif

struct single_mesh_method {
  static constexpr std::string_view name = "single_mesh";
  static constexpr std::string_view summary = "weights as sparse rows (CSR), 1 to 32 threads per mesh point";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::canonical;
  /// What is left after clipping has to be read otherwise.
  static bool sets_points_async(const spread_request& request) { return request.periodic; }
  static method_cost cost(const spread_request& request) {
    method_cost cost = request.cuda ? cuda_cost(request) : cpu_cost(request);
    cost.holds((request.bytes > 6 * request.nodes ? 16 : 8) * 1e6 * request.contributions() + 12 * request.nodes);
    if (request.asynchronous && !sets_points_async(request))
      cost.last_resort("cannot set points asynchronously where an axis is open");
    return cost;
  }

 private:
  static method_cost common_cost(const spread_request& request) {
    const double entries = request.contributions();
    return spreading_cost(request)
        .once("mesh", cost_unit::step, request.share(1e-6 * request.nodes))
        .once("work", cost_unit::step, request.share(entries))
        .once("wide", cost_unit::step, request.share(request.wide(entries)))
        .once("sort", cost_unit::step, request.level == determinism::none ? 0 : request.share(entries))
        .each("nodes", cost_unit::step, request.share(1e-6 * request.nodes));
  }
  static method_cost cuda_cost(const spread_request& request) {
    // A few threads take the row of a mesh point; a warp or block takes and sorts longer rows.
    const double row = request.most_at_a_point();
    const bool sorted = request.level != determinism::none;
    const bool in_order = request.level == determinism::canonical;
    const double mean = 1e6 * request.contributions() / request.nodes;
    const int unit = in_order ? 1 : paper_compute_unit(mean);
    const double alone = in_order ? row : 1e-6 * most_entries_alone(mean, unit) * unit;
    constexpr double by_warp = 1e-6 * most_entries_of_warp;
    const double by_block = std::max(0.0, row - by_warp) * warp_threads / row_block_threads;
    return common_cost(request)
        .once("sorted", cost_unit::launch, sorted ? 1 : 0)
        .once("sorted_row", cost_unit::step, sorted ? row : 0)
        .once("sorted_nodes", cost_unit::step, sorted ? 1e-6 * request.nodes : 0)
        .once("reached", cost_unit::step, row)
        .each("row", cost_unit::step, std::min(row, alone) / unit)
        .each("long_row", cost_unit::step, row > alone ? (std::min(row, by_warp) + by_block) / warp_threads : 0);
  }
  static method_cost cpu_cost(const spread_request& request) {
    const double entries = request.contributions();
    constexpr double cache = 2;  // millions of bytes
    const bool beyond = entries * (request.wide(8) + 8) > cache;
    // The exit of the loop over a nonempty row is mispredicted.
    const double near = 1e-6 * request.nodes * (request.sample.seen > 0 ? request.sample.occupied : 1);
    return common_cost(request)
        .once("far", cost_unit::byte, beyond ? request.share(entries * request.disorder()) : 0)
        // Threads that count contributions to the same mesh points wait for each other.
        .once("fullest", cost_unit::step, request.threads > 1 ? request.fullest() : 0)
        .once("team", cost_unit::launch, request.teams(1))
        .each("touched", cost_unit::step, request.share(-near * std::expm1(-entries / std::max(near, 1e-9))))
        .each("far", cost_unit::byte, request.share(entries * request.disorder()))
        .each("team", cost_unit::launch, request.teams(1));
  }

 public:
  template <typename Context, typename T>
  using engine = single_mesh_engine<Context, T>;
};

}  // namespace quadrat::detail

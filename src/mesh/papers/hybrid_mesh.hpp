// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "core/paper_methods.hpp"
#include "mesh/cost.hpp"
#include "mesh/engine.hpp"
#include "mesh/sparse/rows.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Hybrid mesh (particle-mesh-spreading, section 3.1; the format of Bell and Garland 2009, formerly in cuSPARSE): up to
/// as many entries of each row as at least a third of the rows have are stored column by column, so that threads of
/// neighboring rows read adjacent entries; the rest is a list of entries with their rows, which GPU warps reduce by a
/// segmented sum and add with atomic operations. Determinism: none.
template <typename Context, typename T>
class hybrid_mesh_engine : public placed_points_engine<Context, T> {
 public:
  using placed_points_engine<Context, T>::placed_points_engine;
  /// An upper bound: padding and list together are largest if two thirds of the rows are empty.
  [[nodiscard]] std::size_t bytes_needed(std::size_t count) const override;
  /// Synchronizes.
  void set_points(const point_placement<T>& points) override;
  void spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) override;
  [[nodiscard]] std::size_t bytes() const override;

 private:
  [[nodiscard]] std::uint32_t common_length(std::size_t nodes);

  array<std::uint32_t, Context> counts_;
  array<std::uint32_t, Context> lengths_;   ///< entries of a row that are in columns
  array<std::uint64_t, Context> overflow_;  ///< where the rest of a row begins in the list
  array<mesh_entry<T>, Context> ell_;
  array<mesh_entry<T>, Context> list_;
  array<std::uint32_t, Context> list_rows_;
  workspace<Context> scratch_;
  std::uint32_t width_ = 0;
};

/// Adds `count` entries of a list, sorted by row, to the mesh points of their rows.
template <typename T>
void add_list(const cpu_context& context, const mesh_entry<T>* list, const std::uint32_t* rows, std::size_t count,
              const channel_pair<T>& channels);
#if QUADRAT_HAS_CUDA
/// Asynchronous.
template <typename T>
void add_list(const cuda_context& context, const mesh_entry<T>* list, const std::uint32_t* rows, std::size_t count,
              const channel_pair<T>& channels);
#else
template <typename T>
void add_list(const cuda_context& context, const mesh_entry<T>*, const std::uint32_t*, std::size_t,
              const channel_pair<T>&) {
  context.activate();
}
#endif

struct hybrid_mesh_method : paper_method {
  static constexpr std::string_view name = "hybrid_mesh";
  static constexpr std::string_view summary = "weights as rows of equal length (ELL) and a list of the rest (COO)";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::none;
  static method_cost cost(const spread_request& request) {
    if (!request.cuda) return method_cost().last_resort("single_mesh takes no longer");
    if (request.asynchronous) return method_cost().last_resort("cannot set points asynchronously");
    const double entries = request.contributions(), entry = request.wide(8) + 8;
    return spreading_cost(request)
        .once("mesh", cost_unit::step, 1e-6 * request.nodes)
        .once("work", cost_unit::step, entries)
        .once("wide", cost_unit::step, request.wide(entries))
        .once("reached", cost_unit::step, request.most_at_a_point())
        .each("nodes", cost_unit::step, 1e-6 * request.nodes)
        .each("fullest", cost_unit::step, request.fullest())
        // Entries that do not fit into columns are in a list, whose additions to one mesh point are serialized.
        .each("reached", cost_unit::step, request.most_at_a_point())
        .holds(3e6 * entry * entries + 16 * request.nodes);
  }
  template <typename Context, typename T>
  using engine = hybrid_mesh_engine<Context, T>;
};

}  // namespace quadrat::detail

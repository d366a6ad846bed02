// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "mesh/engine.hpp"
#include "mesh/sparse/rows.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Single mesh (particle-mesh-spreading, sections 3.1 and 3.2): the spreading operator as compressed sparse rows, built
/// in three steps; a row is multiplied by a compute unit of 1 to 32 threads. Determinism: run_to_run with rows sorted
/// by point when they are built; canonical with one thread a row besides, whatever compute unit was asked for. At those
/// levels building costs the sort; at `none` the order in a row is that of the atomic operations.
template <typename Context, typename T>
class single_mesh_engine : public placed_points_engine<Context, T> {
 public:
  using placed_points_engine<Context, T>::placed_points_engine;
  [[nodiscard]] std::size_t bytes_needed(std::size_t count) const override;
  /// Synchronises where an axis is open, to allocate what is left after clipping.
  void set_points(const point_placement<T>& points) override;
  void spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) override;
  [[nodiscard]] std::size_t bytes() const override;

 private:
  [[nodiscard]] int compute_unit() const;

  array<std::uint32_t, Context> counts_;
  array<std::uint64_t, Context> offsets_;
  array<mesh_entry<T>, Context> entries_;
  workspace<Context> scratch_;
};

/// Threads a mesh point for `average` contributions (particle-mesh-spreading, section 3.2).
[[nodiscard]] constexpr int paper_compute_unit(double average) {
  int unit = 1;
  while (unit < 16 && average >= 2.0 * unit) unit *= 2;
  return unit;
}

/// node[k] = sum over the entries of row k of weight times value. Asynchronous.
template <typename T>
void multiply_rows(const cpu_context& context, const mesh_rows<T>& rows, const channel_pair<T>& channels, int unit,
                   unit_reduction reduction);
#if QUADRAT_HAS_CUDA
template <typename T>
void multiply_rows(const cuda_context& context, const mesh_rows<T>& rows, const channel_pair<T>& channels, int unit,
                   unit_reduction reduction);
#else
template <typename T>
void multiply_rows(const cuda_context& context, const mesh_rows<T>&, const channel_pair<T>&, int, unit_reduction) {
  context.activate();
}
#endif

}  // namespace quadrat::detail

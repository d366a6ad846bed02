// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "mesh/engine.hpp"
#include "mesh/tiles/cpu/tiling.hpp"
#include "mesh/tiles/cpu/walk.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Tiles on the CPU. Points are sorted by tile, and within a tile by plane along axis 0 and by their position relative
/// to the vectors of a row. A thread takes a tile at a time and walks through its planes; footprints are added to a
/// sliding buffer of as many planes as a footprint has, small enough for the level-one cache, and a plane that is left
/// behind is added to the mesh. Tiles are processed color by color, so that nothing is atomic and the result is the
/// same in every run and with any number of threads. Interpolation walks in the same way, reading planes as it reaches
/// them.
template <typename T>
class cpu_tiles_engine : public spread_engine<cpu_context, T> {
 public:
  cpu_tiles_engine(const cpu_context& context, const spread_setup<T>& setup,
                   const tile_functions<T>& functions = best_tile_functions<T>());

  [[nodiscard]] std::size_t bytes_needed(std::size_t count) const override;
  void set_points(const point_placement<T>& points) override;
  [[nodiscard]] bool can_set_points_asynchronously() const override { return true; }
  void spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) override;
  void interpolate(const value_layout& layout, const T* mesh, T* values, bool accumulate) override;
  void interpolate_gradient(const value_layout& layout, const T* mesh, const T* scale, T* values, T* gradients,
                            bool accumulate) override;
  [[nodiscard]] std::size_t bytes() const override;

 protected:
  [[nodiscard]] const cpu_context& context() const { return context_; }
  [[nodiscard]] const spread_setup<T>& setup() const { return setup_; }
  [[nodiscard]] const mesh_tiles& tiles() const { return tiles_; }
  [[nodiscard]] tile_stages& stages() { return stages_; }
  /// The sorted points, their indices in the caller's order, and where each tile begins (and the end).
  [[nodiscard]] const placed_point<T>* points() const { return points_.data(); }
  [[nodiscard]] const std::uint32_t* order() const { return order_.data(); }
  [[nodiscard]] const std::uint32_t* begins() const { return begins_.data(); }
  /// Fills with zeros, unless values are accumulated.
  void clear(const value_layout& layout, T* mesh, bool accumulate) const;

 private:
  using tile_function = void (*)(const tile_walk<T>& walk, const tile_work<T>& work);

  [[nodiscard]] tile_walk<T> walk() const;
  [[nodiscard]] int key_bits_in_tile() const;
  void find_begins(const std::uint32_t* keys, std::size_t count);
  void work_on(std::uint32_t tile, tile_function function, const tile_walk<T>& walk);
  void walk_all(tile_function function, const tile_walk<T>& walk);

  cpu_context context_;
  spread_setup<T> setup_;
  const tile_functions<T>& functions_;
  mesh_tiles tiles_;
  tile_stages stages_;
  int rows_;  ///< of the largest tile, with a footprint's reach
  int row_;
  std::uint32_t lane_keys_;  ///< positions along a row that the sort distinguishes in a plane: a power of 2
  int bits_in_tile_ = 0;
  array<placed_point<T>, cpu_context> points_;
  array<std::uint32_t, cpu_context> order_;
  array<std::uint32_t, cpu_context> begins_;
  array<T, cpu_context> scratch_;         ///< of each thread
  array<row_piece, cpu_context> pieces_;  ///< of each thread
  workspace<cpu_context> sort_memory_;
  array<std::uint32_t, cpu_context> pairs_;
};

extern template class cpu_tiles_engine<float>;
extern template class cpu_tiles_engine<double>;

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "mesh/engine.hpp"
#include "mesh/tiles/cpu/tiling.hpp"
#include "mesh/tiles/cpu/walk.hpp"
#include "parallel/partition.hpp"
#include "quadrat/core/array.hpp"

namespace quadrat::detail {

/// Tiles on the CPU. Setting points copies them by tile. One pass finds the tiles, with only as many digits as needed,
/// and counts the points of each; a second pass stores each point in its tile. A tile's points are placed and sorted
/// on first use, while they are in the cache: by plane along axis 0, then by position relative to the vectors of a
/// row.
///
/// A thread takes a tile at a time and goes through its planes. It adds footprints to a sliding buffer with the planes
/// of one footprint, small enough for the level-one cache, and adds each finished plane to the mesh. Tiles are
/// processed color by color, so nothing is atomic, and the result is the same in every run and with any number of
/// threads. Interpolation goes through the planes in the same way and reads each as it reaches it.
template <typename T>
class cpu_tiles_engine : public spread_engine<cpu_context, T> {
 public:
  cpu_tiles_engine(const cpu_context& context, const spread_setup<T>& setup,
                   const tile_functions<T>& functions = best_tile_functions<T>());

  [[nodiscard]] std::size_t bytes_needed(std::size_t count) const override;
  void set_points(const point_placement<T>& points) override;
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
  /// The points by tile, and where each tile begins (and the end). Points of a tile are valid after prepare_tile.
  [[nodiscard]] const tile_point<T>* points() const { return stored_.data(); }
  [[nodiscard]] const std::uint32_t* begins() const { return begins_.data(); }
  [[nodiscard]] bool has_points(std::uint32_t tile) const { return begins()[tile] != begins()[tile + 1]; }
  /// Must not run twice at a time for the same tile.
  void prepare_tile(std::uint32_t tile);
  /// Fills the mesh with zeros, unless values are accumulated.
  void clear(const value_layout& layout, T* mesh, bool accumulate) const;

 private:
  using tile_function = void (*)(const tile_walk<T>& walk, const tile_work<T>& work);

  [[nodiscard]] tile_walk<T> walk() const;
  [[nodiscard]] partition parts_of(std::size_t count) const;
  void find_begins(std::size_t parts);
  void sort_tile(tile_point<T>* points, std::size_t count);
  [[nodiscard]] std::uint32_t key_in_tile(const tile_point<T>& point) const;
  void work_on(std::uint32_t tile, tile_function function, const tile_walk<T>& walk, bool stores = false);
  [[nodiscard]] bool can_store() const;
  void find_what_is_there(const int* along, tile_work<T>& work) const;
  void walk_all(tile_function function, const tile_walk<T>& walk);

  cpu_context context_;
  spread_setup<T> setup_;
  mirrored_window<T> mirrored_;
  const tile_functions<T>& functions_;
  mesh_tiles tiles_;
  tile_stages stages_;
  int rows_;  ///< of the largest tile, with a footprint's reach
  int row_;
  point_placement<T> how_{};                  ///< of the stored points, without their arrays
  std::uint64_t known_faults_[2]{};           ///< of refused points, which have been reported
  array<tile_point<T>, cpu_context> stored_;  ///< by tile, in the caller's order; placed and sorted where is_ready_
  array<tile_point<T>, cpu_context> sorted_;  ///< of each thread, for sorting a tile
  std::size_t sorted_room_ = 0;               ///< points of a thread's part
  array<std::uint32_t, cpu_context> begins_;
  array<std::uint8_t, cpu_context> is_ready_;  ///< tile by tile
  array<std::uint32_t, cpu_context> tile_of_;  ///< of each point
  array<std::uint32_t, cpu_context> next_;     ///< of each thread: by tile, the place of its next point
  array<T, cpu_context> scratch_;              ///< of each thread
  array<row_piece, cpu_context> pieces_;       ///< of each thread
};

extern template class cpu_tiles_engine<float>;
extern template class cpu_tiles_engine<double>;

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cpu/engine.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

/// The window in the layout of the inner loops: coefficients beyond the width are zero.
template <typename T>
[[nodiscard]] spread_setup<T> trimmed(spread_setup<T> setup) {
  mesh_window<T>& window = setup.window;
  for (int d = 0; d < mesh_window<T>::most_terms; ++d) {
    for (int j = 0; j < mesh_window<T>::most_width; ++j) {
      if (d >= window.terms || j >= window.width) window.coefficient[d][j] = T(0);
    }
  }
  return setup;
}

}  // namespace

template <typename T>
cpu_tiles_engine<T>::cpu_tiles_engine(const cpu_context& context, const spread_setup<T>& setup,
                                      const tile_functions<T>& functions)
    : context_(context),
      setup_(trimmed(setup)),
      mirrored_(make_mirrored_window(setup_.window)),
      functions_(functions),
      tiles_(make_cpu_tiles(setup_.shape, sizeof(T))),
      stages_(tiles_),
      rows_(tiles_.axis[1].most_size() + setup_.shape.width[1] - 1),
      row_(tiles_.axis[2].most_size() + setup_.shape.width[2] - 1) {
  for (int axis = 0; axis < 3; ++axis) {
    require(tiles_.axis[axis].most_size() <= tile_point<T>::most_size[axis], "tiles are too large");
  }
}

/// The most points of a tile that are sorted by copying: as many as a level-two cache holds.
constexpr std::size_t most_copied = 16384;

/// The number of parts in which points are stored, one per thread, or fewer if a thread and its counts do not pay.
template <typename T>
partition cpu_tiles_engine<T>::parts_of(std::size_t count) const {
  return partition_for(context_, count, std::max<std::size_t>(8192, tiles_.count() / 4));
}

template <typename T>
std::size_t cpu_tiles_engine<T>::bytes_needed(std::size_t count) const {
  const auto threads = static_cast<std::size_t>(context_.threads());
  const std::size_t point = sizeof(tile_point<T>) + sizeof(std::uint32_t);
  return count * point + threads * std::min(count, most_copied) * sizeof(tile_point<T>) +
         (tiles_.count() + 1) * (parts_of(count).parts + 1) * sizeof(std::uint32_t) + tiles_.count() +
         threads * (tile_scratch(setup_.shape.width[0], rows_, row_) * sizeof(T) +
                    static_cast<std::size_t>(row_) * sizeof(row_piece));
}

template <typename T>
std::size_t cpu_tiles_engine<T>::bytes() const {
  return stored_.bytes() + sorted_.bytes() + begins_.bytes() + is_ready_.bytes() + tile_of_.bytes() + next_.bytes() +
         scratch_.bytes() + pieces_.bytes();
}

template <typename T>
void cpu_tiles_engine<T>::set_points(const point_placement<T>& points) {
  const std::size_t count = points.count, tiles = tiles_.count();
  const auto threads = static_cast<std::size_t>(context_.threads());
  const partition split = parts_of(count);
  const auto parts = static_cast<int>(split.parts);
  how_ = points;
  how_.faults = {known_faults_, known_faults_ + 1};
  stored_.resize_discarding(context_, count);
  sorted_room_ = std::min(count, most_copied);
  sorted_.resize_discarding(context_, threads * sorted_room_);
  begins_.resize_discarding(context_, tiles + 1);
  is_ready_.resize_discarding(context_, tiles);
  tile_of_.resize_discarding(context_, count);
  next_.resize_discarding(context_, tiles * split.parts);
  scratch_.resize_discarding(context_, threads * tile_scratch(setup_.shape.width[0], rows_, row_));
  pieces_.resize_discarding(context_, threads * static_cast<std::size_t>(row_));

#pragma omp parallel num_threads(parts) if (parts > 1)
  {
#pragma omp for schedule(static, 1)
    for (int part = 0; part < parts; ++part) {
      const auto p = static_cast<std::size_t>(part);
      const std::size_t first = split.first(p);
      std::uint32_t* const counts = next_.data() + p * tiles;
      std::fill_n(counts, tiles, 0u);
      functions_.find_tiles(points, tiles_, first, split.last(p), tile_of_.data() + first, counts);
    }
#pragma omp single
    find_begins(split.parts);
#pragma omp for schedule(static, 1)
    for (int part = 0; part < parts; ++part) {
      const auto p = static_cast<std::size_t>(part);
      const std::size_t first = split.first(p);
      functions_.store(points, first, split.last(p), tile_of_.data() + first, next_.data() + p * tiles, stored_.data());
    }
  }
}

/// Turns each part's numbers of points into places, by tile, then by part. The points of a tile keep the caller's
/// order, whatever the number of threads.
template <typename T>
void cpu_tiles_engine<T>::find_begins(std::size_t parts) {
  const std::size_t tiles = tiles_.count();
  std::uint32_t place = 0;
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    begins_.data()[tile] = place;
    for (std::size_t part = 0; part < parts; ++part) place += std::exchange(next_.data()[part * tiles + tile], place);
  }
  begins_.data()[tiles] = place;
  std::fill_n(is_ready_.data(), tiles, std::uint8_t{0});
}

/// The sorting key of a point of a tile: its plane (its row in two dimensions), then its position relative to the
/// vectors of a row of complex values.
template <typename T>
std::uint32_t cpu_tiles_engine<T>::key_in_tile(const tile_point<T>& point) const {
  const auto spots = static_cast<std::uint32_t>(functions_.lanes / 2);
  return static_cast<std::uint32_t>(point.along(setup_.shape.first_axis == 1 ? 1 : 0)) * spots +
         (static_cast<std::uint32_t>(point.along(2)) & (spots - 1));
}

/// Sorts by a copy in the thread's memory, which stays in its cache; sorts many points in place.
template <typename T>
void cpu_tiles_engine<T>::sort_tile(tile_point<T>* points, std::size_t count) {
  constexpr std::size_t most_keys = 4096;
  std::array<std::uint32_t, most_keys> next, end;
  const int keys = tiles_.axis[setup_.shape.first_axis == 1 ? 1 : 0].most_size() * (functions_.lanes / 2);
  std::fill_n(next.data(), keys, 0u);
  for (std::size_t i = 0; i < count; ++i) ++next[key_in_tile(points[i])];
  std::uint32_t place = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(keys); ++k) {
    place += std::exchange(next[k], place);
    end[k] = place;
  }
  if (count <= sorted_room_) {
    tile_point<T>* const sorted = sorted_.data() + static_cast<std::size_t>(omp_get_thread_num()) * sorted_room_;
    for (std::size_t i = 0; i < count; ++i) sorted[next[key_in_tile(points[i])]++] = points[i];
    std::copy(sorted, sorted + count, points);
    return;
  }
  for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(keys); ++k) {
    while (next[k] < end[k]) {
      tile_point<T>& here = points[next[k]];
      const std::uint32_t key = key_in_tile(here);
      if (key != k) std::swap(here, points[next[key]]);
      ++next[key];
    }
  }
}

template <typename T>
void cpu_tiles_engine<T>::prepare_tile(std::uint32_t tile) {
  if (is_ready_.data()[tile] != 0) return;
  int along[3], begin[3];
  tiles_.split(tile, along);
  for (int axis = 0; axis < 3; ++axis) begin[axis] = tiles_.axis[axis].begin(along[axis]);
  const std::size_t first = begins()[tile], last = begins()[tile + 1];
  functions_.place(how_, begin, stored_.data() + first, last - first);
  sort_tile(stored_.data() + first, last - first);
  is_ready_.data()[tile] = 1;
}

template <typename T>
tile_walk<T> cpu_tiles_engine<T>::walk() const {
  tile_walk<T> walk{};
  walk.shape = &setup_.shape;
  walk.window = &setup_.window;
  walk.mirrored = mirrored_.terms > 0 ? &mirrored_ : nullptr;
  walk.points = stored_.data();
  return walk;
}

/// A thread of the context calls it.
template <typename T>
void cpu_tiles_engine<T>::work_on(std::uint32_t tile, tile_function function, const tile_walk<T>& walk, bool stores) {
  tile_work<T> work{};
  work.first = begins()[tile];
  work.last = begins()[tile + 1];
  work.stores = stores;
  if (work.first == work.last && !stores) return;
  prepare_tile(tile);
  int along[3];
  tiles_.split(tile, along);
  find_what_is_there(along, work);
  for (int axis = 0; axis < 3; ++axis) work.begin[axis] = tiles_.axis[axis].begin(along[axis]);
  work.rows = tiles_.axis[1].size(along[1]) + setup_.shape.width[1] - 1;
  work.row = tiles_.axis[2].size(along[2]) + setup_.shape.width[2] - 1;
  const auto thread = static_cast<std::size_t>(omp_get_thread_num());
  const std::size_t room = tile_scratch(setup_.shape.width[0], rows_, row_);
  work.scratch = scratch_.data() + thread * room;
  work.pieces = pieces_.data() + thread * static_cast<std::size_t>(row_);
  function(walk, work);
}

template <typename T>
void cpu_tiles_engine<T>::clear(const value_layout& layout, T* mesh, bool accumulate) const {
  if (accumulate) return;
  const std::size_t values = layout.mesh_values();
  constexpr std::size_t part = 1 << 15;
  const auto parts = static_cast<std::int64_t>((values + part - 1) / part);
#pragma omp parallel for schedule(static) num_threads(context_.threads()) if (parts > 4)
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::size_t first = static_cast<std::size_t>(i) * part;
    std::memset(mesh + first, 0, std::min(part, values - first) * sizeof(T));
  }
}

/// Whether the first tile that reaches a mesh point can store instead of add, so that the mesh need not be zeroed
/// before. A tile must not meet itself around a period.
template <typename T>
bool cpu_tiles_engine<T>::can_store() const {
  bool can = setup_.shape.first_axis > 0 && mirrored_.terms > 0;
  for (int axis = setup_.shape.first_axis; axis < 3; ++axis) can = can && tiles_.axis[axis].tiles > 1;
  return can;
}

/// The regions to which earlier tiles, of lower colors, have written.
template <typename T>
void cpu_tiles_engine<T>::find_what_is_there(const int* along, tile_work<T>& work) const {
  const int color = tiles_.color(tiles_.join(along[0], along[1], along[2]));
  for (int region = 0; region < 9; ++region) {
    const int toward[2] = {region / 3 - 1, region % 3 - 1};
    bool& adds = work.adds[region / 3][region % 3];
    adds = !work.stores;
    for (int which = 1; which < 4; ++which) {
      const int y = tiles_.axis[1].beside(along[1], which / 2 * toward[0]);
      const int z = tiles_.axis[2].beside(along[2], which % 2 * toward[1]);
      if (y >= 0 && z >= 0 && tiles_.color(tiles_.join(along[0], y, z)) < color) adds = true;
    }
  }
}

template <typename T>
void cpu_tiles_engine<T>::spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) {
  const bool stores = !accumulate && can_store();
  clear(layout, mesh, accumulate || stores);
  const auto function = functions_.spread[layout.components - 1];
  tile_walk<T> walk = this->walk();
  for (int vector = 0; vector < layout.vectors; ++vector) {
    walk.values = values + layout.value(0, vector * layout.components);
    walk.mesh = mesh + layout.node(0, vector * layout.components);
    stages_.for_each(
        context_, [&](std::uint32_t tile) { return stores || has_points(tile); },
        [&](std::uint32_t tile) { work_on(tile, function, walk, stores); });
  }
}

/// Processes tiles in any order.
template <typename T>
void cpu_tiles_engine<T>::walk_all(tile_function function, const tile_walk<T>& walk) {
  const auto count = static_cast<std::int64_t>(tiles_.count());
#pragma omp parallel for schedule(dynamic, 1) num_threads(context_.threads())
  for (std::int64_t tile = 0; tile < count; ++tile) work_on(static_cast<std::uint32_t>(tile), function, walk);
}

template <typename T>
void cpu_tiles_engine<T>::interpolate(const value_layout& layout, const T* mesh, T* values, bool accumulate) {
  tile_walk<T> walk = this->walk();
  walk.accumulate = accumulate;
  for (int vector = 0; vector < layout.vectors; ++vector) {
    walk.mesh_values = mesh + layout.node(0, vector * layout.components);
    walk.results = values + layout.value(0, vector * layout.components);
    walk_all(functions_.interpolate[layout.components - 1], walk);
  }
}

template <typename T>
void cpu_tiles_engine<T>::interpolate_gradient(const value_layout& layout, const T* mesh, const T* scale, T* values,
                                               T* gradients, bool accumulate) {
  tile_walk<T> walk = this->walk();
  walk.accumulate = accumulate;
  walk.scale = scale;
  const auto axes = static_cast<std::size_t>(3 - setup_.shape.first_axis);
  for (int vector = 0; vector < layout.vectors; ++vector) {
    walk.mesh_values = mesh + layout.node(0, vector * layout.components);
    const std::size_t first = layout.value(0, vector * layout.components);
    walk.results = values == nullptr ? nullptr : values + first;
    walk.gradients = gradients + axes * first;
    walk_all(functions_.interpolate_gradient[layout.components - 1], walk);
  }
}

template class cpu_tiles_engine<float>;
template class cpu_tiles_engine<double>;

}  // namespace quadrat::detail

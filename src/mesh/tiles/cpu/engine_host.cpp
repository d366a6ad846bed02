// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cpu/engine.hpp"

#include <omp.h>

#include <algorithm>
#include <cstring>

#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat::detail {

namespace {

/// Sizes of tiles, as powers of 2: along axis 0 size costs little (a tile's planes pass through the buffer); along the
/// other two the buffer for a spline of order 6 with complex values must nearly fit into a level-one cache of 32 KB.
template <typename T>
[[nodiscard]] mesh_tiles make_cpu_tiles(const mesh_shape& shape) {
  constexpr int shifts[3][3] = {{5, sizeof(T) == 8 ? 3 : 4, 4}, {0, 5, 5}, {0, 0, 10}};
  const int* shift = shifts[shape.first_axis];
  return {{make_tile_axis(shape, 0, shift[0]), make_tile_axis(shape, 1, shift[1]), make_tile_axis(shape, 2, shift[2])}};
}

/// The window as the inner loops need it: coefficients beyond the width are zero.
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
      functions_(functions),
      tiles_(make_cpu_tiles<T>(setup_.shape)),
      stages_(tiles_),
      rows_(tiles_.axis[1].most_size() + setup_.shape.width[1] - 1),
      row_(tiles_.axis[2].most_size() + setup_.shape.width[2] - 1),
      lane_keys_(static_cast<std::uint32_t>(functions_.lanes)) {
  bits_in_tile_ = key_bits_in_tile();
  if (key_bits_for(tiles_.count()) + bits_in_tile_ > 32) {
    lane_keys_ = 1;
    bits_in_tile_ = key_bits_in_tile();
  }
}

template <typename T>
std::size_t cpu_tiles_engine<T>::bytes_needed(std::size_t count) const {
  const auto threads = static_cast<std::size_t>(context_.threads());
  const std::size_t point = sizeof(placed_point<T>) + 4 * sizeof(std::uint32_t);
  return count * point + (tiles_.count() + 1) * sizeof(std::uint32_t) +
         threads * (tile_scratch(setup_.shape.width[0], rows_, row_) * sizeof(T) +
                    static_cast<std::size_t>(row_) * sizeof(row_piece));
}

template <typename T>
std::size_t cpu_tiles_engine<T>::bytes() const {
  return points_.bytes() + order_.bytes() + begins_.bytes() + scratch_.bytes() + pieces_.bytes() +
         sort_memory_.bytes() + pairs_.bytes();
}

/// Lowest bits of the keys, which order the points of a tile.
template <typename T>
int cpu_tiles_engine<T>::key_bits_in_tile() const {
  return key_bits_for(static_cast<std::uint64_t>(tiles_.axis[0].most_size()) * lane_keys_);
}

template <typename T>
void cpu_tiles_engine<T>::set_points(const point_placement<T>& points) {
  const std::size_t count = points.count;
  const auto threads = static_cast<std::size_t>(context_.threads());
  points_.resize_discarding(context_, count);
  order_.resize_discarding(context_, count);
  pairs_.resize_discarding(context_, 3 * count);
  begins_.resize_discarding(context_, tiles_.count() + 1);
  scratch_.resize_discarding(context_, threads * tile_scratch(setup_.shape.width[0], rows_, row_));
  pieces_.resize_discarding(context_, threads * static_cast<std::size_t>(row_));

  // Points are placed twice, which takes less time than keeping them in memory until they are sorted.
  constexpr std::size_t chunk = 512;
  const std::size_t chunks = (count + chunk - 1) / chunk;
  const sort_buffers<std::uint32_t> pairs{{pairs_.data(), pairs_.data() + count},
                                          {pairs_.data() + 2 * count, order_.data()}};
  const tile_keys keys{tiles_, bits_in_tile_, lane_keys_};
  for_each(context_, "mesh.find_keys", chunks, [&](std::size_t part) {
    const std::size_t first = part * chunk, last = std::min(count, first + chunk);
    functions_.find_keys(points, keys, first, last, pairs.keys[0] + first);
  });
  const int bits = key_bits_for(tiles_.count()) + bits_in_tile_;
  const int sorted = sort_pairs(context_, pairs, count, bits, sort_memory_, sort_values::index);
  const std::uint32_t* from = pairs.values[sorted];
  for_each(context_, "mesh.place", chunks, [&](std::size_t part) {
    const std::size_t first = part * chunk, last = std::min(count, first + chunk);
    functions_.place(points, from, first, last, points_.data() + first);
    if (from != order_.data()) std::copy(from + first, from + last, order_.data() + first);
  });
  find_begins(pairs.keys[sorted], count);
}

/// Finds where tiles begin, from the sorted keys.
template <typename T>
void cpu_tiles_engine<T>::find_begins(const std::uint32_t* keys, std::size_t count) {
  std::uint32_t* begins = begins_.data();
  if (count == 0) {
    std::fill(begins, begins + tiles_.count() + 1, 0u);
    return;
  }
  for_each(context_, "mesh.tile_begins", count, [&](std::size_t i) {
    const std::uint32_t tile = keys[i] >> bits_in_tile_;
    const std::uint32_t after = i == 0 ? 0 : (keys[i - 1] >> bits_in_tile_) + 1;
    for (std::uint32_t t = after; t <= tile; ++t) begins[t] = static_cast<std::uint32_t>(i);
  });
  const std::uint32_t last = keys[count - 1] >> bits_in_tile_;
  std::fill(begins + last + 1, begins + tiles_.count() + 1, static_cast<std::uint32_t>(count));
}

template <typename T>
tile_walk<T> cpu_tiles_engine<T>::walk() const {
  tile_walk<T> walk{};
  walk.shape = &setup_.shape;
  walk.window = &setup_.window;
  walk.points = points_.data();
  walk.order = order_.data();
  walk.count = points_.size();
  return walk;
}

/// Called in a thread of the context.
template <typename T>
void cpu_tiles_engine<T>::work_on(std::uint32_t tile, tile_function function, const tile_walk<T>& walk) {
  tile_work<T> work{};
  work.first = begins()[tile];
  work.last = begins()[tile + 1];
  if (work.first == work.last) return;
  int along[3];
  tiles_.split(tile, along);
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

template <typename T>
void cpu_tiles_engine<T>::spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) {
  clear(layout, mesh, accumulate);
  const auto function = functions_.spread[layout.components - 1];
  tile_walk<T> walk = this->walk();
  for (int vector = 0; vector < layout.vectors; ++vector) {
    walk.values = values + layout.value(0, vector * layout.components);
    walk.mesh = mesh + layout.node(0, vector * layout.components);
    stages_.for_each(context_, [&](std::uint32_t tile) { work_on(tile, function, walk); });
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

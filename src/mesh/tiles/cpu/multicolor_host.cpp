// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cpu/multicolor.hpp"

#include "mesh/footprint.hpp"

namespace quadrat::detail {

namespace {

template <typename T>
struct color_work {
  const spread_setup<T>& setup;
  const value_layout& layout;
  const T* values;
  T* mesh;
};

/// Whether the footprint lies in the mesh in one piece.
template <typename T>
[[nodiscard]] bool lies_inside(const mesh_shape& shape, const placed_point<T>& point) {
  bool inside = true;
  for (int axis = 0; axis < 3; ++axis) {
    inside = inside && point.first[axis] >= 0 && point.first[axis] + shape.width[axis] <= shape.extent[axis];
  }
  return inside;
}

/// Adds to rows of the mesh, starting at the footprint's first mesh point.
template <typename T, int Width, int Components>
void add_inside(const mesh_shape& shape, const footprint<T, Width>& weights, const T* value, T* mesh) {
  for (int a = 0; a < shape.width[0]; ++a) {
    for (int b = 0; b < shape.width[1]; ++b) {
      const T rows = weights.weight[0][a] * weights.weight[1][b];
      T* row = mesh + shape.node(a, b, 0) * Components;
      for (int c = 0; c < weights.width_of(shape); ++c) {
        for (int k = 0; k < Components; ++k) row[c * Components + k] += value[k] * (rows * weights.weight[2][c]);
      }
    }
  }
}

/// One point, all channels.
template <typename T, int Width, int Components>
void add_point(const color_work<T>& work, const placed_point<T>& point, std::size_t id) {
  const mesh_shape& shape = work.setup.shape;
  const value_layout& layout = work.layout;
  const footprint<T, Width> weights(work.setup.window, shape, point);
  const bool inside = lies_inside(shape, point);
  for (int channel = 0; channel < layout.channels(); channel += Components) {
    const T* value = work.values + layout.value(id, channel);
    if (inside) {
      const std::size_t first = shape.node(point.first[0], point.first[1], point.first[2]);
      add_inside<T, Width, Components>(shape, weights, value, work.mesh + layout.node(first, channel));
    } else {
      weights.for_each_node(shape, point, [&](std::size_t node, T weight) {
        for (int k = 0; k < Components; ++k) work.mesh[layout.node(node, channel + k)] += value[k] * weight;
      });
    }
  }
}

}  // namespace

template <typename T>
template <int Width, int Components>
void multicolor_engine<T>::add_tile(std::uint32_t tile, const value_layout& layout, const T* values, T* mesh) {
  // Takes every 16th point instead of going plane by plane, where a mesh point's small weights would come last and
  // round worst.
  constexpr std::size_t step = 16;
  constexpr std::size_t ahead = 4 * step;
  const color_work<T> work{this->setup(), layout, values, mesh};
  const std::size_t first = this->begins()[tile], last = this->begins()[tile + 1];
  this->prepare_tile(tile);
  int along[3];
  this->tiles().split(tile, along);
  for (std::size_t start = first; start < first + step; ++start) {
    for (std::size_t i = start; i < last; i += step) {
      if (i + ahead < last) __builtin_prefetch(values + layout.value(this->points()[i + ahead].id, 0));
      const tile_point<T>& point = this->points()[i];
      placed_point<T> placed{};
      for (int axis = 0; axis < 3; ++axis) {
        placed.place[axis] = point.place[axis];
        placed.first[axis] = this->tiles().axis[axis].begin(along[axis]) + point.along(axis);
      }
      add_point<T, Width, Components>(work, placed, point.id);
    }
  }
}

template <typename T>
void multicolor_engine<T>::spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) {
  this->clear(layout, mesh, accumulate);
  with_any_width(this->setup().window.width, [&](auto width) {
    constexpr int points = decltype(width)::value;
    const auto add = [&](std::uint32_t tile) {
      if (layout.components == 1) {
        add_tile<points, 1>(tile, layout, values, mesh);
      } else {
        add_tile<points, 2>(tile, layout, values, mesh);
      }
    };
    this->stages().for_each(
        this->context(), [&](std::uint32_t tile) { return this->has_points(tile); }, add);
  });
}

template class multicolor_engine<float>;
template class multicolor_engine<double>;

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/multicolor.hpp"

#include "mesh/footprint.hpp"

namespace quadrat::detail {

namespace {

/// One point, all channels.
template <typename T, int Width>
void add_point(const spread_setup<T>& setup, const value_layout& layout, const placed_point<T>& point, std::size_t id,
               const T* values, T* mesh) {
  const footprint<T, Width> weights(setup.window, setup.shape, point);
  for (int channel = 0; channel < layout.channels(); ++channel) {
    const T value = values[layout.value(id, channel)];
    weights.for_each_node(setup.shape, point,
                          [&](std::size_t node, T weight) { mesh[layout.node(node, channel)] += value * weight; });
  }
}

}  // namespace

template <typename T>
void multicolor_engine<T>::spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) {
  this->clear(layout, mesh, accumulate);
  with_width(this->setup().window.width, [&](auto width) {
    for_each_tile(this->context(), this->stages(), [&](std::uint32_t tile) {
      // Not plane by plane, as points are sorted: a mesh point's small weights would come last, and round worst.
      constexpr std::size_t step = 16;
      const std::size_t first = this->begins()[tile], last = this->begins()[tile + 1];
      for (std::size_t start = first; start < first + step; ++start) {
        for (std::size_t i = start; i < last; i += step) {
          add_point<T, decltype(width)::value>(this->setup(), layout, this->points()[i], this->order()[i], values,
                                               mesh);
        }
      }
    });
  });
}

template class multicolor_engine<float>;
template class multicolor_engine<double>;

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/sparse/rows.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

/// Calls f(node, a, b, c) for every mesh point of a footprint that is on the mesh.
template <typename T, typename F>
void for_each_home(const mesh_shape& shape, const placed_point<T>& point, const F& f) {
  for (int a = 0; a < shape.width[0]; ++a) {
    const int i = shape.home(point.first[0] + a, 0);
    if (i < 0) continue;
    for (int b = 0; b < shape.width[1]; ++b) {
      const int j = shape.home(point.first[1] + b, 1);
      if (j < 0) continue;
      for (int c = 0; c < shape.width[2]; ++c) {
        const int k = shape.home(point.first[2] + c, 2);
        if (k >= 0) f(shape.node(i, j, k), a, b, c);
      }
    }
  }
}

}  // namespace

template <typename T>
void count_contributions(const cpu_context& context, const contribution_source<T>& source, std::uint32_t* counts) {
  for_each(context, "mesh.count", source.count, [&](std::size_t i) {
    for_each_home(source.shape, source.points[i],
                  [&](std::size_t node, int, int, int) { atomic_add(counts + node, 1u); });
  });
}

template <typename T, typename Rows>
void insert_contributions(const cpu_context& context, const contribution_source<T>& source, std::uint32_t* counts,
                          const Rows& rows) {
  for_each(context, "mesh.insert", source.count, [&](std::size_t i) {
    const placed_point<T> point = source.points[i];
    T weight[3][mesh_window<T>::most_width];
    for (int axis = 0; axis < 3; ++axis) {
      for (int j = 0; j < source.shape.width[axis]; ++j) weight[axis][j] = source.weight(point, axis, j);
    }
    for_each_home(source.shape, point, [&](std::size_t node, int a, int b, int c) {
      const std::uint32_t slot = atomic_add(counts + node, ~std::uint32_t{0}) - 1;
      rows.put(node, slot, static_cast<std::uint32_t>(i), weight[0][a] * weight[1][b] * weight[2][c]);
    });
  });
}

template <typename T>
void order_rows(const cpu_context& context, const listed_rows<T>& all) {
  const mesh_rows<T>& rows = all.rows;
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  for_each(context, "mesh.order_rows", rows.rows, [&](std::size_t k) {
    std::sort(rows.entries + rows.offsets[k], rows.entries + rows.offsets[k + 1],
              [](const mesh_entry<T>& a, const mesh_entry<T>& b) {
                if (a.column != b.column) return a.column < b.column;
                return std::bit_cast<bits>(a.weight) < std::bit_cast<bits>(b.weight);
              });
  });
}

#define QUADRAT_INSTANTIATE(T)                                                                          \
  template void count_contributions(const cpu_context&, const contribution_source<T>&, std::uint32_t*); \
  template void insert_contributions(const cpu_context&, const contribution_source<T>&, std::uint32_t*, \
                                     const listed_rows<T>&);                                            \
  template void insert_contributions(const cpu_context&, const contribution_source<T>&, std::uint32_t*, \
                                     const hybrid_rows<T>&);                                            \
  template void order_rows(const cpu_context&, const listed_rows<T>&);
QUADRAT_INSTANTIATE(float)
QUADRAT_INSTANTIATE(double)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat::detail

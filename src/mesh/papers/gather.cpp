// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/papers/gather.hpp"

#include "core/backend.hpp"
#include "mesh/footprint.hpp"
#include "mesh/footprint_rows.hpp"
#include "mesh/particle/particle.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

constexpr std::uint32_t no_point = 0xffffffffu;

/// The mesh point of a footprint that holds the point. It is the same for all points, so a mesh point gathers from
/// exactly width^3 others.
[[nodiscard]] QUADRAT_HD int holder(const mesh_shape& shape, int axis) { return (shape.width[axis] - 1) / 2; }

/// Index: point.
template <typename T>
struct place_in_cell {
  mesh_shape shape;
  const placed_point<T>* points;
  std::uint32_t* held;
  gather_cell<T>* cells;
  std::uint32_t* overflow;
  std::uint32_t* overflow_length;

  QUADRAT_HD void operator()(std::size_t i) const {
    const placed_point<T> point = points[i];
    const auto id = static_cast<std::uint32_t>(i);
    int at[3];
    QUADRAT_UNROLL
    for (int axis = 0; axis < 3; ++axis) at[axis] = shape.home(point.first[axis] + holder(shape, axis), axis);
    if (at[0] >= 0 && at[1] >= 0 && at[2] >= 0) {
      const std::size_t node = shape.node(at[0], at[1], at[2]);
      if (atomic_compare_exchange(held + node, no_point, id) == no_point) {
        cells[node] = {{point.place[0], point.place[1], point.place[2]}, T(0)};
        return;
      }
    }
    overflow[atomic_add(overflow_length, 1u)] = id;
  }
};

/// Index: mesh point. Copies the value of its point, so that gathering reads contiguous memory.
template <typename T>
struct bring_value {
  value_layout layout;
  int channel;
  const std::uint32_t* held;
  const T* values;
  gather_cell<T>* cells;

  QUADRAT_HD void operator()(std::size_t node) const {
    const std::uint32_t id = held[node];
    if (id != no_point) cells[node].value = values[layout.value(id, channel)];
  }
};

/// Whether all pieces of a row are kept in registers.
template <typename T, int Width>
inline constexpr bool has_fixed_rows = Width <= mesh_window<T>::most_fixed_width;

/// Index: mesh point. It is mesh point j in the footprint of the point held `holder - j` mesh points further on.
template <typename T, int Width>
struct gather_node {
  mesh_shape shape;
  mesh_window<T> window;
  value_layout layout;
  int channel;
  const std::uint32_t* held;
  const gather_cell<T>* cells;
  T* mesh;
  bool accumulate;

  QUADRAT_HD void operator()(std::size_t node) const {
    const auto number = static_cast<std::uint32_t>(node);
    const auto rows = static_cast<std::uint32_t>(shape.extent[2]);
    const auto planes = static_cast<std::uint32_t>(shape.extent[1]);
    const int k = static_cast<int>(number % rows);
    const int j = static_cast<int>(number / rows % planes);
    const int i = static_cast<int>(number / rows / planes);
    int column[Width];
    if constexpr (has_fixed_rows<T, Width>) {
      QUADRAT_UNROLL
      for (int c = 0; c < Width; ++c) column[c] = shape.home(k + holder(shape, 2) - c, 2);
    }
    T sum = T(0);
    QUADRAT_KEEP_LOOP
    for (int a = 0; a < shape.width[0]; ++a) {
      const int x = shape.home(i + holder(shape, 0) - a, 0);
      if (x < 0) continue;
      QUADRAT_KEEP_LOOP
      for (int b = 0; b < shape.width[1]; ++b) {
        const int y = shape.home(j + holder(shape, 1) - b, 1);
        if (y < 0) continue;
        const std::size_t row = shape.node(x, y, 0);
        if constexpr (has_fixed_rows<T, Width>) {
          if (window.terms == Width) {
            sum += gather_row(a, b, column, held + row, cells + row);
            continue;
          }
        }
        sum += gather_fitted_row(a, b, k, held + row, cells + row);
      }
    }
    T& result = mesh[layout.node(node, channel)];
    result = accumulate ? result + sum : sum;
  }

 private:
  /// B-splines: the two pieces common to the row are in registers; those along the row are constants of the unrolled
  /// loop.
  [[nodiscard]] QUADRAT_HD T gather_row(int a, int b, const int* column, const std::uint32_t* row_held,
                                        const gather_cell<T>* row_cells) const {
    T first[Width];
    T second[Width];
    QUADRAT_UNROLL
    for (int d = 0; d < Width; ++d) {
      first[d] = shape.first_axis > 0 ? absent(d) : window.coefficient[d][a];
      second[d] = shape.first_axis > 1 ? absent(d) : window.coefficient[d][b];
    }
    std::uint32_t id[Width];
    QUADRAT_UNROLL
    for (int c = 0; c < Width; ++c) id[c] = column[c] < 0 ? no_point : row_held[column[c]];
    T sum = T(0);
    QUADRAT_UNROLL
    for (int c = 0; c < Width; ++c) {
      if (id[c] == no_point) continue;
      const gather_cell<T> cell = row_cells[column[c]];
      T x = T(0);
      T y = T(0);
      T z = T(0);
      QUADRAT_UNROLL
      for (int d = Width - 1; d >= 0; --d) {
        x = x * cell.place[0] + first[d];
        y = y * cell.place[1] + second[d];
        z = z * cell.place[2] + window.coefficient[d][c];
      }
      sum += cell.value * (x * y * z);
    }
    return sum;
  }

  /// Windows with any number of terms.
  [[nodiscard]] QUADRAT_HD T gather_fitted_row(int a, int b, int k, const std::uint32_t* row_held,
                                               const gather_cell<T>* row_cells) const {
    T sum = T(0);
    QUADRAT_KEEP_LOOP
    for (int c = 0; c < shape.width[2]; ++c) {
      const int column = shape.home(k + holder(shape, 2) - c, 2);
      if (column < 0 || row_held[column] == no_point) continue;
      const gather_cell<T> cell = row_cells[column];
      T x = T(0);
      T y = T(0);
      T z = T(0);
      QUADRAT_KEEP_LOOP
      for (int d = window.terms - 1; d >= 0; --d) {
        x = x * cell.place[0] + (shape.first_axis > 0 ? absent(d) : window.coefficient[d][a]);
        y = y * cell.place[1] + (shape.first_axis > 1 ? absent(d) : window.coefficient[d][b]);
        z = z * cell.place[2] + window.coefficient[d][c];
      }
      sum += cell.value * (x * y * z);
    }
    return sum;
  }

  /// The piece along an axis beyond the dimension: 1 everywhere.
  [[nodiscard]] QUADRAT_HD static T absent(int d) { return d == 0 ? T(1) : T(0); }
};

}  // namespace

template <typename Context, typename T>
std::size_t gather_engine<Context, T>::bytes_needed(std::size_t count) const {
  const std::size_t nodes = this->setup().shape.size();
  return placed_points_engine<Context, T>::bytes_needed(count) +
         nodes * (sizeof(std::uint32_t) + sizeof(gather_cell<T>)) + (count + 1) * sizeof(std::uint32_t);
}

template <typename Context, typename T>
std::size_t gather_engine<Context, T>::bytes() const {
  return placed_points_engine<Context, T>::bytes() + held_.bytes() + cells_.bytes() + overflow_.bytes() +
         overflow_length_.bytes();
}

template <typename Context, typename T>
void gather_engine<Context, T>::set_points(const point_placement<T>& points) {
  placed_points_engine<Context, T>::set_points(points);
  const Context& context = this->context();
  const std::size_t nodes = this->setup().shape.size();
  held_.resize_discarding(context, nodes);
  cells_.resize_discarding(context, nodes);
  overflow_.resize_discarding(context, points.count);
  overflow_length_.resize_discarding(context, 1);
  fill_bytes(context, held_.data(), 0xff, nodes * sizeof(std::uint32_t));
  fill_bytes(context, overflow_length_.data(), 0, sizeof(std::uint32_t));
  for_each(context, "mesh.gather.place", points.count,
           place_in_cell<T>{this->setup().shape, this->points(), held_.data(), cells_.data(), overflow_.data(),
                            overflow_length_.data()});
  overflow_count_ = to_host(context, overflow_length_)[0];
}

template <typename Context, typename T>
void gather_engine<Context, T>::spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) {
  const Context& context = this->context();
  const spread_setup<T>& setup = this->setup();
  for (int channel = 0; channel < layout.channels(); ++channel) {
    for_each(context, "mesh.gather.values", layout.nodes,
             bring_value<T>{layout, channel, held_.data(), values, cells_.data()});
    with_any_width(setup.window.width, [&](auto width) {
      const gather_node<T, decltype(width)::value> body{setup.shape,  setup.window,  layout, channel,
                                                        held_.data(), cells_.data(), mesh,   accumulate};
      for_each(context, "mesh.gather", layout.nodes, body);
    });
  }
  spread_points(context, setup, layout, this->points(), overflow_.data(), overflow_count_, values, mesh);
}

template class gather_engine<backend_context, float>;
template class gather_engine<backend_context, double>;

}  // namespace quadrat::detail

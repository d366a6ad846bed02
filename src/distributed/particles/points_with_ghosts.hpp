// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "quadrat/core/array.hpp"
#include "quadrat/distributed/halo.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

template <typename T, int D>
struct copy_own_points {
  points_view<T, D> from;
  vec<T, D>* to;

  QUADRAT_HD void operator()(std::size_t i) const { to[i] = from[i]; }
};

/// The own points of a rank, then its ghosts, with a number each where there are any.
template <typename Context, typename T, int D>
struct points_with_ghosts {
  points_with_ghosts(const Context& context, communicator& ranks) : borders(context, ranks) {}

  /// `given`: numbers of own points, the same kind on all ranks; nullptr: none. Waits. May allocate. Collective.
  void bring(const Context& context, const grid<T, D>& space, const decomposition<D>& shares,
             const points_view<T, D>& points, const T* given, bool with_numbers, T reach) {
    const device_decomposition<Context, D> there(context, shares);
    borders.build(space, there.view(), points, {.reach = reach});
    copy(context, points, given, with_numbers);
  }
  /// The same in a box of any shape: points of others within the reach of the points `around`.
  void bring(const Context& context, const lattice<T, D>& box, const points_view<T, D>& points,
             const points_view<T, D>& around, const T* given, bool with_numbers, T reach) {
    borders.build(box, points, around, reach);
    copy(context, points, given, with_numbers);
  }

  /// Values of own points, then those of ghosts, after `bring`. May allocate. Collective.
  template <typename Value>
  void bring_values(const Context& context, const Value* given, array<Value, Context>& values) {
    values.resize_discarding(context, all());
    copy_bytes(context, given, values.data(), own() * sizeof(Value));
    borders.forward(values.data());
  }

  [[nodiscard]] std::size_t own() const { return borders.own(); }
  [[nodiscard]] std::size_t ghosts() const { return borders.ghosts(); }
  [[nodiscard]] std::size_t all() const { return own() + ghosts(); }

  halo<Context, T, D> borders;
  array<vec<T, D>, Context> positions;
  array<T, Context> numbers;

 private:
  void copy(const Context& context, const points_view<T, D>& points, const T* given, bool with_numbers) {
    positions.resize_discarding(context, all());
    for_each(context, "distributed.own_points", own(), copy_own_points<T, D>{points, positions.data()});
    if (with_numbers) {
      numbers.resize_discarding(context, all());
      copy_bytes(context, given, numbers.data(), own() * sizeof(T));
    }
    const halo_array arrays[] = {{positions.data(), sizeof(vec<T, D>)}, {numbers.data(), sizeof(T)}};
    borders.forward(std::span(arrays, with_numbers ? 2 : 1));
  }
};

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#include "search/pairs/select.hpp"

#include "core/cpu_lanes.hpp"
#include "search/pairs/lanes_512.hpp"

// The same bits as select_pairs of visit_list.hpp: one order of additions, no fused operations (-ffp-contract=off).

namespace quadrat::detail {

namespace {

#if QUADRAT_HAS_PAIR_LANES

/// Compresses in a register: a compressing store takes a hundred cycles on some CPUs.
template <typename T>
QUADRAT_SELECT_TARGET std::size_t select_512(const pair_selection<T, 3>& what, std::size_t entries,
                                             selected_pairs<T, 3>& out) {
  using lanes = pair_lanes_512<T>;
  using vector = typename lanes::vector;
  static_assert(lanes::count <= selected_pairs<T, 3>::beyond);
  vector from[3], length[3], half[3];
  for (int axis = 0; axis < 3; ++axis) {
    from[axis] = lanes::filled(what.from[axis]);
    length[axis] = lanes::filled(what.length[axis]);
    half[axis] = lanes::filled(what.length[axis] / 2);
  }
  const vector limit = lanes::filled(what.squared_cutoff);
  std::size_t count = 0;
  for (std::size_t k = 0; k < entries; k += lanes::count) {
    alignas(64) particle_id j[lanes::count];
    const std::size_t left = entries - k;
    const unsigned valid = left < lanes::count ? (1u << left) - 1 : (1u << lanes::count) - 1;
    // The last, incomplete group repeats an entry, so that loads stay inside the arrays.
    for (unsigned lane = 0; lane < lanes::count; ++lane) j[lane] = what.neighbors[k + (lane < left ? lane : 0)];
    vector r[4];
    lanes::load(what.points, j, r);
    for (int axis = 0; axis < 3; ++axis) {
      r[axis] = r[axis] - from[axis];
      if (!what.direct) r[axis] = lanes::nearest(r[axis], length[axis], half[axis]);
    }
    const vector squared = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    const auto which = static_cast<typename lanes::mask>(lanes::less(squared, limit) & valid);
    lanes::store_ids(out.j + count, which, j);
    for (int axis = 0; axis < 3; ++axis) lanes::store(out.separation[axis] + count, which, r[axis]);
    lanes::store(out.squared + count, which, squared);
    count += static_cast<std::size_t>(__builtin_popcount(which));
  }
  return count;
}

#endif

}  // namespace

template <typename T, int D>
select_pairs_function<T, D> fastest_selection() {
#if QUADRAT_HAS_PAIR_LANES
  if constexpr (D == 3) {
    if (has_lanes(cpu_lanes::avx512)) return select_512<T>;
  }
#endif
  return nullptr;
}

template select_pairs_function<float, 2> fastest_selection();
template select_pairs_function<float, 3> fastest_selection();
template select_pairs_function<double, 2> fastest_selection();
template select_pairs_function<double, 3> fastest_selection();

}  // namespace quadrat::detail

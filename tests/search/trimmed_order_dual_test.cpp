// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "cells/every_list.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/search/orders.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

// Trimmed strips hold every pair whose computed squared distance is below the squared cutoff, on either backend (their
// compilers round differently), for pairs that rounding decides.

namespace quadrat::test {

namespace {

/// A pair, the cells, and the cutoff given to `trimmed`.
template <typename T, int D>
struct trimmed_case {
  grid<T, D> space;
  vec<T, D> a;
  vec<T, D> b;
  T cutoff;
};

struct verdict {
  std::uint32_t close;
  std::uint32_t missed;
};

/// Whether the walk from a visits the cell of b, both stored by center or both by low vertex.
template <typename T, int D>
struct judge_trimmed {
  const trimmed_case<T, D>* cases;
  verdict* verdicts;

  template <typename Anchor>
  [[nodiscard]] QUADRAT_HD static bool found(const trimmed_case<T, D>& it, const Anchor& anchor) {
    const auto& domain = it.space.domain;
    const vec<int, D> wanted = it.space.cell_of(anchor(domain, it.b));
    bool hit = false;
    search_orders::trimmed::for_each_strip(it.space, anchor(domain, it.a), it.cutoff,
                                           [&](const vec<int, D>& cell, int last) {
                                             bool here = cell[0] <= wanted[0] && wanted[0] <= last;
                                             for (int axis = 1; axis < D; ++axis) {
                                               here = here && cell[axis] == wanted[axis];
                                             }
                                             hit = hit || here;
                                           });
    return hit;
  }

  QUADRAT_HD void operator()(std::size_t i) const {
    const trimmed_case<T, D>& it = cases[i];
    const auto& domain = it.space.domain;
    const bool close = squared_norm(domain.separation(domain.wrap(it.a), domain.wrap(it.b))) < it.cutoff * it.cutoff;
    const bool missed =
        close && !(found(it, center_anchor<T, D>{}) && found(it, low_vertex_anchor<T, D>{it.cutoff / 2}));
    verdicts[i] = {close ? 1u : 0u, missed ? 1u : 0u};
  }
};

/// Pairs a cutoff apart to within some last bits, in directions across faces: b at the end of a chord bounded by a face
/// of a row.
template <typename T, int D>
class trimmed_case_maker {
 public:
  explicit trimmed_case_maker(std::uint64_t seed) : generator_(seed) {}

  trimmed_case<T, D> operator()() {
    trimmed_case<T, D> it{};
    make_space(it);
    const auto& domain = it.space.domain;
    for (int axis = 0; axis < D; ++axis) it.a[axis] = coordinate(it.space, axis);
    it.a = inside(domain, it.a);
    // To an adjacent face along all axes but one; along that, the rest of the cutoff.
    T left = it.cutoff * it.cutoff;
    const int last = below(D);
    for (int axis = 0; axis < D; ++axis) {
      if (axis == last || below(3) == 0) continue;
      const T edge = it.space.edge(axis);
      const T face =
          domain.lower[axis] + static_cast<T>(it.space.unwrapped_index(it.a[axis], axis) + below(7) - 3) * edge;
      const T offset = nudged(face) - it.a[axis];
      if (offset * offset > left) continue;
      it.b[axis] = offset;
      left -= offset * offset;
    }
    it.b[last] = nudged(std::sqrt(left)) * (below(2) == 0 ? T(1) : T(-1));
    it.b = inside(domain, it.a + it.b);
    return it;
  }

 private:
  int below(int bound) { return static_cast<int>(generator_() % static_cast<std::uint64_t>(bound)); }
  T unit() { return random_unit<T>(generator_); }
  T nudged(T x) {
    const int steps = below(9) - 4;
    const T toward = steps < 0 ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
    for (int i = 0; i < std::abs(steps); ++i) x = std::nextafter(x, toward);
    return x;
  }

  /// Cell edges of the cutoff, a half, a third or any part of it; boxes far from zero, too.
  void make_space(trimmed_case<T, D>& it) {
    constexpr T offsets[] = {T(0), T(-1), T(0.1), T(-0.3), T(1e3)};
    const T parts[] = {T(1), T(0.5), T(1) / T(3), T(0.2) + T(1.5) * unit()};
    it.cutoff = below(2) == 0 ? T(0.25) : T(0.05) + unit();
    const T edge = it.cutoff * parts[below(4)];
    vec<T, D> lower{}, upper{};
    vec<int, D> counts{};
    vec<bool, D> periodic{};
    for (int axis = 0; axis < D; ++axis) {
      counts[axis] = 1 + below(12);
      lower[axis] = offsets[below(5)];
      upper[axis] = lower[axis] + edge * static_cast<T>(counts[axis]);
      periodic[axis] = below(2) == 0 && (upper[axis] - lower[axis]) / 2 >= it.cutoff;
    }
    it.space = make_grid(make_box<T, D>(lower, upper, periodic), counts);
  }
  T coordinate(const grid<T, D>& space, int axis) {
    if (below(3) == 0) return space.domain.lower[axis] + space.domain.length[axis] * unit();
    return nudged(space.domain.lower[axis] + static_cast<T>(below(space.cells[axis] + 1)) * space.edge(axis));
  }
  static vec<T, D> inside(const box<T, D>& domain, vec<T, D> point) {
    point = domain.wrap(point);
    for (int axis = 0; axis < D; ++axis) {
      if (!domain.periodic[axis]) point[axis] = std::clamp(point[axis], domain.lower[axis], domain.upper(axis));
    }
    return point;
  }

  std::mt19937_64 generator_;
};

template <typename T, int D>
[[nodiscard]] std::string described(const trimmed_case<T, D>& it) {
  std::ostringstream out;
  out.precision(std::numeric_limits<T>::max_digits10);
  out << "cutoff " << it.cutoff;
  for (int axis = 0; axis < D; ++axis) {
    out << "; axis " << axis << ": a " << it.a[axis] << ", b " << it.b[axis] << ", box from "
        << it.space.domain.lower[axis] << " by " << it.space.domain.length[axis]
        << (it.space.domain.periodic[axis] ? " periodic, " : " open, ") << it.space.cells[axis] << " cells";
  }
  return out.str();
}

}  // namespace

class trimmed_order_test : public backend_test {};

TEST_F(trimmed_order_test, never_misses_a_pair_closer_than_the_cutoff) {
  const backend_context context;
  for_each_shape([&]<typename T, int D>() {
    trimmed_case_maker<T, D> make_case(91 + D);
    std::vector<trimmed_case<T, D>> cases(size_or(300'000, 4000));
    for (auto& it : cases) it = make_case();
    const auto stored = to_device(context, cases);
    array<verdict, backend_context> verdicts(context, cases.size());
    for_each(context, "judge", cases.size(), judge_trimmed<T, D>{stored.data(), verdicts.data()});
    const auto found = to_host(context, verdicts);
    std::size_t close = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_FALSE(found[i].missed) << described(cases[i]);
      close += found[i].close;
    }
    // The test is meaningful only if both answers are common.
    EXPECT_GT(close, cases.size() / 5);
    EXPECT_LT(close, cases.size() * 4 / 5);
  });
}

}  // namespace quadrat::test

// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "quadrat/core/array.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

// A pair whose computed squared distance is below the squared cutoff is never missed by `reach`, on either backend
// (their compilers round differently): random pairs, most of them a cutoff apart up to the last bits, on faces and one
// or two floating-point numbers away from them.

namespace quadrat::test {

namespace {

template <typename T, int D>
struct reach_case {
  grid<T, D> space;
  vec<T, D> a;
  vec<T, D> b;
  T cutoff;
};

struct verdict {
  std::uint32_t close;   ///< the pair is within the cutoff
  std::uint32_t missed;  ///< the cell of b is not within reach of a
  std::uint32_t wrong;   ///< the range leaves the grid or holds a cell twice
};

template <typename T, int D>
struct judge_reach {
  const reach_case<T, D>* cases;
  verdict* verdicts;

  QUADRAT_HD void operator()(std::size_t i) const {
    const reach_case<T, D>& it = cases[i];
    const bool close = squared_norm(it.space.domain.separation(it.a, it.b)) < it.cutoff * it.cutoff;
    const cell_range<D> range = it.space.reach(it.a, it.cutoff);
    const vec<int, D> wanted = it.space.cell_of(it.b);
    bool found = true;
    bool wrong = false;
    for (int axis = 0; axis < D; ++axis) {
      const int count = it.space.cells[axis];
      const int length = range.last[axis] - range.first[axis] + 1;
      wrong = wrong || length < 1 || length > count;
      if (!it.space.domain.periodic[axis]) wrong = wrong || range.first[axis] < 0 || range.last[axis] >= count;
      bool hit = false;
      for (int index = range.first[axis]; index <= range.last[axis]; ++index) {
        hit = hit || it.space.wrapped(index, axis) == wanted[axis];
      }
      found = found && hit;
    }
    verdicts[i] = {close ? 1u : 0u, close && !found ? 1u : 0u, wrong ? 1u : 0u};
  }
};

template <typename T>
T moved_by_steps(T x, int steps) {
  const T toward = steps < 0 ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  for (int i = 0; i < std::abs(steps); ++i) x = std::nextafter(x, toward);
  return x;
}

template <typename T, int D>
class case_maker {
 public:
  explicit case_maker(std::uint64_t seed) : generator_(seed) {}

  reach_case<T, D> operator()() {
    reach_case<T, D> made{};
    const box<T, D> domain = random_box();
    made.cutoff = random_cutoff(domain);
    if (below(2) == 0) {
      made.space = make_grid_for_cutoff(domain, made.cutoff, 1 << 20);
    } else {
      made.space = make_grid(domain, make_vec<int, D>([&](int) { return 1 + below(below(2) == 0 ? 4 : 20); }));
      if (below(3) == 0) made.cutoff = allowed(domain, made.space.edge(below(D)));
    }
    for (int axis = 0; axis < D; ++axis) made.a[axis] = random_coordinate(made.space, axis);
    made.a = inside(domain, made.a);
    made.b = inside(domain, made.a + random_offset(made.cutoff));
    return made;
  }

 private:
  int below(int bound) { return static_cast<int>(generator_() % static_cast<std::uint64_t>(bound)); }
  T unit() { return random_unit<T>(generator_); }

  box<T, D> random_box() {
    constexpr T offsets[] = {T(0), T(-1), T(0.1), T(-0.3), T(1e3), T(-1e5)};
    box<T, D> domain{};
    const bool cube = below(2) == 0;
    const T side = below(2) == 0 ? T(1) : T(0.5) + T(10) * unit();
    for (int axis = 0; axis < D; ++axis) {
      domain.lower[axis] = offsets[below(6)];
      domain.length[axis] = cube ? side : T(0.5) + T(4) * unit();
      domain.periodic[axis] = below(2) == 0;
    }
    return make_box<T, D>(domain.lower, domain.lower + domain.length, domain.periodic);
  }

  /// At most half of each periodic length; beyond that, pairs have two images.
  static T allowed(const box<T, D>& domain, T cutoff) {
    for (int axis = 0; axis < D; ++axis) {
      if (domain.periodic[axis]) cutoff = std::fmin(cutoff, domain.length[axis] / 2);
    }
    return cutoff;
  }
  T random_cutoff(const box<T, D>& domain) {
    const T fractions[] = {T(0.5), T(0.25), T(0.1), T(1) / T(3), T(0.05) + T(0.6) * unit()};
    return allowed(domain, domain.length[below(D)] * fractions[below(5)]);
  }
  T random_coordinate(const grid<T, D>& space, int axis) {
    const T face = space.domain.lower[axis] + static_cast<T>(below(space.cells[axis] + 1)) * space.edge(axis);
    if (below(4) == 0) return space.domain.lower[axis] + space.domain.length[axis] * unit();
    return moved_by_steps(face, below(5) - 2);
  }
  /// Usually about the cutoff along one axis, varied in the last bits, and little or nothing along the others.
  vec<T, D> random_offset(T cutoff) {
    vec<T, D> offset{};
    if (below(8) == 0) return make_vec<T, D>([&](int) { return cutoff * (T(2) * unit() - T(1)); });
    const T sign = below(2) == 0 ? T(1) : T(-1);
    offset[below(D)] = sign * moved_by_steps(cutoff, below(9) - 6);
    if (below(4) == 0) offset[below(D)] = cutoff * T(1e-4) * unit();
    return offset;
  }
  static vec<T, D> inside(const box<T, D>& domain, vec<T, D> point) {
    point = domain.wrap(point);
    for (int axis = 0; axis < D; ++axis) {
      if (domain.periodic[axis]) continue;
      point[axis] = std::fmin(std::fmax(point[axis], domain.lower[axis]), domain.upper(axis));
    }
    return point;
  }

  std::mt19937_64 generator_;
};

template <typename T, int D>
std::string described(const reach_case<T, D>& it) {
  std::ostringstream out;
  out.precision(std::numeric_limits<T>::max_digits10);
  for (int axis = 0; axis < D; ++axis) {
    out << "axis " << axis << ": a " << it.a[axis] << ", b " << it.b[axis] << ", box from "
        << it.space.domain.lower[axis] << " by " << it.space.domain.length[axis]
        << (it.space.domain.periodic[axis] ? " periodic, " : " open, ") << it.space.cells[axis] << " cells; ";
  }
  out << "cutoff " << it.cutoff;
  return out.str();
}

template <typename Choice>
class grid_reach_test : public backend_test {};

template <typename T, int D>
struct choice {
  using scalar = T;
  static constexpr int dimension = D;
};
using choices = testing::Types<choice<float, 2>, choice<float, 3>, choice<double, 2>, choice<double, 3>>;
TYPED_TEST_SUITE(grid_reach_test, choices);

TYPED_TEST(grid_reach_test, never_misses_a_pair_closer_than_the_cutoff) {
  using T = typename TypeParam::scalar;
  constexpr int D = TypeParam::dimension;
  case_maker<T, D> make_case(42 + D);
  std::vector<reach_case<T, D>> cases(size_or(400'000, 4000));
  for (auto& it : cases) it = make_case();

  const backend_context context;
  const auto device_cases = to_device(context, cases);
  array<verdict, backend_context> verdicts(context, cases.size());
  for_each(context, "judge reach", cases.size(), judge_reach<T, D>{device_cases.data(), verdicts.data()});
  const std::vector<verdict> found = to_host(context, verdicts);

  std::size_t close = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_FALSE(found[i].missed) << described(cases[i]);
    ASSERT_FALSE(found[i].wrong) << described(cases[i]);
    close += found[i].close;
  }
  // The test is meaningful only if both answers are common.
  EXPECT_GT(close, cases.size() / 4);
  EXPECT_LT(close, cases.size() * 3 / 4);
}

}  // namespace

}  // namespace quadrat::test

// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cpu/engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "mesh/checks.hpp"
#include "mesh/particle/particle.hpp"

// The basis of the CPU methods `tiles` and `multicolor`: every instruction set, and colors of tiles.

namespace quadrat::test {

namespace {

using detail::tile_axis;

/// Mesh points along an axis that footprints of a tile touch.
[[nodiscard]] std::vector<int> touched_by(const detail::mesh_shape& shape, const tile_axis& axis, int tile) {
  std::vector<int> touched;
  for (int k = 0; k < axis.size(tile) + shape.width[2] - 1; ++k) {
    const int home = shape.home(axis.begin(tile) + k, 2);
    if (home >= 0) touched.push_back(home);
  }
  std::sort(touched.begin(), touched.end());
  return touched;
}

void expect_colors_apart(const detail::mesh_shape& shape, const tile_axis& axis) {
  std::vector<std::vector<int>> by_color(3);
  for (int tile = 0; tile < axis.tiles; ++tile) {
    const auto touched = touched_by(shape, axis, tile);
    std::vector<int>& before = by_color[static_cast<std::size_t>(axis.color(tile))];
    std::vector<int> both;
    std::set_intersection(before.begin(), before.end(), touched.begin(), touched.end(), std::back_inserter(both));
    EXPECT_TRUE(both.empty()) << "extent " << shape.extent[2] << ", width " << shape.width[2] << ", tile " << tile;
    before.insert(before.end(), touched.begin(), touched.end());
    std::sort(before.begin(), before.end());
  }
}

TEST(mesh_tile_colors, no_two_tiles_of_a_color_touch_the_same_mesh_point) {
  for (int extent = 1; extent <= 70; ++extent) {
    for (int width = 1; width <= 8; ++width) {
      for (int shift = 0; shift <= 4; ++shift) {
        for (const bool periodic : {true, false}) {
          const detail::mesh_shape shape{{1, 1, extent}, {1, 1, width}, {true, true, periodic}, 2};
          const tile_axis axis = make_tile_axis(shape, 2, shift);
          expect_colors_apart(shape, axis);
          for (int first = axis.low; first < axis.low + axis.span; ++first) {
            const int tile = axis.tile_of(first);
            EXPECT_GE(first, axis.begin(tile));
            EXPECT_LT(first, axis.begin(tile) + axis.size(tile));
          }
        }
      }
    }
  }
}

template <typename T>
struct instruction_set {
  std::string name;
  const detail::tile_functions<T>* functions;
};

/// The implementations that this CPU supports.
template <typename T>
[[nodiscard]] std::vector<instruction_set<T>> instruction_sets() {
  std::vector<instruction_set<T>> sets{{"AVX-512", detail::avx512_tile_functions(T{})},
                                       {"AVX2", detail::avx2_tile_functions(T{})},
                                       {"plain", detail::plain_tile_functions(T{})}};
  std::erase_if(sets, [](const auto& set) { return set.functions == nullptr; });
  return sets;
}

/// Points at random in the unit cube, two value vectors.
template <typename T>
struct tile_case {
  vec<int, 3> mesh;
  int order;
  int components;
  std::size_t count;
  vec<bool, 3> periodic;
};

template <typename T>
struct tile_results {
  std::vector<T> mesh, values, gradients, values_in_pass;
};

template <typename T>
class tile_problem {
 public:
  explicit tile_problem(const tile_case<T>& it)
      : it_(it), domain_(make_box<T, 3>({0, 0, 0}, {1, 1, 1}, it.periodic)), faults_(context_) {
    const auto window = bspline_window<T>(it.order);
    setup_ = {detail::make_shape(domain_, it.mesh, window), window, {}};
    layout_ = {it.count, setup_.shape.size(), it.components, 2};
    std::mt19937_64 random(7);
    std::uniform_real_distribution<T> unit(T(-1), T(1));
    const auto fill = [&](std::vector<T>& all, std::size_t size) {
      all.resize(size);
      for (T& one : all) one = unit(random);
    };
    fill(points_, 3 * it.count);
    for (T& x : points_) x = (x + T(1)) / T(2);
    fill(values_, it.count * static_cast<std::size_t>(layout_.channels()));
    fill(mesh_, layout_.mesh_values());
  }

  [[nodiscard]] const detail::spread_setup<T>& setup() const { return setup_; }
  [[nodiscard]] std::vector<T>& mesh() { return mesh_; }

  [[nodiscard]] tile_results<T> run(detail::spread_engine<cpu_context, T>& engine) {
    engine.set_points(placement());
    tile_results<T> results{std::vector<T>(mesh_.size()), std::vector<T>(values_.size()),
                            std::vector<T>(3 * values_.size()), std::vector<T>(values_.size())};
    const T scale[3] = {T(1), T(2), T(3)};
    engine.spread(layout_, values_.data(), results.mesh.data(), false);
    engine.interpolate(layout_, mesh_.data(), results.values.data(), false);
    engine.interpolate_gradient(layout_, mesh_.data(), scale, results.values_in_pass.data(), results.gradients.data(),
                                false);
    return results;
  }

 private:
  [[nodiscard]] detail::point_placement<T> placement() {
    detail::point_placement<T> placement{};
    for (int axis = 0; axis < 3; ++axis) {
      placement.axis[axis] = detail::make_mesh_axis(domain_, axis, setup_.shape.extent[axis], setup_.shape.width[axis]);
      placement.component[axis] = points_.data() + axis;
    }
    placement.stride = 3;
    placement.count = it_.count;
    placement.clip = true;
    placement.faults = faults_.flag();
    return placement;
  }

  tile_case<T> it_;
  cpu_context context_;
  box<T, 3> domain_;
  fault_state<cpu_context> faults_;
  detail::spread_setup<T> setup_;
  detail::value_layout layout_;
  std::vector<T> points_, values_, mesh_;
};

template <typename T>
void expect_near(const std::vector<T>& found, const std::vector<T>& wanted, const char* what) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    difference += std::pow(static_cast<double>(found[i]) - static_cast<double>(wanted[i]), 2);
    norm += std::pow(static_cast<double>(wanted[i]), 2);
  }
  EXPECT_LE(std::sqrt(difference), 8 * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::sqrt(norm))
      << what;
}

template <typename T>
class cpu_tiles : public testing::Test {};
using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(cpu_tiles, precisions);

template <typename T>
[[nodiscard]] std::vector<tile_case<T>> tile_cases() {
  std::vector<tile_case<T>> cases;
  for (int order = 1; order <= 8; ++order) {
    for (const int components : {1, 2}) {
      cases.push_back({{36, 20, 37}, order, components, 2000, {true, true, true}});
      cases.push_back({{5, 3, 2}, order, components, 40, {true, false, true}});
      cases.push_back({{70, 9, 18}, order, components, 900, {false, true, false}});
    }
  }
  // Many points in a plane of a tile: the buffer is added to the mesh before the plane is done.
  cases.push_back({{2, 8, 8}, 4, 2, 3000, {true, true, true}});
  // More points reach a plane than there is room for: they are taken in several passes, in double precision.
  cases.push_back({{20, 16, 16}, 8, 2, 6000, {true, false, true}});
  return cases;
}

TYPED_TEST(cpu_tiles, every_instruction_set_agrees_with_the_particle_method) {
  using T = TypeParam;
  for (const tile_case<T>& it : tile_cases<T>()) {
    tile_problem<T> problem(it);
    detail::particle_engine<cpu_context, T> particle({}, problem.setup());
    const auto wanted = problem.run(particle);
    for (const auto& set : instruction_sets<T>()) {
      SCOPED_TRACE(set.name + ", order " + std::to_string(it.order) + ", components " + std::to_string(it.components) +
                   ", points " + std::to_string(it.count));
      detail::cpu_tiles_engine<T> tiles({}, problem.setup(), *set.functions);
      const auto found = problem.run(tiles);
      expect_near(found.mesh, wanted.mesh, "spread");
      expect_near(found.values, wanted.values, "interpolate");
      expect_near(found.gradients, wanted.gradients, "interpolate_gradient");
      expect_near(found.values_in_pass, wanted.values_in_pass, "values with gradients");
    }
  }
}

TYPED_TEST(cpu_tiles, any_number_of_threads_gives_the_same_bits) {
  using T = TypeParam;
  tile_problem<T> problem({{70, 40, 50}, 5, 2, 20000, {true, true, false}});
  for (const auto& set : instruction_sets<T>()) {
    detail::cpu_tiles_engine<T> alone(cpu_context({.threads = 1}), problem.setup(), *set.functions);
    const auto wanted = problem.run(alone);
    for (const int threads : {2, 3, 7}) {
      detail::cpu_tiles_engine<T> tiles(cpu_context({.threads = threads}), problem.setup(), *set.functions);
      EXPECT_EQ(problem.run(tiles).mesh, wanted.mesh) << set.name << ", " << threads << " threads";
    }
  }
}

/// Vectors reach past a footprint's end: values there must not matter, even times zero.
TYPED_TEST(cpu_tiles, values_beside_a_footprint_do_not_show_when_they_are_not_finite) {
  using T = TypeParam;
  tile_problem<T> problem({{6, 6, 40}, 4, 1, 500, {true, true, true}});
  for (std::size_t k = 20; k < problem.mesh().size(); k += 40) problem.mesh()[k] = std::numeric_limits<T>::quiet_NaN();
  detail::particle_engine<cpu_context, T> particle({}, problem.setup());
  const auto wanted = problem.run(particle);
  const auto finite = [](T x) { return std::isfinite(x); };
  ASSERT_GT(std::count_if(wanted.values.begin(), wanted.values.end(), finite), 400);
  for (const auto& set : instruction_sets<T>()) {
    detail::cpu_tiles_engine<T> tiles({}, problem.setup(), *set.functions);
    const auto found = problem.run(tiles);
    for (std::size_t i = 0; i < found.values.size(); ++i) {
      EXPECT_EQ(finite(found.values[i]), finite(wanted.values[i])) << set.name << ", value " << i;
    }
  }
}

/// Coordinates inside and outside [lower, lower + length), on its faces, beside mesh points, and far away.
template <typename T>
[[nodiscard]] std::vector<T> telling_coordinates(T lower, T length, int extent) {
  const T upper = lower + length, far = std::numeric_limits<T>::max();
  std::vector<T> all{lower, upper, std::nextafter(lower, -far), std::nextafter(upper, -far),
                     std::nextafter(upper, far)};
  for (int k = 0; k <= extent; ++k) {
    for (const double part : {0.0, 0.5}) {
      const T x = static_cast<T>(lower + length * (k + part) / extent);
      all.insert(all.end(), {std::nextafter(x, -far), x, std::nextafter(x, far)});
    }
  }
  for (const T periods : {T(1), T(-1), T(7.3), T(-1000.25), T(1048575.5), T(-1048575.5)}) {
    all.insert(all.end(), {lower + periods * length, lower + (periods + T(0.013)) * length});
  }
  std::mt19937_64 random(11);
  std::uniform_real_distribution<T> unit(T(-0.3), T(1.3));
  for (int k = 0; k < 300; ++k) all.push_back(lower + length * unit(random));
  return all;
}

/// Tiles and places of all points, one instruction set after another.
template <typename T>
void expect_same_places(const detail::point_placement<T>& points, const detail::mesh_shape& shape) {
  const detail::mesh_tiles tiles{
      {make_tile_axis(shape, 0, 3), make_tile_axis(shape, 1, 3), make_tile_axis(shape, 2, 3)}};
  for (const auto& set : instruction_sets<T>()) {
    std::vector<std::uint32_t> found(points.count), counts(tiles.count()), next(tiles.count());
    set.functions->find_tiles(points, tiles, 0, points.count, found.data(), counts.data());
    std::exclusive_scan(counts.begin(), counts.end(), next.begin(), 0u);
    std::vector<std::uint32_t> at = next;
    std::vector<detail::tile_point<T>> placed(points.count);
    set.functions->store(points, 0, points.count, found.data(), next.data(), placed.data());
    for (std::uint32_t tile = 0; tile < tiles.count(); ++tile) {
      int begin[3];
      tiles.split(tile, begin);
      for (int axis = 0; axis < 3; ++axis) begin[axis] = tiles.axis[axis].begin(begin[axis]);
      set.functions->place(points, begin, placed.data() + at[tile], next[tile] - at[tile]);
    }
    for (std::size_t i = 0; i < points.count; ++i) {
      const detail::placed_point<T> wanted = points(i);
      ASSERT_EQ(found[i], tiles.tile_of(wanted.first)) << set.name << " " << i;
      const detail::tile_point<T>& other = placed[at[found[i]]++];
      ASSERT_EQ(other.id, i) << set.name;
      int along[3];
      tiles.split(found[i], along);
      for (int axis = 0; axis < 3; ++axis) {
        ASSERT_EQ(tiles.axis[axis].begin(along[axis]) + other.along(axis), wanted.first[axis])
            << set.name << ", point " << i;
        ASSERT_EQ(other.place[axis], wanted.place[axis]) << set.name << ", point " << i;
      }
    }
    EXPECT_EQ(at, next) << set.name;
  }
}

/// All points in one batch of accepted ones, and each also where others of its batch are refused.
TYPED_TEST(cpu_tiles, many_points_are_placed_as_one_is_bit_by_bit) {
  using T = TypeParam;
  fault_state<cpu_context> faults{cpu_context()};
  const int extents[3] = {9, 30, 17};
  for (const bool periodic : {true, false}) {
    const auto domain =
        make_box<T, 3>({T(-0.7), T(0.1), T(1000)}, {T(2.6), T(1.1), T(1000.37)}, vec<bool, 3>::filled(periodic));
    for (const int order : {1, 4, 5, 8}) {
      const detail::mesh_shape shape = detail::make_shape(domain, {9, 30, 17}, bspline_window<T>(order));
      for (int options = 0; options < 8; ++options) {
        std::vector<T> coordinates[3];
        detail::point_placement<T> points{};
        for (int axis = 0; axis < 3; ++axis) {
          coordinates[axis] = telling_coordinates(domain.lower[axis], domain.length[axis], extents[axis]);
          coordinates[axis].resize(500, domain.lower[axis] + domain.length[axis] / 2);
          points.axis[axis] = detail::make_mesh_axis(domain, axis, shape.extent[axis], order);
          points.component[axis] = coordinates[axis].data();
        }
        coordinates[0][150] = std::numeric_limits<T>::quiet_NaN();
        coordinates[1][151] = std::numeric_limits<T>::infinity();
        coordinates[2][152] = -std::numeric_limits<T>::max();
        points.stride = 1;
        points.count = 500;
        points.accept_outside = (options & 1) == 0;
        points.clip = (options & 2) != 0;
        if ((options & 4) != 0) points.component[0] = nullptr;
        points.faults = faults.flag();
        expect_same_places(points, shape);
      }
    }
  }
}

}  // namespace

}  // namespace quadrat::test

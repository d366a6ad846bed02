// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "list_support.hpp"
#include "quadrat/search/make_neighbor_list.hpp"
#include "quadrat/search/visit_list.hpp"
#include "support/errors.hpp"

// Sums over the pairs of a list: which points they belong to, the same bits for any number of threads, energy
// conservation, and what is refused.

namespace quadrat::test {

namespace {

using vector3 = vec<double, 3>;
using sum3 = interaction<double, 3>;

/// Lennard-Jones, shifted so that energy and force are 0 at the cutoff.
struct lennard_jones_pair {
  double cutoff;
  QUADRAT_HD static double energy(double rr) {
    const double s6 = 1 / (rr * rr * rr);
    return 4 * s6 * (s6 - 1);
  }
  /// The derivative by the distance.
  QUADRAT_HD static double slope(double rr) {
    const double s6 = 1 / (rr * rr * rr);
    return -24 * s6 * (2 * s6 - 1) / std::sqrt(rr);
  }
  QUADRAT_HD sum3 operator()(particle_id, particle_id, const vector3& r, double rr) const {
    const double length = std::sqrt(rr), limit = cutoff * cutoff;
    return make_interaction(r, rr, energy(rr) - energy(limit) - (length - cutoff) * slope(limit),
                            (slope(rr) - slope(limit)) / length);
  }
};

struct count_pair {
  QUADRAT_HD int operator()(particle_id, particle_id, const vec<float, 3>&, float) const { return 1; }
};
struct add_separation {
  QUADRAT_HD vec<float, 3> operator()(particle_id, particle_id, const vec<float, 3>& r, float) const { return r; }
};
struct visit_nothing {
  QUADRAT_HD void operator()(particle_id, particle_id, const vec<float, 3>&, float) const {}
};

class list_sums_test : public backend_test {};

/// The sums of a liquid of 17,000 atoms, enough for several threads, in the order of the rows of its lattice.
[[nodiscard]] std::vector<sum3> sums_of_liquid(const backend_context& context, neighbor_pairs pairs, bool shuffled) {
  constexpr int side = 26;
  std::mt19937_64 random(4);
  std::vector<vector3> points;
  for (int k = 0; k < side * side * side; ++k) {
    const vec<int, 3> place{k % side, k / side % side, k / side / side};
    points.push_back(make_vec<double, 3>([&](int axis) { return place[axis] + 0.2 * random_unit<double>(random); }));
  }
  if (shuffled) std::shuffle(points.begin(), points.end(), random);
  const auto box = make_box<double, 3>({0, 0, 0}, vector3::filled(side), vec<bool, 3>::filled(true));
  auto list = make_neighbor_list(context, box, {.cutoff = 1.9, .skin = 0.2, .pairs = pairs});
  const auto stored = to_device(context, points);
  list.update(points_of(stored));
  array<sum3, backend_context> sums(context, points.size());
  accumulate_pairs(list, sums.data(), lennard_jones_pair{1.9});
  return to_host(context, sums);
}

void expect_near(const std::vector<sum3>& got, const std::vector<sum3>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i].energy, wanted[i].energy, 1e-10) << i;
    ASSERT_NEAR(got[i].virial, wanted[i].virial, 1e-9) << i;
    for (int axis = 0; axis < 3; ++axis) ASSERT_NEAR(got[i].force[axis], wanted[i].force[axis], 1e-9) << i;
  }
}

[[nodiscard]] bool equal_bits(const std::vector<sum3>& a, const std::vector<sum3>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(sum3)) == 0;
}

TEST_F(list_sums_test, of_half_lists_equal_those_of_full_lists_for_any_number_of_threads) {
  for (const bool shuffled : {false, true}) {
    const auto full = sums_of_liquid(backend_context(), neighbor_pairs::full, shuffled);
    for (const backend_context& context : all_contexts()) {
      expect_near(sums_of_liquid(context, neighbor_pairs::half, shuffled), full);
      expect_near(sums_of_liquid(context, neighbor_pairs::full, shuffled), full);
    }
  }
}

TEST_F(list_sums_test, are_the_same_bits_for_any_number_of_threads_on_request) {
  const backend_context one = context_at(determinism::run_to_run, 1);
  const auto full = sums_of_liquid(one, neighbor_pairs::full, true);
  for (const int threads : {2, 3, 7}) {
    const backend_context context = context_at(determinism::run_to_run, threads);
    EXPECT_TRUE(equal_bits(sums_of_liquid(context, neighbor_pairs::full, true), full)) << threads;
  }
#if QUADRAT_BACKEND_CUDA
  expect_words(error_of<argument_error>([&] { static_cast<void>(sums_of_liquid(one, neighbor_pairs::half, false)); }),
               {"half list", "not reproducible", "full list"});
#else
  for (const bool shuffled : {false, true}) {
    const auto half = sums_of_liquid(one, neighbor_pairs::half, shuffled);
    for (const int threads : {2, 3, 7}) {
      const backend_context context = context_at(determinism::run_to_run, threads);
      EXPECT_TRUE(equal_bits(sums_of_liquid(context, neighbor_pairs::half, shuffled), half)) << threads;
    }
  }
#endif
}

/// Energy per atom at the start and after some hundred steps that wrap the atoms.
void expect_energy_conserved(const backend_context& context, neighbor_pairs pairs) {
  constexpr int side = 6, steps = 300;
  constexpr double edge = 7.2, dt = 0.004, cutoff = 2.5;
  std::mt19937_64 random(3);
  std::vector<vector3> points, velocities;
  for (int k = 0; k < side * side * side; ++k) {
    points.push_back(cast<double>(vec<int, 3>{k % side, k / side % side, k / side / side}) * (edge / side));
    velocities.push_back(make_vec<double, 3>([&](int) { return 2.4 * random_unit<double>(random) - 1.2; }));
  }
  const auto box = make_box<double, 3>({0, 0, 0}, vector3::filled(edge), vec<bool, 3>::filled(true));
  auto list = make_neighbor_list(context, box, {.cutoff = cutoff, .skin = 0.4, .pairs = pairs});
  array<sum3, backend_context> sums(context, points.size()), total(context, 1);
  int kept = 0;
  std::vector<sum3> terms;
  const auto energy = [&] {
    double sum = to_host(context, total)[0].energy;
    for (const vector3& velocity : velocities) sum += squared_norm(velocity) / 2;
    return sum / static_cast<double>(points.size());
  };
  const auto find_forces = [&] {
    const auto stored = to_device(context, points);
    kept += list.update(points_of(stored)) ? 0 : 1;
    accumulate_pairs(list, sums, total.data(), lennard_jones_pair{cutoff});
    terms = to_host(context, sums);
  };
  find_forces();
  const double first = energy();
  for (int step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      velocities[i] += terms[i].force * (dt / 2);
      points[i] = box.wrap(points[i] + velocities[i] * dt);
    }
    find_forces();
    for (std::size_t i = 0; i < points.size(); ++i) velocities[i] += terms[i].force * (dt / 2);
  }
  EXPECT_NEAR(energy(), first, 5e-4);
  EXPECT_GT(kept, steps / 2);
}

TEST_F(list_sums_test, conserve_energy_over_half_and_full_lists) {
  const backend_context context;
  expect_energy_conserved(context, neighbor_pairs::half);
  expect_energy_conserved(context, neighbor_pairs::full);
}

TEST_F(list_sums_test, the_virial_is_the_derivative_of_the_energy_by_the_scale) {
  const backend_context context;
  const auto scaled = [&](double scale) {
    std::vector<vector3> points;
    for (int k = 0; k < 8; ++k) points.push_back(vector3{0.1 * k, k % 2 * 1.1, k / 2 * 1.2} * scale);
    const auto box = make_box<double, 3>({-9, -9, -9}, {9, 9, 9}, {false, false, false});
    auto list = make_neighbor_list(context, box, {.cutoff = 2.5, .keeps_points = true});
    const auto stored = to_device(context, points);
    list.build(points_of(stored));
    array<sum3, backend_context> sums(context, points.size()), total(context, 1);
    accumulate_pairs(list, sums.data(), total.data(), lennard_jones_pair{2.5});
    return to_host(context, total)[0];
  };
  // W = sum of r . F = -dU / d(ln scale)
  const double slope = (scaled(1 + 1e-5).energy - scaled(1 - 1e-5).energy) / 2e-5;
  EXPECT_NEAR(scaled(1).virial, -slope, 1e-4 * (1 + std::fabs(slope)));
}

using tensor3 = tensor_interaction<double, 3>;

/// The pair above, with all components of the virial.
struct lennard_jones_tensor {
  lennard_jones_pair pair;
  QUADRAT_HD tensor3 operator()(particle_id i, particle_id j, const vector3& r, double rr) const {
    const sum3 scalar = pair(i, j, r, rr);
    return make_tensor_interaction(r, 2 * scalar.energy, -2 * scalar.virial / rr);
  }
};

constexpr double tensor_cutoff = 2.5;
const vec<vector3, 3> tensor_vectors{{{5.4, 0, 0}, {0.6, 5.2, 0}, {-0.4, 0.9, 5.6}}};

/// 27 atoms on a jittered lattice, in coordinates of the box.
[[nodiscard]] std::vector<vector3> tensor_fractions() {
  std::mt19937_64 random(5);
  std::vector<vector3> fractions;
  for (int k = 0; k < 27; ++k) {
    const vec<int, 3> place{k % 3, k / 3 % 3, k / 9};
    fractions.push_back(
        make_vec<double, 3>([&](int axis) { return (place[axis] + 0.2 * random_unit<double>(random)) / 3; }));
  }
  return fractions;
}

/// The sums of these atoms, of a box and points to which a strain has been applied, and their total at the end.
template <typename Sum, typename F>
[[nodiscard]] std::vector<Sum> strained_sums(const backend_context& context, neighbor_pairs pairs,
                                             const vec<vector3, 3>& strain, const F& f) {
  vec<vector3, 3> vectors = tensor_vectors;
  for (int k = 0; k < 3; ++k) {
    for (int a = 0; a < 3; ++a) vectors[k][a] += dot(strain[a], tensor_vectors[k]);
  }
  const auto box = make_lattice<double, 3>({}, vectors, vec<bool, 3>::filled(true));
  std::vector<vector3> points;
  for (const vector3& fraction : tensor_fractions()) {
    points.push_back(fraction[0] * vectors[0] + fraction[1] * vectors[1] + fraction[2] * vectors[2]);
  }
  neighbor_options<double> options{.cutoff = tensor_cutoff, .pairs = pairs, .keeps_points = true};
  options.shifts = true;
  neighbor_list<backend_context, double, 3> list(context, options);
  const auto stored = to_device(context, points);
  neighbor_input<double, 3> input{};
  input.points = points_of(stored);
  input.boxes = std::span(&box, 1);
  list.build(input);
  array<Sum, backend_context> sums(context, points.size()), total(context, 1);
  accumulate_pairs(list, sums.data(), total.data(), f);
  std::vector<Sum> result = to_host(context, sums);
  result.push_back(to_host(context, total)[0]);
  return result;
}

/// Each point's virial, by a plain sum over all images.
[[nodiscard]] std::vector<vec<double, 9>> plain_virials() {
  const lennard_jones_pair pair{tensor_cutoff};
  std::vector<vector3> points;
  for (const vector3& f : tensor_fractions()) {
    points.push_back(f[0] * tensor_vectors[0] + f[1] * tensor_vectors[1] + f[2] * tensor_vectors[2]);
  }
  std::vector<vec<double, 9>> result(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < points.size(); ++j) {
      for (int image = 0; image < 125; ++image) {
        vector3 r = points[j] - points[i];
        for (int k = 0; k < 3; ++k) r += (image / (k == 0 ? 1 : k == 1 ? 5 : 25) % 5 - 2) * tensor_vectors[k];
        const double rr = squared_norm(r);
        if (rr == 0 || rr >= tensor_cutoff * tensor_cutoff) continue;
        const vector3 force = pair(0, 0, r, rr).force;  // on i: that on j is opposite
        for (int ab = 0; ab < 9; ++ab) result[i][ab] -= r[ab / 3] * force[ab % 3] / 2;
      }
    }
  }
  return result;
}

TEST_F(list_sums_test, the_virials_of_points_are_those_of_a_plain_sum_in_all_components) {
  const auto wanted = plain_virials();
  for (const backend_context& context : all_contexts()) {
    for (const neighbor_pairs pairs : {neighbor_pairs::full, neighbor_pairs::half}) {
#if QUADRAT_BACKEND_CUDA
      if (pairs == neighbor_pairs::half && context.reproducibility() != determinism::none) continue;
#endif
      const auto got = strained_sums<tensor3>(context, pairs, {}, lennard_jones_tensor{{tensor_cutoff}});
      const auto scalar = strained_sums<sum3>(context, pairs, {}, lennard_jones_pair{tensor_cutoff});
      vec<double, 9> total{};
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        total += wanted[i];
        for (int k = 0; k < 9; ++k) ASSERT_NEAR(got[i].virial[k], wanted[i][k], 1e-9) << i << ", component " << k;
        ASSERT_NEAR(got[i].virial[0] + got[i].virial[4] + got[i].virial[8], scalar[i].virial, 1e-9) << i;
        ASSERT_NEAR(got[i].energy, scalar[i].energy, 1e-10) << i;
        for (int a = 0; a < 3; ++a) ASSERT_NEAR(got[i].force[a], scalar[i].force[a], 1e-9) << i;
      }
      for (int k = 0; k < 9; ++k) EXPECT_NEAR(got.back().virial[k], total[k], 1e-8) << k;
    }
  }
}

TEST_F(list_sums_test, the_virial_tensor_is_minus_the_derivative_of_the_energy_by_the_strain) {
  const backend_context context;
  const lennard_jones_tensor f{{tensor_cutoff}};
  const auto virial = strained_sums<tensor3>(context, neighbor_pairs::full, {}, f).back().virial;
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      const auto energy = [&](double size) {
        vec<vector3, 3> strain{};
        strain[a][b] = size;
        return strained_sums<tensor3>(context, neighbor_pairs::full, strain, f).back().energy;
      };
      const double slope = (energy(1e-5) - energy(-1e-5)) / 2e-5;
      EXPECT_NEAR(virial[3 * a + b], -slope, 1e-5 * (1 + std::fabs(slope))) << a << ", " << b;
    }
  }
}

TEST_F(list_sums_test, belong_to_the_points_of_the_last_update_whatever_happens_to_the_array) {
  const backend_context context;
  problem3 problem = some_problem();
  problem.options.skin = 0.2f;
  problem.options.rule = cutoff_rule::sum_of_radii;
  problem.radii.assign(problem.points.size(), 0.25f);
  neighbor_input_on_device<float, 3> stored(context, problem);
  list3 list(context, problem.options);
  list.update(stored.input());
  array<vec<float, 3>, backend_context> sums(context, problem.points.size());
  accumulate_neighbors(list, sums, add_separation{});
  const auto before = to_host(context, sums);
  fill_bytes(context, stored.points().data(), 0xff, stored.points().bytes());
  accumulate_neighbors(list, sums.data(), add_separation{});
  EXPECT_EQ(to_host(context, sums), before);
  EXPECT_THROW((void)list.update(stored.input()), data_error) << "the points are NaN now";
  EXPECT_THROW(accumulate_neighbors(list, sums.data(), add_separation{}), argument_error);
}

TEST_F(list_sums_test, of_no_points_and_of_one) {
  const backend_context context;
  for (const auto pairs : {neighbor_pairs::full, neighbor_pairs::half}) {
    auto list = make_neighbor_list(context, make_box<float, 3>({0, 0, 0}, {9, 9, 9}, {true, true, true}),
                                   {.cutoff = 1, .skin = 0.5f, .pairs = pairs});
    array<vec<float, 3>, backend_context> sums(context, 1), total(context, 1);
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{0}}) {
      const auto points = to_device(context, std::vector<vec<float, 3>>(count, {1, 2, 3}));
      list.update(points_of(points));
      fill_bytes(context, sums.data(), 0xff, sums.bytes());
      fill_bytes(context, total.data(), 0xff, total.bytes());
      accumulate_pairs(list, sums.data(), total.data(), add_separation{});
      for_each_pair(list, visit_nothing{});
      EXPECT_EQ(to_host(context, total)[0], (vec<float, 3>{0, 0, 0}));
      if (count == 0) continue;
      EXPECT_EQ(to_host(context, sums)[0], (vec<float, 3>{0, 0, 0}));
    }
  }
}

TEST_F(list_sums_test, refuse_what_they_cannot_do) {
  const backend_context context;
  const problem3 problem = some_problem();
  const neighbor_input_on_device<float, 3> stored(context, problem);
  array<int, backend_context> sums(context, problem.points.size());
  const auto refusal = [&](list3& list) {
    return error_of<argument_error>([&] { accumulate_neighbors(list, sums.data(), count_pair{}); });
  };
  neighbor_options<float> options = problem.options;
  options.keeps_points = true;
  list3 list(context, options);
  expect_words(refusal(list), {"nothing has been built"});
  list.build(stored.input());
  EXPECT_EQ(refusal(list), "no error");
  expect_words(error_of<argument_error>([&] { accumulate_neighbors(list, static_cast<int*>(nullptr), count_pair{}); }),
               {"60 sums", "null"});
  static_cast<void>(list.count(stored.input()));
  expect_words(refusal(list), {"nothing has been built"});

  list3 plain(context, problem.options);
  plain.build(stored.input());
  expect_words(refusal(plain), {"keeps no points", "skin", "keeps_points"});

  options.pairs = neighbor_pairs::half;
  list3 half(context, options);
  half.build(stored.input());
  expect_words(refusal(half), {"half list", "accumulate_pairs"});
  options.pairs = neighbor_pairs::full;

  options.shifts = false;
  options.cutoff = 1.2f;
  list3 small(context, options);
  small.build(stored.input());
  expect_words(refusal(small), {"height", "vector 0 is 2", "shifts"});
  options.shifts = true;

  problem3 queries = problem;
  queries.queries = problem.points;
  const neighbor_input_on_device<float, 3> asked(context, queries);
  list3 of_queries(context, options);
  of_queries.build(asked.input());
  expect_words(refusal(of_queries), {"queries"});
}

}  // namespace

}  // namespace quadrat::test

// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ewald/ewald_case.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/cuda_graph.hpp"
#include "reference/ewald.hpp"
#include "support/backend.hpp"
#include "support/counting_memory.hpp"
#include "support/errors.hpp"
#include "support/late_errors.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

class electrostatics_test : public backend_test {};

struct random_options {
  std::size_t points = 30;
  pair_law law = pair_law::coulomb;
  bool slab = false;
  bool neutral = false;
  bool pairs = false;
};

/// Charges in a skewed cell of either handedness, some of them outside it.
ewald_case<double> random_case(std::uint64_t seed, const random_options& wanted) {
  std::mt19937_64 generator(seed);
  const auto unit = [&] { return random_unit<double>(generator); };
  ewald_case<double> of;
  const double edge = std::cbrt(static_cast<double>(wanted.points));
  vec<vec<double, 3>, 3> vectors{};
  for (int axis = 0; axis < 3; ++axis) {
    for (int k = 0; k < 3; ++k) vectors[axis][k] = k == axis ? edge * (0.7 + unit()) : edge * 0.5 * (unit() - 0.5);
  }
  if (seed % 2 == 0) std::swap(vectors[0], vectors[1]);
  of.cells = {cell_of(vectors[0], vectors[1], vectors[2], wanted.slab)};
  double sum = 0;
  for (std::size_t i = 0; i < wanted.points; ++i) {
    vec<double, 3> point = of.cells[0].origin;
    for (int axis = 0; axis < 3; ++axis) {
      const bool open = wanted.slab && axis == 2;
      point += (open ? unit() : 3 * unit() - 1) * vectors[axis];
    }
    of.points.push_back(point);
    of.charges.push_back(wanted.law == pair_law::coulomb ? 2 * unit() - 1 : unit());
    sum += of.charges.back();
  }
  if (wanted.neutral) {
    for (double& charge : of.charges) charge -= sum / static_cast<double>(wanted.points);
  }
  if (wanted.pairs) of.pairs = {{0, 1, 0}, {2, 3, 0.5}, {5, 4, 0}, {1, 6, 1.25}, {0, 7, 0}};
  return of;
}

reference::ewald_system reference_of(const ewald_case<double>& of, pair_law law) {
  reference::ewald_system it;
  it.dispersion = law == pair_law::dispersion;
  for (int axis = 0; axis < 3; ++axis) {
    for (int k = 0; k < 3; ++k)
      it.vectors[static_cast<std::size_t>(axis)][static_cast<std::size_t>(k)] = of.cells[0].vectors[axis][k];
  }
  for (const auto& point : of.points) {
    const vec<double, 3> from = point - of.cells[0].origin;
    it.points.push_back({from[0], from[1], from[2]});
  }
  it.charges = of.charges;
  for (const scaled_pair& pair : of.pairs) it.scaled_pairs.push_back({pair.first, pair.second, pair.scale});
  return it;
}

/// Everything that the library computes beside the reference, for errors of `tolerance`.
void expect_reference(const ewald_case<double>& of, const electrostatics_options& options, double tolerance) {
  const reference::ewald_system it = reference_of(of, options.law);
  const bool slab = !of.cells[0].periodic[2];
  const reference::ewald_result wanted = slab ? reference::ewald_slab_sum(it) : reference::ewald_sum(it);
  const auto found = compute_ewald(of, options);
  const double k = options.coulomb_constant;
  double squares = 0, potentials = 0, sum = 0, largest = 0;
  for (std::size_t i = 0; i < of.points.size(); ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double difference = found.forces[i][static_cast<int>(axis)] - k * wanted.forces[i][axis];
      squares += difference * difference;
      largest = std::max(largest, std::fabs(wanted.forces[i][axis]));
    }
    const double difference = found.potentials[i] - k * wanted.potentials[i];
    potentials = std::max(potentials, std::fabs(difference));
    sum += found.energies[i];
  }
  const auto n = static_cast<double>(of.points.size());
  const double unit = k * it.reference_force();
  // Points may be so near each other that rounding matters.
  EXPECT_LT(std::sqrt(squares / n), tolerance * unit + 1e-12 * k * largest);
  EXPECT_LT(potentials, 30 * tolerance * unit);
  EXPECT_NEAR(found.energy[0], k * wanted.energy, 30 * tolerance * unit * n);
  EXPECT_NEAR(sum, found.energy[0], 1e-12 * (1 + std::fabs(sum)) * n);
  if (slab) return;
  for (std::size_t m = 0; m < 9; ++m) {
    EXPECT_NEAR(found.virial[m], k * wanted.virial[m], 100 * tolerance * unit * n) << m;
  }
}

TEST_F(electrostatics_test, sums_are_those_of_the_reference) {
  for (std::uint64_t seed = 1; seed <= size_or(8, 2); ++seed) {
    for (const char* method : {"spme", "esp", "direct"}) {
      for (const double accuracy : {1e-3, 1e-6}) {
        SCOPED_TRACE(message("seed ", seed, " method ", method, " accuracy ", accuracy));
        electrostatics_options options;
        options.method = method;
        options.accuracy = accuracy;
        options.coulomb_constant = 2.5;
        expect_reference(random_case(seed, {.neutral = seed % 3 == 0, .pairs = seed % 2 == 1}), options, accuracy);
      }
    }
  }
}

TEST_F(electrostatics_test, dispersion_is_that_of_the_reference) {
  for (std::uint64_t seed = 11; seed <= 14; ++seed) {
    for (const char* method : {"spme", "direct"}) {
      SCOPED_TRACE(message("seed ", seed, " method ", method));
      electrostatics_options options;
      options.law = pair_law::dispersion;
      options.method = method;
      options.accuracy = 1e-5;
      expect_reference(random_case(seed, {.law = pair_law::dispersion, .pairs = seed % 2 == 1}), options, 1e-5);
    }
  }
}

TEST_F(electrostatics_test, slabs_are_those_of_the_reference) {
  for (std::uint64_t seed = 21; seed <= 24; ++seed) {
    for (const char* method : {"spme", "esp"}) {
      SCOPED_TRACE(message("seed ", seed, " method ", method));
      electrostatics_options options;
      options.method = method;
      options.accuracy = 1e-5;
      expect_reference(random_case(seed, {.points = 16, .slab = true, .neutral = true, .pairs = seed % 2 == 1}),
                       options, 1e-5);
    }
  }
}

/// Forces, potentials and virials are derivatives of the energy: of the computed one, whatever its error.
TEST_F(electrostatics_test, results_are_derivatives_of_the_energy) {
  for (const bool slab : {false, true}) {
    for (const char* method : {"spme", "esp"}) {
      SCOPED_TRACE(message(method, slab ? " slab" : ""));
      const auto of = random_case(31, {.points = 12, .slab = slab, .pairs = true});
      electrostatics_options options;
      options.method = method;
      options.accuracy = 1e-7;
      const auto found = compute_ewald(of, options);
      options.parameters = found.report.parameters;
      const double h = 1e-4;
      const auto slope = [&](const auto& change) {
        ewald_case<double> up = of, down = of;
        change(up, h);
        change(down, -h);
        return (compute_ewald(up, options).energy[0] - compute_ewald(down, options).energy[0]) / (2 * h);
      };
      for (int axis = 0; axis < 3; ++axis) {
        EXPECT_NEAR(found.forces[3][axis], -slope([&](auto& it, double by) { it.points[3][axis] += by; }), 2e-5);
      }
      EXPECT_NEAR(found.potentials[2], slope([&](auto& it, double by) { it.charges[2] += by; }), 1e-6);
      if (slab) continue;  // whose room depends on the cell
      for (const auto& [a, b] : {std::pair{0, 0}, {1, 1}, {0, 1}, {1, 2}, {2, 0}}) {
        const double strained = slope([&](auto& it, double by) {
          const auto strain = [&](vec<double, 3> x) {
            const vec<double, 3> old = x;
            x[a] += by / 2 * old[b];
            x[b] += by / 2 * old[a];
            return x;
          };
          for (auto& point : it.points) point = strain(point);
          const auto& cell = of.cells[0];
          it.cells = {make_lattice<double, 3>(
              strain(cell.origin), {strain(cell.vectors[0]), strain(cell.vectors[1]), strain(cell.vectors[2])},
              cell.periodic)};
        });
        EXPECT_NEAR(found.virial[static_cast<std::size_t>(3 * a + b)], -strained, 3e-5) << a << b;
      }
    }
  }
}

TEST_F(electrostatics_test, batches_equal_single_systems) {
  for (const char* method : {"spme", "esp", "direct"}) {
    SCOPED_TRACE(method);
    std::vector<ewald_case<double>> singles;
    ewald_case<double> all;
    std::size_t first = 0;
    for (const std::uint64_t seed : {41, 42, 43}) {
      singles.push_back(random_case(seed, {.points = 10 + 7 * (seed - 41), .pairs = true}));
      const auto& one = singles.back();
      all.cells.push_back(one.cells[0]);
      for (const auto& pair : one.pairs) {
        const auto shift = static_cast<particle_id>(first);
        all.pairs.push_back({pair.first + shift, pair.second + shift, pair.scale});
      }
      first += one.points.size();
      all.points.insert(all.points.end(), one.points.begin(), one.points.end());
      all.charges.insert(all.charges.end(), one.charges.begin(), one.charges.end());
      all.system_of_point.insert(all.system_of_point.end(), one.points.size(), static_cast<std::uint32_t>(seed - 41));
    }
    electrostatics_options options;
    options.method = method;
    options.accuracy = 1e-6;
    options.remove_net_force = true;
    const auto found = compute_ewald(all, options);
    options.parameters = found.report.parameters;
    options.method = std::string(found.report.method);
    first = 0;
    for (std::size_t s = 0; s < singles.size(); ++s) {
      const auto alone = compute_ewald(singles[s], options);
      EXPECT_NEAR(found.energy[s], alone.energy[0], 1e-10);
      for (std::size_t m = 0; m < 9; ++m) EXPECT_NEAR(found.virial[9 * s + m], alone.virial[m], 1e-9);
      for (std::size_t i = 0; i < alone.forces.size(); ++i) {
        EXPECT_LT(norm(found.forces[first + i] - alone.forces[i]), 1e-10) << i;
        EXPECT_NEAR(found.potentials[first + i], alone.potentials[i], 1e-10) << i;
      }
      first += alone.forces.size();
    }
  }
}

TEST_F(electrostatics_test, parts_add_up) {
  const auto of = random_case(51, {.slab = true, .pairs = true});
  electrostatics_options options;
  const auto whole = compute_ewald(of, options);
  options.parameters = whole.report.parameters;
  options.method = std::string(whole.report.method);
  options.parts = ewald_parts::short_range;
  const auto near = compute_ewald(of, options);
  options.parts = ewald_parts::long_range;
  const auto far = compute_ewald(of, options);
  EXPECT_NEAR(near.energy[0] + far.energy[0], whole.energy[0], 1e-11);
  for (std::size_t m = 0; m < 9; ++m) EXPECT_NEAR(near.virial[m] + far.virial[m], whole.virial[m], 1e-10);
  for (std::size_t i = 0; i < of.points.size(); ++i) {
    EXPECT_LT(norm(near.forces[i] + far.forces[i] - whole.forces[i]), 1e-11);
  }
}

TEST_F(electrostatics_test, forces_sum_up_to_nothing_where_asked_for) {
  const auto of = random_case(52, {});
  electrostatics_options options;
  options.method = "spme";
  options.accuracy = 1e-3;
  for (const bool remove : {false, true}) {
    options.remove_net_force = remove;
    vec<double, 3> sum{};
    for (const auto& force : compute_ewald(of, options).forces) sum += force;
    EXPECT_EQ(norm(sum) < 1e-12, remove) << norm(sum);
  }
}

TEST_F(electrostatics_test, float_is_as_accurate_as_asked_for) {
  const auto exact = random_case(53, {.points = 400, .pairs = true});
  ewald_case<float> of;
  for (const auto& point : exact.points) of.points.push_back(cast<float>(point));
  for (const double charge : exact.charges) of.charges.push_back(static_cast<float>(charge));
  const auto& cell = exact.cells[0];
  of.cells = {make_lattice<float, 3>(
      cast<float>(cell.origin),
      {cast<float>(cell.vectors[0]), cast<float>(cell.vectors[1]), cast<float>(cell.vectors[2])}, cell.periodic)};
  of.pairs = exact.pairs;
  ewald_case<double> same;  // what float has
  for (const auto& point : of.points) same.points.push_back(cast<double>(point));
  for (const float charge : of.charges) same.charges.push_back(static_cast<double>(charge));
  same.cells = {make_lattice<double, 3>(cast<double>(of.cells[0].origin),
                                        {cast<double>(of.cells[0].vectors[0]), cast<double>(of.cells[0].vectors[1]),
                                         cast<double>(of.cells[0].vectors[2])},
                                        cell.periodic)};
  same.pairs = of.pairs;
  const auto wanted = reference::ewald_sum(reference_of(same, pair_law::coulomb));
  const double unit = reference_of(same, pair_law::coulomb).reference_force();
  for (const char* method : {"spme", "esp"}) {
    for (const double accuracy : {1e-3, 1e-4}) {
      electrostatics_options options;
      options.method = method;
      options.accuracy = accuracy;
      const auto found = compute_ewald(of, options);
      double squares = 0;
      for (std::size_t i = 0; i < of.points.size(); ++i) {
        for (int axis = 0; axis < 3; ++axis) {
          const double difference =
              static_cast<double>(found.forces[i][axis]) - wanted.forces[i][static_cast<std::size_t>(axis)];
          squares += difference * difference;
        }
      }
      EXPECT_LT(std::sqrt(squares / static_cast<double>(of.points.size())), accuracy * unit) << method << accuracy;
    }
  }
}

TEST_F(electrostatics_test, the_same_bits_in_every_run_where_asked_for) {
  const auto of = random_case(54, {.points = 500, .pairs = true});
  for (const char* method : {"spme", "esp"}) {
    electrostatics_options options;
    options.method = method;
    options.accuracy = 1e-4;
    const auto first = compute_ewald(of, options, context_at(determinism::run_to_run));
    for (int repeat = 0; repeat < 3; ++repeat) {
      const auto again = compute_ewald(of, options, context_at(determinism::run_to_run, repeat + 1));
      EXPECT_EQ(first.energy, again.energy);
      EXPECT_EQ(first.virial, again.virial);
      EXPECT_TRUE(first.forces == again.forces);
      EXPECT_EQ(first.potentials, again.potentials);
    }
  }
}

TEST_F(electrostatics_test, moved_points_are_summed_without_allocating) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none);
  auto of = random_case(55, {.points = 300, .pairs = true});
  electrostatics_options options;
  options.method = "spme";
  electrostatics<backend_context, double> sums(context, options);
  ewald_arrays<double> arrays(context, of);
  sums.compute(arrays.input(), arrays.output());
  sums.compute_async(arrays.input(), arrays.output());
  sums.check();
  const std::size_t before = memory.allocations();
  auto moved = of;
  for (auto& point : moved.points) point[1] += 0.3;
  moved.points[7][0] += 0.05;
  arrays.move(moved.points);
  sums.compute_async(arrays.input(), arrays.output());
  sums.check();
  EXPECT_EQ(memory.allocations(), before);
  options.parameters = sums.report().parameters;
  const auto found = arrays.results();
  const auto wanted = compute_ewald(moved, options);
  EXPECT_NEAR(found.energy[0], wanted.energy[0], 1e-9);
  for (std::size_t i = 0; i < moved.points.size(); ++i) EXPECT_LT(norm(found.forces[i] - wanted.forces[i]), 1e-9);
}

#if QUADRAT_BACKEND_CUDA
TEST_F(electrostatics_test, a_graph_follows_the_points) {
  const cuda_context context;
  auto of = random_case(56, {.points = 300, .pairs = true});
  electrostatics<cuda_context, double> sums(context);
  ewald_arrays<double> arrays(context, of);
  sums.compute(arrays.input(), arrays.output());
  sums.compute_async(arrays.input(), arrays.output());
  cuda_graph graph;
  graph.capture(context, [&] { sums.compute_async(arrays.input(), arrays.output()); });
  auto moved = of;
  moved.points[7][0] += 0.05;
  arrays.move(moved.points);
  graph.launch(context);
  sums.check();
  electrostatics_options options;
  options.parameters = sums.report().parameters;
  options.method = std::string(sums.report().method);
  EXPECT_NEAR(arrays.results().energy[0], compute_ewald(moved, options).energy[0], 1e-9);
}
#endif

/// A GPU captures its work after some calls: nothing of an earlier one may be left in later results.
TEST_F(electrostatics_test, calls_in_a_row_give_what_a_new_object_gives) {
  for (const char* method : {"spme", "esp", "direct"}) {
    for (const bool slab : {false, true}) {
      if (slab && std::string_view(method) == "direct") continue;
      electrostatics_options options;
      options.method = method;
      options.accuracy = 1e-6;
      auto of = random_case(58, {.points = 60, .slab = slab, .pairs = true});
      electrostatics<backend_context, double> sums(backend_context{}, options);
      ewald_arrays<double> even(backend_context{}, of), odd(backend_context{}, of);
      for (int call = 0; call < 16; ++call) {
        SCOPED_TRACE(message(method, slab ? " slab" : "", " call ", call));
        of.points[3] += 0.01 * of.cells[0].vectors[0];
        if (call == 8) of.pairs.pop_back();
        auto& arrays = call % 2 == 0 ? even : odd;
        arrays.move(of.points);
        auto output = arrays.output();
        const bool virial = call == 0 || call == 7 || call == 15;
        if (!virial) output.virial = nullptr;
        sums.compute(arrays.input(), output);
        const auto found = arrays.results(), wanted = compute_ewald(of, options);
        EXPECT_NEAR(found.energy[0], wanted.energy[0], 1e-4);
        for (std::size_t i = 0; i < of.points.size(); ++i) {
          ASSERT_LT(norm(found.forces[i] - wanted.forces[i]), 1e-4) << i;
          ASSERT_NEAR(found.potentials[i], wanted.potentials[i], 1e-4) << i;
          ASSERT_NEAR(found.energies[i], wanted.energies[i], 1e-4) << i;
        }
        for (std::size_t m = 0; virial && m < 9; ++m) EXPECT_NEAR(found.virial[m], wanted.virial[m], 1e-3) << m;
      }
    }
  }
}

TEST_F(electrostatics_test, cells_may_change_from_call_to_call) {
  auto of = random_case(57, {.points = 60});
  electrostatics<backend_context, double> sums(backend_context{});
  for (const double scale : {1.0, 1.001, 1.01, 2.0, 0.4}) {
    ewald_case<double> scaled = of;
    for (auto& point : scaled.points) point = scale * point;
    const auto& cell = of.cells[0];
    scaled.cells = {make_lattice<double, 3>(scale * cell.origin,
                                            {scale * cell.vectors[0], scale * cell.vectors[1], scale * cell.vectors[2]},
                                            cell.periodic)};
    ewald_arrays<double> arrays(backend_context{}, scaled);
    sums.compute(arrays.input(), arrays.output());
    const auto wanted = reference::ewald_sum(reference_of(scaled, pair_law::coulomb));
    EXPECT_NEAR(arrays.results().energy[0] / wanted.energy, 1, 1e-4) << scale;
    EXPECT_LE(sums.report().error, 1e-5) << scale;
  }
}

TEST_F(electrostatics_test, no_points_and_one_point) {
  for (const char* method : {"spme", "esp", "direct"}) {
    electrostatics_options options;
    options.method = method;
    ewald_case<double> of;
    of.cells = {cell_of({2, 0, 0}, {0, 2, 0}, {0, 0, 2})};
    auto found = compute_ewald(of, options);
    EXPECT_EQ(found.energy[0], 0) << method;
    of.points = {{0.5, 1.5, 7}};
    of.charges = {3};
    found = compute_ewald(of, options);
    // A charge in its background: Wigner's constant.
    EXPECT_NEAR(found.energy[0], -2.837297479480620 / 2 * 9 / 2, 1e-3) << method;
    EXPECT_LT(norm(found.forces[0]), 1e-3) << method;
    of.charges = {0};
    EXPECT_EQ(compute_ewald(of, options).energy[0], 0) << method;
  }
}

TEST_F(electrostatics_test, bad_points_are_named) {
  const auto of = random_case(58, {.points = 50, .slab = true});
  const auto message_of = [&](const auto& change) {
    ewald_case<double> bad = of;
    change(bad);
    return error_of<data_error>([&] { static_cast<void>(compute_ewald(bad, {})); });
  };
  const double infinity = std::numeric_limits<double>::infinity();
  expect_words(message_of([](auto& it) { it.points[7][1] = std::nan(""); }), {"point 7", "not finite"});
  expect_words(message_of([&](auto& it) { it.points[8][2] = -infinity; }), {"point 8", "not finite"});
  expect_words(message_of([&](auto& it) { it.charges[9] = infinity; }), {"charge of point 9", "finite"});
  expect_words(message_of([&](auto& it) { it.points[11] += 2 * it.cells[0].vectors[2]; }), {"point 11", "outside"});
  expect_words(message_of([](auto& it) { it.points[12] = it.points[20]; }), {"same place", "excluded"});
  EXPECT_EQ(error_of<data_error>([&] {
              ewald_case<double> excluded = of;
              excluded.points[12] = excluded.points[20];
              excluded.pairs = {{20, 12, 0}};
              static_cast<void>(compute_ewald(excluded, {}));
            }),
            "no error");
}

TEST_F(electrostatics_test, impossible_input_is_refused) {
  const auto of = random_case(59, {.points = 50});
  const auto message_of = [&](const auto& change) {
    ewald_case<double> bad = of;
    change(bad);
    return error_of<argument_error>([&] { static_cast<void>(compute_ewald(bad, {})); });
  };
  expect_words(message_of([](auto& it) { it.pairs = {{3, 50, 0}}; }), {"point 50", "50 points"});
  expect_words(message_of([](auto& it) { it.pairs = {{3, 3, 0}}; }), {"point 3 with itself"});
  expect_words(message_of([](auto& it) { it.pairs = {{3, 4, 0}, {4, 3, 1}}; }), {"3 and 4", "twice"});
  expect_words(message_of([](auto& it) { it.pairs = {{3, 4, std::nan("")}}; }), {"scale", "finite"});
  expect_words(message_of([](auto& it) { it.cells.clear(); }), {"no cell"});
  expect_words(message_of([](auto& it) { it.cells.push_back(it.cells[0]); }), {"2 boxes", "system of each point"});
  expect_words(message_of([](auto& it) { it.cells[0].periodic = {true, false, true}; }), {"open along vector 1"});
  const auto options_error = [](const electrostatics_options& options) {
    return error_of<argument_error>([&] { electrostatics<backend_context, double>(backend_context{}, options); });
  };
  expect_words(options_error({.accuracy = 0}), {"accuracy is 0"});
  expect_words(options_error({.accuracy = std::nan("")}), {"accuracy"});
  expect_words(options_error({.method = "smpe"}), {"smpe", "spme"});
  expect_words(options_error({.law = pair_law::dispersion, .method = "esp"}), {"esp", "spme"});
  expect_words(options_error({.coulomb_constant = std::nan("")}), {"constant"});
  expect_words(options_error({.parameters = {.cutoff = -1}}), {"cutoff is -1"});
  expect_words(options_error({.parameters = {.order = 9}}), {"order is 9", "3 to 8"});
}

TEST_F(electrostatics_test, asynchronous_calls_need_what_was_prepared) {
  const auto of = random_case(60, {.points = 50});
  electrostatics<backend_context, double> sums(backend_context{});
  ewald_arrays<double> arrays(backend_context{}, of);
  expect_words(error_of<argument_error>([&] { sums.compute_async(arrays.input(), arrays.output()); }), {"prepare"});
  sums.prepare(arrays.input());
  auto fewer = arrays.input();
  fewer.points.count = 49;
  expect_words(error_of<argument_error>([&] { sums.compute_async(fewer, arrays.output()); }), {"number of points"});
  auto bad = of.points;
  bad[13][0] = std::nan("");
  arrays.move(bad);
  expect_words(late_error(sums, [&] { sums.compute_async(arrays.input(), arrays.output()); }), {"point 13"});
  arrays.move(of.points);
  sums.compute_async(arrays.input(), arrays.output());
  sums.check();
}

TEST_F(electrostatics_test, an_object_may_go_before_its_last_call_has_ended) {
  const auto of = random_case(61, {.points = 300});
  const backend_context context;
  ewald_arrays<double> arrays(context, of);
  {
    electrostatics<backend_context, double> sums(context);
    sums.prepare(arrays.input());
    for (int call = 0; call < 8; ++call) sums.compute_async(arrays.input(), arrays.output());
  }
  array<double, backend_context> others(context, 1 << 20);  // may get the memory that was released
  fill_bytes(context, others.data(), 0xff, others.bytes());
  const auto found = arrays.results(), wanted = compute_ewald(of, {});
  for (std::size_t i = 0; i < of.points.size(); ++i) ASSERT_LT(norm(found.forces[i] - wanted.forces[i]), 1e-6) << i;
}

}  // namespace

}  // namespace quadrat::test

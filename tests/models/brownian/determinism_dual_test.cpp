// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include "models/brownian/support.hpp"
#include "quadrat/models/brownian.hpp"

// The same bits again; stopping and continuing a run.

namespace quadrat::test {

namespace {

template <typename T>
class brownian_determinism : public backend_test {};
TYPED_TEST_SUITE(brownian_determinism, brownian_precisions);

template <typename T>
void expect_same_spheres(const brownian_state<T>& a, const brownian_state<T>& b, const std::string& what) {
  EXPECT_EQ(a.step, b.step) << what;
  EXPECT_TRUE(a.positions == b.positions) << what;
  EXPECT_TRUE(a.images == b.images) << what;
  EXPECT_TRUE(a.origins == b.origins) << what;
}

[[nodiscard]] std::vector<brownian_options> every_brownian_kind(std::size_t count) {
  std::vector<brownian_options> result;
  for (const char* const method : {"split", "krylov", "free"}) {
    for (const brownian_scheme scheme : {brownian_scheme::euler_maruyama, brownian_scheme::midpoint}) {
      brownian_options options = crowd(count);
      options.method = method;
      options.scheme = scheme;
      result.push_back(options);
    }
  }
  return result;
}

[[nodiscard]] std::string brownian_kind_text(const brownian_options& options) {
  return options.method + " " + std::string(brownian_scheme_names[static_cast<std::size_t>(options.scheme)]);
}

TYPED_TEST(brownian_determinism, gives_the_same_bits_again_with_any_number_of_threads) {
  using T = TypeParam;
  for (const brownian_options& options : every_brownian_kind(50)) {
    const auto start = brownian_positions(options, brownian_start::lattice, 50);
    brownian<backend_context, T> first(brownian_context(), options, start);
    first.advance(4);
    for (const int threads : {1, 2, 3}) {
      brownian<backend_context, T> again(brownian_context(determinism::run_to_run, threads), options, start);
      again.advance(1);
      again.advance(3);
      expect_same_spheres(again.state(), first.state(), brownian_kind_text(options));
      EXPECT_EQ(again.measure().short_time_diffusion, first.measure().short_time_diffusion)
          << brownian_kind_text(options);
      EXPECT_EQ(again.measure().energy, first.measure().energy) << brownian_kind_text(options);
    }
  }
}

TYPED_TEST(brownian_determinism, goes_on_from_a_state_with_the_same_bits) {
  using T = TypeParam;
  for (const brownian_options& options : every_brownian_kind(50)) {
    const auto start = brownian_positions(options, brownian_start::chains, 50, 4);
    brownian<backend_context, T> simulation(brownian_context(), options, start);
    simulation.advance(3);
    const auto halfway = simulation.state();
    simulation.advance(3);
    brownian<backend_context, T> other(brownian_context(), options, start);
    other.advance(1);
    other.restore(halfway);
    expect_same_spheres(other.state(), halfway, brownian_kind_text(options));
    other.advance(3);
    expect_same_spheres(other.state(), simulation.state(), brownian_kind_text(options));
    EXPECT_EQ(other.measure().mean_square_displacement, simulation.measure().mean_square_displacement);
  }
}

TYPED_TEST(brownian_determinism, is_not_disturbed_by_looking) {
  using T = TypeParam;
  for (const brownian_options& options : every_brownian_kind(50)) {
    const auto start = brownian_positions(options, brownian_start::chains, 50, 4);
    brownian<backend_context, T> simulation(brownian_context(), options, start);
    brownian<backend_context, T> looked_at(brownian_context(), options, start);
    for (int i = 0; i < 3; ++i) {
      simulation.advance(1);
      static_cast<void>(looked_at.measure());
      static_cast<void>(looked_at.forces());
      looked_at.advance(1);
      static_cast<void>(looked_at.displacements());
    }
    expect_same_spheres(looked_at.state(), simulation.state(), brownian_kind_text(options));
  }
}

TYPED_TEST(brownian_determinism, differs_with_another_seed) {
  using T = TypeParam;
  for (brownian_options options : every_brownian_kind(20)) {
    const auto start = brownian_positions(options, brownian_start::lattice, 20);
    brownian<backend_context, T> simulation(brownian_context(), options, start);
    options.seed += std::uint64_t{1} << 32;
    brownian<backend_context, T> other(brownian_context(), options, start);
    simulation.advance(1);
    other.advance(1);
    EXPECT_FALSE(simulation.positions() == other.positions()) << brownian_kind_text(options);
  }
}

}  // namespace

}  // namespace quadrat::test

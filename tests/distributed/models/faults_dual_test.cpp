// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "distributed/models/brownian.hpp"
#include "distributed/models/circles.hpp"
#include "distributed/models/electrolyte.hpp"
#include "distributed/models/friction.hpp"
#include "distributed/models/granular.hpp"
#include "distributed/models/srd.hpp"
#include "distributed/models/toy.hpp"
#include "quadrat/distributed/in_process.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"

// After a fault, all models over ranks behave in one way.

namespace quadrat::test {

namespace {

/// For each model, a run that blows up within a few steps.
struct granular_blow_up {
  static auto model(communicator& ranks) {
    granular_scene_of_ranks scene(300, 26, {1, 1, 1});
    scene.options.parameters.spring = 1e4;
    return distributed_granular<backend_context, float>(
        context_of_rank(), ranks, scene.options, ranks.rank() == 0 ? scene.positions : std::vector<vec<double, 3>>());
  }
};

struct friction_blow_up {
  static auto model(communicator& ranks) {
    friction_scene_of_ranks scene(100, 13, {18, 9, 9});
    scene.velocities[71] = {0, 0, 400};
    return friction_on<double>(ranks, scene);
  }
};

struct circles_blow_up {
  static auto model(communicator& ranks) {
    circles_scene_of_ranks<2> scene(circles_form::sine, 12, 300);
    scene.options.parameters.force = 1e38;
    return distributed_circles<backend_context, float, 2>(
        context_of_rank(), ranks, scene.options, ranks.rank() == 0 ? scene.positions : std::vector<vec<double, 2>>());
  }
};

struct srd_blow_up {
  static auto model(communicator& ranks) {
    srd_scene_of_ranks<3> scene({6, 6, 6}, {true, false, true}, 1000);
    scene.options.acceleration = {1e4, 0, 0};
    return distributed_srd<backend_context, float, 3>(context_of_rank(), ranks, scene.options,
                                                      ranks.rank() == 0 ? scene.particles : srd_particles<3>());
  }
};

struct brownian_blow_up {
  static auto model(communicator& ranks) {
    brownian_options options = spheres_for_ranks(16, {9, 10, 11});
    options.time_step = 200;
    return distributed_brownian<backend_context, double>(
        context_of_rank(), ranks, options,
        ranks.rank() == 0 ? places_for_ranks(options, 16) : std::vector<vec<double, 3>>());
  }
};

struct electrolyte_blow_up {
  static auto model(communicator& ranks) {
    electrolyte_options options = ions_for_ranks(12, {6, 7, 8});
    options.time_step = 30;
    return distributed_electrolyte<backend_context, double>(
        context_of_rank(), ranks, options, ranks.rank() == 0 ? electrolyte_start(options) : electrolyte_particles());
  }
};

struct toy_blow_up {
  static auto model(communicator& ranks) {
    return distributed_toy<>(context_of_rank(), ranks, {}, ranks.rank() == 0 ? toys_for_ranks(50, 2e3) : toy_state());
  }
};

using all_blow_ups = testing::Types<granular_blow_up, friction_blow_up, circles_blow_up, srd_blow_up, brownian_blow_up,
                                    electrolyte_blow_up, toy_blow_up>;

template <typename Model>
[[nodiscard]] bool is_sound(Model& model) {
  try {
    model.check();
  } catch (const data_error&) {
    return false;
  }
  return true;
}

template <typename Run>
class fault_ranks_test : public backend_test {};
TYPED_TEST_SUITE(fault_ranks_test, all_blow_ups);

TYPED_TEST(fault_ranks_test, a_run_ends_at_the_step_of_its_first_fault_on_all_ranks) {
  for (const int count : {1, 3}) {
    run_ranks(count, [](communicator& ranks) {
      auto model = TypeParam::model(ranks);
      const auto start = model.state();
      while (is_sound(model) && model.step() < 60) model.advance(5);
      const std::string words = error_of<data_error>([&] { model.check(); });
      const std::uint64_t end = model.step();
      EXPECT_LT(end, 60u);
      expect_words(words, {"blew up in step " + std::to_string(end) + ":"});
      EXPECT_EQ(all_values(ranks, std::hash<std::string>()(words)),
                std::vector<std::size_t>(static_cast<std::size_t>(ranks.size()), std::hash<std::string>()(words)));
      EXPECT_EQ(model.advance(7, [] { return 3; }), 0);
      EXPECT_EQ(model.step(), end);
      EXPECT_EQ(error_of<data_error>([&] { model.check(); }), words);
      EXPECT_EQ(error_of<data_error>([&] { static_cast<void>(model.state()); }), words);
      // A restored state is valid until it blows up as well.
      model.restore(start);
      EXPECT_NO_THROW(model.check());
      EXPECT_EQ(model.step(), 0u);
      for (std::uint64_t step = 1; step < end; ++step) {
        model.advance(1);
        EXPECT_EQ(model.step(), step);
        EXPECT_NO_THROW(model.check());
      }
      model.advance(5);
      EXPECT_EQ(model.step(), end);
    });
  }
}

}  // namespace

}  // namespace quadrat::test

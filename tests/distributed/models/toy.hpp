// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "distributed/small_system.hpp"
#include "models/ranks/ranked_steps.hpp"
#include "models/ranks/traveling_ghosts.hpp"
#include "models/run_fault.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "support/random.hpp"

// The smallest model over ranks: particles that a spring pulls to the middle of an open plane, and that others nearby
// slow down. The number of these is an integer, so that all ranks together have the bits of one.

namespace quadrat::test {

struct toy_particle {
  vec<double, 2> position, velocity;
  std::uint64_t id;
};

inline constexpr double toy_reach = 0.8, toy_skin = 0.5;

/// Steps of the particle's velocity and position. Those that are too fast raise the fault.
struct pull_toy {
  toy_particle* particles;
  detail::run_fault fault;
  std::uint64_t step;

  QUADRAT_HD void operator()(std::size_t i) const {
    toy_particle& self = particles[i];
    self.velocity = self.velocity - self.position * 0.01;
    self.position = self.position + self.velocity * 0.1;
    if (!(squared_norm(self.velocity) < 1e6)) fault.raise(step, static_cast<particle_id>(self.id));
  }
};

/// Tries all pairs.
struct slow_toy {
  toy_particle* particles;
  std::size_t all;

  QUADRAT_HD void operator()(std::size_t i) const {
    double near = 0;
    for (std::size_t j = 0; j < all; ++j) {
      const vec<double, 2> apart = particles[j].position - particles[i].position;
      if (squared_norm(apart) < toy_reach * toy_reach) near += 1;
    }
    particles[i].velocity = particles[i].velocity * (1 - 0.001 * near);
  }
};

struct toy_options {
  std::uint64_t lost_at = 0;  ///< the step in which all ranks find bad data
};

struct toy_state {
  std::uint64_t step = 0;
  std::vector<vec<double, 2>> positions{}, velocities{};
};

[[nodiscard]] inline std::vector<toy_particle> toys_of(const toy_state& state, std::size_t first) {
  std::vector<toy_particle> result;
  for (std::size_t i = 0; i < state.positions.size(); ++i) {
    result.push_back({state.positions[i], state.velocities[i], first + i});
  }
  return result;
}

/// The model on one rank.
class toy {
 public:
  toy(const backend_context& context, const toy_options& options, toy_state state)
      : context_(context), options_(options), state_(std::move(state)) {}

  void advance(std::size_t steps) {
    auto particles = to_device(context_, toys_of(state_, 0));
    auto fault = to_device(context_, std::vector<std::uint64_t>{detail::no_run_fault});
    for (std::size_t k = 0; k < steps; ++k) {
      for_each(context_, "toy.pull", size(), pull_toy{particles.data(), {fault.data()}, ++state_.step});
      for_each(context_, "toy.slow", size(), slow_toy{particles.data(), size()});
    }
    const auto found = to_host(context_, particles);
    detail::place_by_id(found, &toy_particle::position, state_.positions);
    detail::place_by_id(found, &toy_particle::velocity, state_.velocities);
  }
  [[nodiscard]] toy_state state() { return state_; }
  [[nodiscard]] double measure() { return state_.positions.empty() ? 0 : state_.positions[0][0]; }
  void restore(const toy_state& state) { state_ = state; }
  [[nodiscard]] std::size_t size() const { return state_.positions.size(); }
  [[nodiscard]] std::size_t bytes() const { return 0; }
  [[nodiscard]] const toy_options& options() const { return options_; }
  [[nodiscard]] const backend_context& context() const { return context_; }

 private:
  backend_context context_;
  toy_options options_;
  toy_state state_;
};

/// The particles of one rank: all that a new model has to write. `Ahead`: steps that may be enqueued before the host
/// looks whether they are whole, as where devices agree among themselves.
template <std::size_t Ahead>
class toys_of_rank : public detail::particles_of_rank<backend_context, double, 2> {
 public:
  using whole_type = toy;

  toys_of_rank(const backend_context& context, communicator& ranks, const toy_options& options)
      : particles_of_rank(context, ranks, make_grid(make_box<double, 2>({-8, -8}, {8, 8}, {false, false}), {16, 16})),
        options_(options),
        ghosts_(context, ranks, exchange_) {}

  void load(const toy_state& state, std::size_t first) {
    const auto mine = toys_of(state, first);
    own_ = mine.size();
    particles_ = to_device(context_, mine);
  }
  [[nodiscard]] points_view<double, 2> points() const {
    return detail::points_of_records<double, 2>(particles_.data(), own_);
  }
  void start() { exchange(true); }
  [[nodiscard]] bool move(bool /*more*/) {
    for_each(context_, "toy.pull", own_, pull_toy{particles_.data(), {faults_.data()}, step_ + 1});
    return far_from(detail::points_of_records<double, 2>(before_.data(), own_), points(), toy_skin, "toy.moved");
  }
  void exchange(bool /*balanced*/) {
    exchange_.leave(points());
    own_ = exchange_.arriving();
    exchange_.travel(std::tie(particles_));
    ghosts_.choose(points(), {toy_reach + toy_skin});
    detail::make_room(context_, particles_, own_, own_ + ghosts_.number());
    before_.resize_discarding(context_, own_);
    copy_bytes(context_, particles_.data(), before_.data(), own_ * sizeof(toy_particle));
  }
  void finish(bool /*more*/) {
    if (step_ + 1 == options_.lost_at) throw data_error("particle 17 is lost", 17);
    ghosts_.fetch(particles_);
    for_each(context_, "toy.slow", own_, slow_toy{particles_.data(), own_ + ghosts_.number()});
  }
  static void throw_fault(std::uint64_t word) {
    if (word == detail::no_run_fault) return;
    const auto which = static_cast<std::size_t>(word & 0xffffffffu);
    throw data_error(message("the run blew up in step ", word >> 32, ": particle ", which), which);
  }
  void gather(toy_state& state) {
    const auto all = detail::gathered(ranks_, to_host(context_, particles_.data(), own_));
    detail::place_by_id(all, &toy_particle::position, state.positions);
    detail::place_by_id(all, &toy_particle::velocity, state.velocities);
  }
  [[nodiscard]] rank_report report() const { return exchange_.report(own_, ghosts_.number()); }
  [[nodiscard]] std::size_t bytes() const { return particles_.bytes() + before_.bytes() + ghosts_.bytes(); }

  // With steps ahead. Here the host knows at once which step is not whole; a device would tell it later.
  [[nodiscard]] std::size_t ahead() const { return step_ % 7 == 0 ? 1 : Ahead; }
  void move_ahead()
    requires(Ahead > 1)
  {
    if (halted_) return;
    const bool far = move(true);
    for (const int one : all_values(ranks_, far ? 1 : 0)) {
      if (one != 0) halted_ = step_;
    }
    if (!halted_) finish(true);
  }
  [[nodiscard]] bool is_whole(std::uint64_t step) const { return halted_ != step; }
  void redo()
    requires(Ahead > 1)
  {
    halted_.reset();
  }

 private:
  toy_options options_;
  detail::traveling_ghosts<backend_context, double, 2> ghosts_;
  array<toy_particle, backend_context> particles_, before_;
  std::optional<std::uint64_t> halted_;
};

template <std::size_t Ahead = 1>
class distributed_toy : public distributed_model<toy> {
 public:
  using steps_type = detail::ranked_steps<toys_of_rank<Ahead>>;

  distributed_toy(const backend_context& context, communicator& ranks, const toy_options& options,
                  const toy_state& given)
      : distributed_model<toy>(context, ranks, parts(context, ranks, options, given)) {}

 private:
  static detail::parts_of_model<toy> parts(const backend_context& context, communicator& ranks,
                                           const toy_options& options, const toy_state& given) {
    detail::parts_of_model<toy> result{options, all_values(ranks, given.positions.size())[0]};
    result.whole = detail::whole_on_rank_0<toy>(ranks, "particles", given.positions.size(), context, options, given);
    result.share = std::make_unique<steps_type>(context, ranks, options);
    return result;
  }
};

/// Some that stay, and some that fly through the plane; `fastest`: the speed of the last one.
[[nodiscard]] inline toy_state toys_for_ranks(std::size_t count, double fastest = 3) {
  std::mt19937_64 random(3);
  toy_state state;
  const auto inside = [&] { return 10 * random_unit<double>(random) - 5; };
  for (std::size_t i = 0; i < count; ++i) {
    state.positions.push_back({inside(), inside()});
    state.velocities.push_back({0.3 * inside(), 0.1 * inside()});
  }
  if (count > 0) state.velocities.back()[0] = fastest;
  return state;
}

/// Takes steps in several calls on all ranks and on one; all must agree in every bit.
template <std::size_t Ahead>
void check_toys(communicator& ranks, std::size_t count) {
  const toy_state start = toys_for_ranks(count);
  const bool root = ranks.rank() == 0;
  toy alone(context_of_rank(), {}, start);
  distributed_toy<Ahead> model(context_of_rank(), ranks, {}, root ? start : toy_state());
  for (const std::size_t steps : {1u, 9u, 50u}) {
    alone.advance(steps);
    model.advance(steps);
    const toy_state state = model.state(), expected = alone.state();
    expect(!root || (state.step == expected.step && state.positions == expected.positions &&
                     state.velocities == expected.velocities),
           count, " particles of step ", expected.step, " differ from those of one rank");
    expect(model.measure() == alone.measure(), "the measurement of step ", expected.step, " differs");
  }
  const std::uint64_t exchanges = model.report()[0].exchanges;
  expect(count < 100 || (exchanges > 3 && exchanges < 60), "there were ", exchanges, " exchanges");
}

}  // namespace quadrat::test

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/models/distributed_granular.hpp"

/// One program on several ranks: rank 0 runs as a rank alone does, with a model that passes each call on; the others do
/// what it says. So only rank 0 reads signals, writes files and prints.
namespace quadrat::program {

/// What rank 0 asks of all.
struct rank_order {
  enum class kind : std::uint64_t { end, advance, check, measure, state, restore, report };
  kind what = kind::end;
  std::uint64_t steps = 0;
};

/// The granular model as rank 0 has it. When it is destroyed, the others end.
template <typename Context, typename T>
class led_granular {
 public:
  using model_type = distributed_granular<Context, T>;

  led_granular(std::unique_ptr<communicator> owned, communicator& ranks, model_type model)
      : owned_(std::move(owned)), ranks_(&ranks), model_(std::move(model)) {}
  led_granular(led_granular&& other) noexcept
      : owned_(std::move(other.owned_)),
        ranks_(std::exchange(other.ranks_, nullptr)),
        model_(std::move(other.model_)),
        state_(std::move(other.state_)) {}
  led_granular& operator=(led_granular&&) = delete;
  ~led_granular() {
    if (ranks_ == nullptr) return;
    try {
      order(rank_order::kind::end);
    } catch (const error&) {
      // A rank has failed: there is nobody to tell.
    }
  }

  void advance(std::size_t steps) {
    state_.reset();
    order(rank_order::kind::advance, steps);
    model_.advance(steps);
  }
  void check() {
    order(rank_order::kind::check);
    model_.check();
  }
  [[nodiscard]] granular_statistics measure() {
    order(rank_order::kind::measure);
    return model_.measure();
  }
  [[nodiscard]] granular_state<T> state() {
    if (!state_) {
      order(rank_order::kind::state);
      state_ = model_.state();
    }
    return *state_;
  }
  [[nodiscard]] std::vector<vec<T, 3>> positions() { return state().positions; }
  [[nodiscard]] std::vector<vec<T, 3>> velocities() { return state().velocities; }
  void restore(const granular_state<T>& given) {
    state_.reset();
    order(rank_order::kind::restore);
    model_.restore(given);
  }
  [[nodiscard]] std::vector<granular_rank_report> report() {
    order(rank_order::kind::report);
    return model_.report();
  }

  [[nodiscard]] std::uint64_t step() const { return model_.step(); }
  [[nodiscard]] std::size_t size() const { return model_.size(); }
  [[nodiscard]] std::size_t bytes() const { return model_.bytes(); }
  [[nodiscard]] const granular_options& options() const { return model_.options(); }
  [[nodiscard]] const Context& context() const { return model_.context(); }

 private:
  void order(rank_order::kind what, std::uint64_t steps = 0) {
    static_cast<void>(all_values(*ranks_, rank_order{what, steps}));
  }

  std::unique_ptr<communicator> owned_;  ///< around another, or none
  communicator* ranks_;
  model_type model_;
  std::optional<granular_state<T>> state_;  ///< of this step, if it has been asked for
};

/// What the other ranks do, until rank 0 ends. Errors in the data are all ranks' errors: rank 0 deals with them.
template <typename Context, typename T>
void follow(communicator& ranks, distributed_granular<Context, T>& model) {
  const auto obey = [&](const rank_order& order) {
    switch (order.what) {
      case rank_order::kind::advance:
        return model.advance(order.steps);
      case rank_order::kind::check:
        return model.check();
      case rank_order::kind::measure:
        return static_cast<void>(model.measure());
      case rank_order::kind::state:
        return static_cast<void>(model.state());
      case rank_order::kind::restore:
        return model.restore({});
      case rank_order::kind::report:
        return static_cast<void>(model.report());
      case rank_order::kind::end:
        return;
    }
  };
  for (;;) {
    const rank_order order = all_values(ranks, rank_order())[0];
    if (order.what == rank_order::kind::end) return;
    try {
      obey(order);
    } catch (const data_error&) {
    } catch (const argument_error&) {
    }
  }
}

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "program/process/interruption.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/communicator.hpp"

/// Runs one program on several ranks. Rank 0 runs as a single rank does, but with a model that passes each call on to
/// all ranks; the others follow. So only rank 0 decides and prints. Files are written by all ranks (shared_files.hpp)
/// or by rank 0. A signal on any rank stops all ranks after the step.
namespace quadrat::program {

/// An order of rank 0 to all ranks.
struct rank_order {
  enum class kind : std::uint64_t { end, advance, check, measure, whole, state, restore, report, task };
  kind what = kind::end;
  std::uint64_t steps = 0;  ///< or the number of a task
};

/// Work of all ranks together besides steps of the model, by the task's number.
using rank_task = std::function<void(std::uint64_t)>;

/// A model over ranks that can give the model of one rank on rank 0 (distributed_model).
template <typename Model>
concept has_whole = requires(Model& model) { model.whole(); };

/// A model over ranks, as rank 0 sees it. Its destructor makes the other ranks end.
template <typename Model>
class led {
 public:
  using model_type = Model;
  using state_type = decltype(std::declval<Model&>().state());

  led(std::unique_ptr<communicator> owned, communicator& ranks, Model model)
      : owned_(std::move(owned)), ranks_(&ranks), model_(std::move(model)) {}
  led(led&& other) noexcept
      : owned_(std::move(other.owned_)),
        ranks_(std::exchange(other.ranks_, nullptr)),
        model_(std::move(other.model_)),
        state_(std::move(other.state_)) {}
  led& operator=(led&&) = delete;
  ~led() {
    if (ranks_ == nullptr) return;
    try {
      order(rank_order::kind::end);
    } catch (const error&) {
      // A rank has failed, and cannot be told to end.
    }
  }

  void advance(std::size_t steps) {
    state_.reset();
    order(rank_order::kind::advance, steps);
    ask_to_stop(model_.advance(steps, asked_to_stop));
  }
  void check() {
    order(rank_order::kind::check);
    model_.check();
  }
  [[nodiscard]] auto measure() {
    order(rank_order::kind::measure);
    return model_.measure();
  }
  [[nodiscard]] state_type state() {
    if (!state_) {
      order(rank_order::kind::state);
      state_ = model_.state();
    }
    return *state_;
  }
  /// The model of one rank at this step, for reading; if there is none, this object.
  [[nodiscard]] auto& shown() {
    if constexpr (has_whole<Model>) {
      order(rank_order::kind::whole);
      return *model_.whole();
    } else {
      return *this;
    }
  }
  [[nodiscard]] auto positions() { return state().positions; }
  [[nodiscard]] auto velocities() { return state().velocities; }
  void restore(const state_type& given) {
    state_.reset();
    order(rank_order::kind::restore);
    model_.restore(given);
  }
  /// `perform` does the task with this rank's model.
  template <typename Perform>
  void task(std::uint64_t number, const Perform& perform) {
    state_.reset();
    order(rank_order::kind::task, number);
    perform(model_);
  }
  [[nodiscard]] std::vector<rank_report> report() {
    order(rank_order::kind::report);
    return model_.report();
  }

  [[nodiscard]] std::uint64_t step() const { return model_.step(); }
  [[nodiscard]] std::size_t size() const { return model_.size(); }
  [[nodiscard]] std::size_t bytes() const { return model_.bytes(); }
  /// This rank's model, for what needs no other rank.
  [[nodiscard]] const Model& of_this_rank() const { return model_; }
  [[nodiscard]] const auto& options() const { return model_.options(); }
  [[nodiscard]] const auto& context() const { return model_.context(); }

 private:
  void order(rank_order::kind what, std::uint64_t steps = 0) {
    static_cast<void>(all_values(*ranks_, rank_order{what, steps}));
  }

  std::unique_ptr<communicator> owned_;  ///< wraps another communicator; may be empty
  communicator* ranks_;
  Model model_;
  std::optional<state_type> state_;  ///< of this step, if it was requested
};

/// Follows the orders of rank 0 until it ends. All ranks throw errors in data and files alike, and rank 0 handles them.
template <typename Model>
void follow(communicator& ranks, Model& model, const rank_task& task = {}) {
  const auto obey = [&](const rank_order& order) {
    switch (order.what) {
      case rank_order::kind::advance:
        return static_cast<void>(model.advance(order.steps, asked_to_stop));
      case rank_order::kind::check:
        return model.check();
      case rank_order::kind::measure:
        return static_cast<void>(model.measure());
      case rank_order::kind::whole:
        if constexpr (has_whole<Model>) static_cast<void>(model.whole());
        return;
      case rank_order::kind::state:
        return static_cast<void>(model.state());
      case rank_order::kind::restore:
        return model.restore({});
      case rank_order::kind::report:
        return static_cast<void>(model.report());
      case rank_order::kind::task:
        return task(order.steps);
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
    } catch (const io_error&) {
    }
  }
}

}  // namespace quadrat::program

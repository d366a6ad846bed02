// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "quadrat/core/error.hpp"
#include "tune/online_choice.hpp"
#include "tune/round_trials.hpp"

namespace quadrat::detail {

/// Steps that are enqueued as one graph.
inline constexpr std::uint64_t late_batch = 16;

/// Of trials whose times arrive late, where a step is expected to take so long. Few steps are timed together, unless
/// they are so short that it takes batches: then a first batch makes buffers and the graphs of single steps, a second
/// one that of batches. A trial may also take what a look at the load does, and what it takes to make all these.
[[nodiscard]] inline online_limits late_limits(double step_ms) {
  constexpr double enough_ms = 0.4;
  online_limits limits;
  limits.timing_ms = trial_timing_ms_on_cuda;
  limits.looking_ms = 0.1;
  limits.making_ms = 1;
  const double steps = std::isfinite(step_ms) ? std::ceil(enough_ms / step_ms) : late_batch;
  limits.piece_steps = static_cast<std::uint64_t>(std::clamp<double>(steps, 4, late_batch));
  limits.arrival = limits.piece_steps < late_batch ? 4 : 2 * late_batch;
  return limits;
}

/// The times of a run's steps, which arrive late, as those of a GPU do, and which nobody waits for; and by which way
/// how many steps are enqueued next. The steps of a trial are enqueued at once; then the way of before serves until
/// their times are known.
template <typename Context>
class late_times {
 public:
  /// Steps that are enqueued together.
  struct stretch {
    std::size_t way;
    std::size_t steps;
    bool timed;
    bool first_of_trial;
  };

  late_times() = default;
  late_times(const late_times&) = delete;
  late_times& operator=(const late_times&) = delete;
  ~late_times() { clear(); }

  void clear() {
    for (const flying& one : flying_) forget(one);
    flying_.clear();
    stage_ = stage::resting;
    enqueued_ = untold_ = 0;
  }

  /// Hands on what is known, and returns what to do next, of at most `left` steps, from step `at` on. `hold`: the load
  /// is being looked at, which a trial waits for.
  [[nodiscard]] stretch next(const Context& context, online_choice& choice, std::uint64_t at, std::size_t left,
                             bool hold) {
    collect(context, choice, at, hold);
    const stage now = choice.trying() ? stage::trying : (choice.measuring() ? stage::measuring : stage::resting);
    if (now != stage_) enqueued_ = 0;
    stage_ = now;
    if (now == stage::resting) {
      const std::size_t steps = portion(left, 6 * late_batch);
      return {choice.current(), steps, flying_.size() < most_flying && untold_ + steps >= late_batch, false};
    }
    const online_limits& limits = choice.limits();
    const bool more = enqueued_ < (now == stage::trying ? limits.steps_of_trial() : limits.steps_before_trial());
    // All were enqueued, but in pieces that do not add up to what the choice needs.
    const bool none_on_their_way =
        std::ranges::none_of(flying_, [&](const flying& one) { return one.way == choice.current(); });
    if (!more && !none_on_their_way) return {choice.kept(), portion(left, 2 * late_batch), false, false};
    return {choice.current(), portion(left, limits.piece_steps), true, now == stage::trying && enqueued_ == 0};
  }

  /// Around the steps of a stretch, with what going over to its way takes.
  void start(const Context& context, const stretch& one) {
    if (one.timed) flying_.push_back({one.way, one.steps, untold_ + one.steps, marks_.set(context), {}});
  }
  void stop(const Context& context, const stretch& one) {
    enqueued_ += one.timed ? one.steps : 0;
    untold_ = one.timed ? 0 : untold_ + one.steps;
    if (one.timed) flying_.back().end = marks_.set(context);
  }
  /// Instead of `stop`: the steps could not be enqueued.
  void drop(const stretch& one) {
    if (!one.timed) return;
    marks_.forget(flying_.back().begin);
    flying_.pop_back();
  }

 private:
  using mark = typename work_marks<Context>::mark;
  enum class stage { resting, measuring, trying };
  static constexpr std::size_t most_flying = 32;
  struct flying {
    std::size_t way;
    std::size_t steps;
    std::size_t stands_for;  ///< steps, with those before that are not timed
    mark begin, end;
  };

  /// About `wanted`, and no rest of less than a batch.
  [[nodiscard]] static std::size_t portion(std::size_t left, std::size_t wanted) {
    return left < wanted + std::min<std::size_t>(wanted, late_batch) ? left : wanted;
  }
  void forget(const flying& one) {
    marks_.forget(one.begin);
    marks_.forget(one.end);
  }
  void collect(const Context& context, online_choice& choice, std::uint64_t at, bool hold) {
    while (!flying_.empty() && !(hold && !choice.resting()) && marks_.passed(context, flying_.front().end)) {
      const flying one = flying_.front();
      forget(one);
      flying_.pop_front();
      if (one.way != choice.current()) continue;
      const std::size_t steps = choice.resting() ? one.stands_for : one.steps;
      const double a_step = marks_.milliseconds(one.begin, one.end) / static_cast<double>(one.steps);
      static_cast<void>(choice.took(at, steps, a_step * static_cast<double>(steps), {}));
    }
  }

  work_marks<Context> marks_;
  std::deque<flying> flying_;
  stage stage_ = stage::resting;
  std::uint64_t enqueued_ = 0;  ///< steps of this stage
  std::size_t untold_ = 0;      ///< steps at the end that are not timed
};

/// Throws std::bad_alloc where a second engine would take more than a quarter of the memory that is free.
inline void require_room_for_trial(const cuda_context& context, std::size_t bytes) {
  const std::size_t available = context.memory().available_bytes();
  if (bytes > available / 4) throw out_of_memory(bytes, available);
}
inline void require_room_for_trial(const cpu_context& /*context*/, std::size_t /*bytes*/) {}

/// Does without a look that there is no memory for.
template <typename Model>
void try_to_look(Model& model) {
  try {
    model.look();
  } catch (...) {
    // What it lacks, a trial lacks, too, and the choice learns of that.
  }
}

/// Takes steps by the ways of a choice, whose times arrive late, and counts them in `step`. The model has
///   change_way(k)    goes over to way k, where it is not the present one
///   enqueue(n)       n steps by the present way
///   leave_trial(k)   goes back to way k from one that has enqueued no steps yet
///   look()           asks for a sample; looking(): it was asked for and not used yet; looked(): the times that are
///                    expected by it, once it has arrived, and nothing before
template <typename Context, typename Model>
void advance_by_late_times(const Context& context, online_choice& choice, late_times<Context>& times, Model& model,
                           std::uint64_t& step, std::size_t steps) {
  bool measuring = choice.measuring();
  while (steps > 0) {
    const auto next = times.next(context, choice, step, steps, model.looking());
    const bool trial_ahead = !measuring && choice.measuring();
    measuring = choice.measuring();
    if (!model.looking() && (trial_ahead || choice.should_look(step))) try_to_look(model);
    times.start(context, next);
    try {
      model.change_way(next.way);
      model.enqueue(next.steps);
    } catch (...) {
      // There is no memory for another way: the steps are taken by the one before.
      times.drop(next);
      if (!next.first_of_trial) throw;
      choice.refuse();
      model.leave_trial(choice.current());
      continue;
    }
    times.stop(context, next);
    step += next.steps;
    steps -= next.steps;
    if (const auto expected = model.looked(); !expected.empty()) choice.look(step, expected);
  }
}

}  // namespace quadrat::detail

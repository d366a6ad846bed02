// SPDX-License-Identifier: BSD-3-Clause
#include "tune/method_trials.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::detail {

void method_trials::begin(const std::vector<expected_time>& expected, std::string_view chosen, double timing_ms) {
  std::vector<std::string_view> names;
  std::vector<double> times;
  for (const expected_time& one : expected) {
    if (!std::isfinite(one.milliseconds)) continue;
    names.push_back(one.method);
    times.push_back(one.milliseconds);
  }
  choice_.reset();
  at_ = untold_ = rounds_of_trial_ = 0;
  in_flight_ = 0;
  if (names.size() < 2) return;
  choice_.emplace(names, times, true, online_limits{most_expected_to_try, "round", timing_ms});
  if (!choice_->take(chosen)) choice_.reset();
}

method_trials::round method_trials::next() {
  if (choice_->name() != choice_->name_to_keep()) {
    if (rounds_of_trial_ == choice_->limits().steps_of_trial()) return {choice_->name_to_keep(), false};
    ++rounds_of_trial_;
    ++in_flight_;
    return {choice_->name(), true};
  }
  rounds_of_trial_ = 0;
  ++untold_;
  const bool timed = in_flight_ < most_in_flight && (!choice_->resting() || untold_ % timed_at_rest == 0);
  if (timed) ++in_flight_;
  return {choice_->name(), timed};
}

void method_trials::took(std::string_view method, double milliseconds) {
  --in_flight_;
  if (!running() || method != choice_->name()) return;
  const std::uint64_t rounds = choice_->resting() ? std::max<std::uint64_t>(untold_, 1) : 1;
  untold_ = 0;
  at_ += rounds;
  static_cast<void>(choice_->took(at_, rounds, milliseconds * static_cast<double>(rounds), {}));
}

void method_trials::dropped(std::string_view method) {
  --in_flight_;
  if (running() && method == choice_->name() && rounds_of_trial_ > 0) --rounds_of_trial_;
}

void method_trials::refuse(std::string_view method) {
  if (choice_->name() == method) choice_->refuse();
}

}  // namespace quadrat::detail

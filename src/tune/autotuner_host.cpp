// SPDX-License-Identifier: BSD-3-Clause
#include "tune/autotuner.hpp"

#include <algorithm>
#include <cmath>

#include "core/number_text.hpp"

namespace quadrat::detail {

void require_autotune(bool autotune, determinism level) {
  require(!autotune || level == determinism::none,
          "autotune chooses methods by the times of calls, so that results may differ from run to run, but the context "
          "asks for runs that can be repeated; set autotune to false, or the determinism to none");
}

void autotuner::begin(std::span<const expected_time> expected, double load, double uses) {
  candidates_.clear();
  for (const expected_time& one : expected.first(std::min(expected.size(), most_candidates))) {
    const bool fast = std::isfinite(one.milliseconds) && one.milliseconds <= most_expected * expected[0].milliseconds;
    if (fast || candidates_.empty()) candidates_.push_back({one.method, one.milliseconds});
  }
  current_ = 0;
  load_ = load;
  uses_ = uses;
  tuning_ = candidates_.size() > 1;
  open_ = false;
}

void autotuner::stop() {
  candidates_.clear();
  tuning_ = open_ = false;
}

double autotuner::best() const { return std::ranges::min(candidates_, {}, &candidate::best).best; }

std::string_view autotuner::next() {
  if (!tuning_) return method();
  close_turn();
  // A candidate whose turns cannot be timed must not stay in use for good.
  const candidate& one = candidates_[current_];
  const bool slow = one.timed >= 2 && one.best > hopeless * best();
  if (slow || one.timed == repetitions || one.turns == 3 * repetitions) advance();
  ++candidates_[current_].turns;
  return method();
}

void autotuner::took_turn(double load, double milliseconds) {
  open_ = true;
  turn_load_ = load;
  turn_ms_ = milliseconds;
  use_ms_ = 0;
  timed_uses_ = 0;
}

void autotuner::took_use(double milliseconds) {
  use_ms_ += milliseconds;
  ++timed_uses_;
}

/// Counts the last turn, unless it had no uses although uses were expected.
void autotuner::close_turn() {
  if (open_ && (timed_uses_ > 0 || uses_ == 0)) {
    candidate& one = candidates_[current_];
    const double of_uses = timed_uses_ > 0 ? uses_ * use_ms_ / timed_uses_ : 0;
    one.best = std::min(one.best, (turn_ms_ + of_uses) / turn_load_);
    ++one.timed;
  }
  open_ = false;
}

void autotuner::advance() {
  if (++current_ == candidates_.size()) settle();
}

bool autotuner::refuse() {
  open_ = false;
  // The first candidate was chosen by the profile: if it is not possible, that is an error.
  if (!tuning_ || current_ == 0) return false;
  candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(current_));
  if (current_ == candidates_.size()) settle();
  return true;
}

void autotuner::settle() {
  tuning_ = false;
  const auto fastest = std::ranges::min_element(candidates_, {}, &candidate::best);
  current_ = static_cast<std::size_t>(fastest - candidates_.begin());
  std::string text = message("load ", static_cast<float>(two_digits(load_)), ": ", method(), " of");
  const char* before = " ";
  for (const candidate& one : candidates_) {
    if (one.timed == 0) continue;
    text += message(before, one.method, " ", static_cast<float>(two_digits(one.best * load_)), " ms (expected ",
                    static_cast<float>(two_digits(one.expected_ms)), ")");
    before = ", ";
  }
  changes_.push_back(std::move(text));
}

}  // namespace quadrat::detail

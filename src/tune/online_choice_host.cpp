// SPDX-License-Identifier: BSD-3-Clause
#include "tune/online_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/number_text.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::detail {

online_choice::online_choice(std::vector<std::string_view> names, const std::vector<double>& expected, bool timed,
                             const online_limits& limits)
    : timed_(timed), limits_(limits) {
  for (std::size_t k = 0; k < names.size(); ++k) ways_.push_back({names[k], expected[k]});
  kept_ = current_ = least_expected();
}

/// The first of the least; the first of all where nothing is known.
std::size_t online_choice::least_expected() const {
  std::size_t best = 0;
  for (std::size_t k = 0; k < ways_.size(); ++k) {
    if (!ways_[k].refused && (ways_[best].refused || ways_[k].expected < ways_[best].expected)) best = k;
  }
  return best;
}

std::uint64_t online_choice::piece(std::uint64_t at) const {
  if (!timed_) return look_every - at % look_every;
  switch (phase_) {
    case phase::resting:
      return to_rest_ - steps_in_phase_;
    case phase::arriving:
      return limits_.arrival - steps_in_phase_;
    default:
      return limits_.piece_steps - steps_in_piece_;
  }
}

/// Takes expected times of the present load, if there are any.
void online_choice::expect(const std::vector<double>& expected) {
  for (std::size_t k = 0; k < std::min(ways_.size(), expected.size()); ++k) ways_[k].expected = expected[k];
}

bool online_choice::should_look(std::uint64_t at) const {
  return resting() && at >= looked_at_ + rest && looked_ms_ + limits_.looking_ms <= most_looking * total_ms_;
}

void online_choice::look(std::uint64_t at, const std::vector<double>& expected) {
  expect(expected);
  looked_at_ = at;
  looked_ms_ += limits_.looking_ms;
  if (phase_ == phase::measuring) {
    challenger_ = next_to_try(at);
    if (challenger_ < ways_.size()) return;
    begin(phase::resting);
  }
  lost_ms_ += limits_.looking_ms;
}

/// Ways that are expected to take longer are not tried. Where the profile misjudges the kept way by a factor, what
/// others are expected to take is compared with what it takes.
double online_choice::most_expected() const {
  const double least = ways_[least_expected()].expected;
  if (!std::isfinite(least)) return std::numeric_limits<double>::max();
  return std::max(limits_.most_expected_to_try * least, kept_ms_);
}

bool online_choice::may_try(std::size_t k, std::uint64_t at) const {
  const way& one = ways_[k];
  if (k == kept_ || one.refused || !std::isfinite(one.expected)) return false;
  if (one.expected > most_expected()) return false;
  const bool changed = one.lost_against > 0 && std::abs(kept_ms_ / one.lost_against - 1) > 0.2;
  if (at < one.not_before && !changed) return false;
  // What the trial will lose: the change there and back, about one step each, and that it is slower.
  const double before = one.measured > 0 ? one.measured / one.lost_against : one.expected / ways_[kept_].expected;
  const double slower = std::isfinite(before) ? std::max(before, 1.0) : 1.0;
  const double steps = 2 + static_cast<double>(limits_.steps_of_trial()) * (slower - 1);
  const double once = limits_.timing_ms + limits_.looking_ms + (one.measured > 0 ? 0 : limits_.making_ms);
  return lost_ms_ + once + steps * kept_ms_ <= most_lost * total_ms_;
}

/// The one that has waited longest; ways_.size(): none.
std::size_t online_choice::next_to_try(std::uint64_t at) const {
  std::size_t best = ways_.size();
  for (std::size_t k = 0; k < ways_.size(); ++k) {
    if (!may_try(k, at)) continue;
    if (best == ways_.size() ||
        std::pair(ways_[k].not_before, ways_[k].expected) < std::pair(ways_[best].not_before, ways_[best].expected)) {
      best = k;
    }
  }
  return best;
}

void online_choice::begin(phase next) {
  phase_ = next;
  steps_in_phase_ = steps_in_piece_ = 0;
  ms_in_piece_ = 0;
  best_piece_ = std::numeric_limits<double>::infinity();
}

void online_choice::change(std::uint64_t at, std::size_t to, double ratio) {
  changes_.push_back(message(limits_.step, " ", at, ": ", ways_[kept_].name, " -> ", ways_[to].name, ", ",
                             timed_ ? "took " : "expected to take ", static_cast<float>(two_digits(ratio)),
                             " times as long"));
  kept_ = current_ = to;
}

bool online_choice::end_trial(std::uint64_t at, double best) {
  lost_ms_ += limits_.timing_ms + limits_.looking_ms;
  way& tried = ways_[challenger_];
  tried.measured = best;
  // The next trial waits less by these: a way that a change of the load has made slow costs most.
  const std::uint64_t taken = limits_.steps_before_trial() + limits_.arrival + steps_in_phase_;
  const std::uint64_t begun = at - std::min(at, taken);
  to_rest_ = rest - std::min(taken, rest - 1);
  const std::size_t before = kept_;
  if (best < gain_to_keep * kept_ms_) {
    // The one that lost its place is not tried again at once.
    ways_[before].measured = kept_ms_;
    ways_[before].lost_against = best;
    ways_[before].not_before = begun + rest;
    change(at, challenger_, best / kept_ms_);
    kept_ms_ = best;
    begin(phase::resting);
    return false;
  }
  tried.lost_against = kept_ms_;
  tried.not_before = begun + tried.patience;
  tried.patience = std::min(2 * tried.patience, most_patience);
  current_ = kept_;
  begin(phase::resting);
  return true;
}

bool online_choice::took(std::uint64_t at, std::uint64_t steps, double milliseconds,
                         const std::function<std::vector<double>()>& expected) {
  if (steps == 0) return false;
  if (!timed_) {
    if (at % look_every != 0) return false;
    expect(expected());
    const std::size_t best = least_expected();
    const double ratio = ways_[best].expected / ways_[kept_].expected;
    if (!(ratio < gain_by_profile)) return false;
    change(at, best, ratio);
    return true;
  }
  total_ms_ += milliseconds;
  steps_in_phase_ += steps;
  steps_in_piece_ += steps;
  ms_in_piece_ += milliseconds;
  const bool trial = phase_ == phase::arriving || phase_ == phase::trying;
  if (trial) {
    // Whatever a trial takes beyond the same steps of the kept way is lost.
    trial_ms_ += milliseconds - kept_ms_ * static_cast<double>(steps);
  }
  switch (phase_) {
    case phase::resting:
      if (steps_in_phase_ < to_rest_) return false;
      to_rest_ = rest;
      kept_ms_ = ms_in_piece_ / static_cast<double>(steps_in_piece_);
      if (expected) expect(expected());
      challenger_ = next_to_try(at);
      begin(challenger_ < ways_.size() ? phase::measuring : phase::resting);
      return false;
    case phase::arriving:
      if (steps_in_phase_ >= limits_.arrival) begin(phase::trying);
      return false;
    default:
      break;
  }
  if (steps_in_piece_ < limits_.piece_steps) return false;
  const double a_step = ms_in_piece_ / static_cast<double>(steps_in_piece_);
  best_piece_ = std::min(best_piece_, a_step);
  steps_in_piece_ = 0;
  ms_in_piece_ = 0;
  const bool done = steps_in_phase_ >= limits_.steps_before_trial();
  if (phase_ == phase::measuring) {
    if (!done) return false;
    // Times that come late may be of steps before this phase.
    if (at < earliest_) return begin(phase::measuring), false;
    earliest_ = at + rest;
    kept_ms_ = best_piece_;
    current_ = challenger_;
    trial_ms_ = 0;
    begin(phase::arriving);
    return true;
  }
  // A way that is far slower is left early.
  if (!done && best_piece_ < 1.1 * kept_ms_) return false;
  const bool back = end_trial(at, best_piece_);
  if (back) lost_ms_ += std::max(trial_ms_, 0.0) + kept_ms_;  // and the way back
  return back;
}

void online_choice::refuse() {
  ways_[current_].refused = true;
  if (current_ == kept_) kept_ = least_expected();
  current_ = kept_;
  begin(phase::resting);
}

bool online_choice::take(std::string_view name) {
  const auto found = std::ranges::find(ways_, name, &way::name);
  if (found == ways_.end()) return false;
  kept_ = current_ = static_cast<std::size_t>(found - ways_.begin());
  begin(phase::resting);
  return true;
}

explanation online_choice::explain(std::string what, std::string profile) const {
  explanation result;
  result.what = std::move(what);
  result.chosen = ways_[kept_].name;
  result.reason = timed_ ? message("by the times of ", limits_.step, "s")
                         : std::string("by the profile, so that a run can be repeated");
  result.profile = std::move(profile);
  result.changes = changes_;
  for (const way& one : ways_) {
    candidate row{std::string(one.name), one.expected, 0, ""};
    if (one.refused) {
      row.why_not = "needs more memory than there is";
    } else if (timed_ && one.expected > most_expected()) {
      row.why_not = "not tried: expected to take far longer";
    } else if (one.measured > 0 && one.lost_against > 0) {
      row.why_not = message("when tried last, took ", static_cast<float>(two_digits(one.measured / one.lost_against)),
                            " times as long");
    }
    if (&one == &ways_[kept_]) row.why_not.clear();
    result.candidates.push_back(std::move(row));
  }
  std::ranges::stable_sort(result.candidates, {}, &candidate::milliseconds);
  return result;
}

}  // namespace quadrat::detail

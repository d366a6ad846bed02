// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/method_choice.hpp"
#include "tune/online_choice.hpp"

namespace quadrat::detail {

/// What timing a trial takes on a GPU, in milliseconds: some 80 events are recorded, at about a microsecond each.
inline constexpr double trial_timing_ms_on_cuda = 0.1;

/// The choice of the method of an object (a list, a plan, a reducer) by the times of its rounds: all work from one
/// setting of points or keys to the next. An online_choice whose steps are rounds, and whose times may arrive late, as
/// those of a GPU do, which nobody waits for.
///
/// Rounds of a trial are the next ten; then the method of before serves until their times are known. While no trial is
/// near one round in 64 is timed.
class method_trials {
 public:
  /// Methods that are expected to take longer than this, times the least expected, are not tried, unless the one in use
  /// takes even longer.
  static constexpr double most_expected_to_try = 3;
  static constexpr std::uint64_t timed_at_rest = 64;  ///< one round in so many is timed
  static constexpr std::size_t most_in_flight = 24;   ///< rounds whose times are not known yet

  struct round {
    std::string_view method;
    bool timed;  ///< its time is to be given to `took` or `dropped`, rounds in order
  };

  /// Begins anew, with `chosen`: no round is in flight. `expected` has the methods that may be tried; names in static
  /// storage. `timing_ms`: what a trial takes only because it is timed.
  void begin(const std::vector<expected_time>& expected, std::string_view chosen, double timing_ms = 0);
  /// Ends all trials: the method that is in use stays.
  void stop() { choice_.reset(); }
  [[nodiscard]] bool running() const { return choice_.has_value(); }
  /// Whether rounds are taken as they come: no trial, and none is being prepared.
  [[nodiscard]] bool resting() const { return choice_->resting(); }
  /// The method that is used after the trials so far.
  [[nodiscard]] std::string_view kept() const { return choice_->name_to_keep(); }

  /// The next round. Precondition: running().
  [[nodiscard]] round next();
  /// The milliseconds of the oldest round that was to be timed and has no time yet, by this method.
  void took(std::string_view method, double milliseconds);
  /// It has no time.
  void dropped(std::string_view method);
  /// This method cannot be had after all (memory). It is not tried again.
  void refuse(std::string_view method);

  /// What was changed when, one line each.
  [[nodiscard]] const std::vector<std::string>& changes() const { return choice_ ? choice_->changes() : none_; }

 private:
  std::optional<online_choice> choice_;
  std::uint64_t at_ = 0;               ///< rounds that the choice was told of
  std::uint64_t untold_ = 0;           ///< rounds at rest since the last that it was told of
  std::uint64_t rounds_of_trial_ = 0;  ///< that have begun
  std::size_t in_flight_ = 0;
  std::vector<std::string> none_;
};

}  // namespace quadrat::detail

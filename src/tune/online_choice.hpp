// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/tune/explanation.hpp"

namespace quadrat::detail {

/// What an online_choice is about.
struct online_limits {
  /// Ways that are expected to take longer than this, times the least expected, are not tried, unless the kept one
  /// takes even longer.
  double most_expected_to_try = 1.5;
  std::string_view step = "step";  ///< what is timed, in messages
  double timing_ms = 0;            ///< that a trial takes only because it is timed
  double looking_ms = 0;           ///< that a look at the load takes, where it is not one of advance_by_choice
  double making_ms = 0;            ///< that the first trial of a way takes to make what the way needs
  std::uint64_t arrival = 2;       ///< steps of a trial whose times do not count
  std::uint64_t piece_steps = 4;   ///< that are timed together, twice: of the way of the run, and then of the other

  [[nodiscard]] constexpr std::uint64_t steps_before_trial() const { return 2 * piece_steps; }
  [[nodiscard]] constexpr std::uint64_t steps_of_trial() const { return arrival + 2 * piece_steps; }
};

/// The choice between ways to take the steps of a run, which is looked at again as the run goes.
///
/// `timed`: by the times of steps. Every now and then another way is tried for ten steps, against the ten before: it is
/// kept if it took at least 3 % less, and left otherwise. A trial begins a hundred steps after the one before at the
/// earliest, and only where all that trials have lost stays below 2 % of the time of the run. A way that lost waits
/// twice as long each time, unless the times of steps have changed since. Ways that the profile expects to take much
/// longer than the best (online_limits), for the load that there is then, are not tried.
///
/// Otherwise by the profile alone, at steps that are multiples of 512: a function of the states of the run. A way is
/// changed for one that is expected to take a tenth less.
class online_choice {
 public:
  static constexpr std::uint64_t rest = 100;        ///< steps between two trials
  static constexpr std::uint64_t look_every = 512;  ///< steps, by the profile alone
  static constexpr double gain_to_keep = 0.97;      ///< of the time of a step
  static constexpr double gain_by_profile = 0.9;    ///< likewise, expected
  static constexpr double most_lost = 0.02;         ///< of the time of the run, by trials
  static constexpr double most_looking = 0.005;     ///< of the time of the run, by looks that no trial follows

  /// `names` in static storage. `expected`: milliseconds a step; infinite where a way cannot be taken. The least is
  /// current.
  online_choice(std::vector<std::string_view> names, const std::vector<double>& expected, bool timed,
                const online_limits& limits = {});

  [[nodiscard]] std::size_t current() const { return current_; }
  [[nodiscard]] bool timed() const { return timed_; }
  /// Neither is another way tried, nor is the way of the run measured for that.
  [[nodiscard]] bool resting() const { return phase_ == phase::resting; }
  /// The way of the run is measured for a trial.
  [[nodiscard]] bool measuring() const { return phase_ == phase::measuring; }
  /// Another way is on trial.
  [[nodiscard]] bool trying() const { return current_ != kept_; }
  [[nodiscard]] std::size_t kept() const { return kept_; }
  [[nodiscard]] const online_limits& limits() const { return limits_; }
  [[nodiscard]] std::string_view name() const { return ways_[current_].name; }
  /// The way of the run, which is not the current one during a trial.
  [[nodiscard]] std::string_view name_to_keep() const { return ways_[kept_].name; }

  /// How many steps to take before `took`, from step `at` on: at least 1.
  [[nodiscard]] std::uint64_t piece(std::uint64_t at) const;

  /// Says that steps up to `at` were taken by the current way, in how many milliseconds (with what changing to it
  /// took). `expected` is called where the load is to be looked at. Returns whether another way is current now.
  [[nodiscard]] bool took(std::uint64_t at, std::uint64_t steps, double milliseconds,
                          const std::function<std::vector<double>()>& expected);

  /// Whether the load should be looked at, with no trial before it: a way that was not worth trying may have become so.
  [[nodiscard]] bool should_look(std::uint64_t at) const;
  /// The times that are expected for the load at step `at`, where they become known only while steps are taken. If the
  /// way of the run is being measured for a trial, the way to try is chosen by them.
  void look(std::uint64_t at, const std::vector<double>& expected);

  /// The current way cannot be taken after all (memory): it never is again. Goes back to the one before.
  void refuse();
  /// Takes this way from here on. False, and nothing is changed, for an unknown name.
  [[nodiscard]] bool take(std::string_view name);

  /// What was changed when, one line each.
  [[nodiscard]] const std::vector<std::string>& changes() const { return changes_; }
  /// What was chosen when.
  [[nodiscard]] explanation explain(std::string what, std::string profile) const;

 private:
  enum class phase { resting, measuring, arriving, trying };
  struct way {
    std::string_view name;
    double expected;
    double measured = 0;  ///< milliseconds a step in its last trial; 0: none
    std::uint64_t not_before = 0;
    std::uint64_t patience = rest;
    double lost_against = 0;  ///< what the kept way took then
    bool refused = false;
  };
  static constexpr std::uint64_t most_patience = 64 * rest;

  [[nodiscard]] std::size_t least_expected() const;
  void expect(const std::vector<double>& expected);
  [[nodiscard]] double most_expected() const;
  [[nodiscard]] bool may_try(std::size_t k, std::uint64_t at) const;
  [[nodiscard]] std::size_t next_to_try(std::uint64_t at) const;
  void begin(phase next);
  void change(std::uint64_t at, std::size_t to, double ratio);
  [[nodiscard]] bool end_trial(std::uint64_t at, double best);

  std::vector<way> ways_;
  bool timed_;
  online_limits limits_;
  std::size_t kept_ = 0, current_ = 0, challenger_ = 0;
  phase phase_ = phase::resting;
  std::uint64_t steps_in_phase_ = 0, steps_in_piece_ = 0;
  std::uint64_t to_rest_ = rest;             ///< steps before the next trial is prepared
  std::uint64_t earliest_ = 0;               ///< the step at which it may begin
  double ms_in_piece_ = 0, best_piece_ = 0;  // of this phase
  double kept_ms_ = 0;                       // of a step, as last seen
  double total_ms_ = 0, lost_ms_ = 0, trial_ms_ = 0;
  std::uint64_t looked_at_ = 0;  ///< step
  double looked_ms_ = 0;         ///< by all looks
  std::vector<std::string> changes_;
};

}  // namespace quadrat::detail

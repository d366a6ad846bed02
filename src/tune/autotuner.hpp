// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/method_choice.hpp"
#include "parallel/capture.hpp"
#include "parallel/step_clock.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// Throws argument_error where autotuning is asked for and runs must be repeatable.
void require_autotune(bool autotune, determinism level);

/// The milliseconds that `work` takes. Waits until it is done.
template <typename Context, typename Work>
[[nodiscard]] double time_call(const Context& context, const Work& work) {
  step_clock<Context> clock(context, 1);
  clock.start(context);
  work();
  clock.stop(context);
  context.synchronize();
  return clock.milliseconds(0);
}

/// Finds the fastest of a few candidates by timing calls that have to be made anyway, and then stays with it. For
/// objects with the option `autotune`; others never call begin.
///
///   begin(expected, load, uses)      when a method has been chosen for a load: candidates by their expected times
///   turn(context, load, run)         for each call; run(method) goes over to the method and does the work
///   use(context, work)               for calls that use what the last turn has set, such as points
///
/// Each candidate has a few turns; the least time counts, so that allocations of the first turn do not. While they
/// last, each call waits for the device. A call inside a captured stream stops it all: a graph works in the memory of
/// the method that it was captured with. To tune for another load, see covers.
class autotuner {
 public:
  static constexpr double most_expected = 2;  ///< times the least: what is expected to take longer is no candidate
  static constexpr std::size_t most_candidates = 4;
  static constexpr int repetitions = 4;     ///< turns of a candidate that are timed
  static constexpr double hopeless = 1.3;   ///< times the best: such a candidate has two turns
  static constexpr double most_change = 2;  ///< of the load, from that of begin

  /// Takes the candidates, fastest first, which is the first in use. Their names are in static storage. `load`: what
  /// times grow with, such as the number of points. `uses`: expected calls of `use` per turn; where it is not 0, turns
  /// without any do not count.
  void begin(std::span<const expected_time> expected, double load, double uses = 0);
  /// Until begin is called again: what is in use stays, whatever the load.
  void stop();
  /// Whether begin has been called: then calls go by `turn`.
  [[nodiscard]] bool active() const { return !candidates_.empty(); }
  [[nodiscard]] bool tuning() const { return tuning_; }
  /// Whether what was tuned serves this load; otherwise choose anew and begin again. Empty input says nothing.
  [[nodiscard]] bool covers(double load) const {
    return active() && (!(load > 0) || (load <= most_change * load_ && load_ <= most_change * load));
  }
  /// Of the last turn. Precondition: active().
  [[nodiscard]] std::string_view method() const { return candidates_[current_].method; }
  /// The outcome of each tuning, one line each.
  [[nodiscard]] const std::vector<std::string>& changes() const { return changes_; }

  /// Calls run(method), with another method if a candidate cannot be had (std::bad_alloc, argument_error). A call that
  /// throws is not counted. Precondition: active().
  template <typename Context, typename Run>
  void turn(const Context& context, double load, const Run& run) {
    if (is_capturing(context)) {
      const std::string_view in_use = method();
      stop();
      return run(in_use);
    }
    for (;;) {
      const std::string_view method = next();
      try {
        if (!tuning_ || !(load > 0)) return run(method);
        return took_turn(load, time_call(context, [&] { run(method); }));
      } catch (const std::bad_alloc&) {
        if (!refuse()) throw;
      } catch (const argument_error&) {
        if (!refuse()) throw;
      }
    }
  }
  /// Calls work().
  template <typename Context, typename Work>
  void use(const Context& context, const Work& work) {
    if (active() && is_capturing(context)) stop();
    open_ ? took_use(time_call(context, work)) : work();
  }
  /// The method of the last turn cannot be had. Returns whether another is to be taken for this call.
  [[nodiscard]] bool refuse();

 private:
  struct candidate {
    std::string_view method;
    double expected_ms;
    double best = std::numeric_limits<double>::infinity();  ///< milliseconds of a turn per load
    int turns = 0;
    int timed = 0;
  };

  [[nodiscard]] std::string_view next();
  void took_turn(double load, double milliseconds);
  void took_use(double milliseconds);
  void close_turn();
  void advance();
  void settle();
  [[nodiscard]] double best() const;

  std::vector<candidate> candidates_;
  std::size_t current_ = 0;
  double load_ = 0, uses_ = 0;
  bool tuning_ = false;
  bool open_ = false;                                ///< the last turn was timed and may have uses
  double turn_load_ = 0, turn_ms_ = 0, use_ms_ = 0;  ///< of this turn
  int timed_uses_ = 0;
  std::vector<std::string> changes_;
};

}  // namespace quadrat::detail

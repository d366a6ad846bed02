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

/// Throws argument_error if autotuning is requested at a level at which runs must be reproducible.
void require_autotune(bool autotune, determinism level);

/// The time that `work` takes, in milliseconds. Waits.
template <typename Context, typename Work>
[[nodiscard]] double time_call(const Context& context, const Work& work) {
  step_clock<Context> clock(context, 1);
  clock.start(context);
  work();
  clock.stop(context);
  context.synchronize();
  return clock.milliseconds(0);
}

/// Finds the fastest of a few candidate methods by timing calls that the application makes anyway, and then keeps it.
/// For objects with the option `autotune`; others never call begin.
///
///   begin(expected, load, uses)      when a method has been chosen for a load: the candidates by expected time
///   turn(context, load, run)         for each call; run(method) switches to the method and does the work
///   use(context, work)               for calls that use the result of the last turn, such as points
///
/// Each candidate is timed in a few turns. The least time counts, so that allocations of the first turn do not. While
/// candidates are timed, each call waits for the device. A call inside a captured stream stops tuning, because a graph
/// uses the memory of the method that was captured. When the load changes much, tuning starts anew: see covers.
class autotuner {
 public:
  static constexpr double most_expected = 2;  ///< times the least expected time: slower methods are no candidates
  static constexpr std::size_t most_candidates = 4;
  static constexpr int repetitions = 4;     ///< timed turns of a candidate
  static constexpr double hopeless = 1.3;   ///< times the best time: such a slow candidate is timed twice only
  static constexpr double most_change = 2;  ///< factor by which the load may differ from that of begin

  /// Sets the candidates, fastest first by expected time; the first is used first. Their names are in static storage.
  /// `load`: the number that times are proportional to, such as the number of points. `uses`: expected calls of `use`
  /// per turn; if it is not 0, turns without any are not counted.
  void begin(std::span<const expected_time> expected, double load, double uses = 0);
  /// Stops tuning until begin is called again. The present method stays, whatever the load.
  void stop();
  /// Whether begin has been called; then calls must go through `turn`.
  [[nodiscard]] bool active() const { return !candidates_.empty(); }
  [[nodiscard]] bool tuning() const { return tuning_; }
  /// Whether the tuned method is good for this load; otherwise choose anew and call begin. A load of 0 is always
  /// covered.
  [[nodiscard]] bool covers(double load) const {
    return active() && (!(load > 0) || (load <= most_change * load_ && load_ <= most_change * load));
  }
  /// The method of the last turn. Precondition: active().
  [[nodiscard]] std::string_view method() const { return candidates_[current_].method; }
  /// The outcome of each tuning, one line each.
  [[nodiscard]] const std::vector<std::string>& changes() const { return changes_; }

  /// Calls run(method). If the candidate is not possible (std::bad_alloc, argument_error), tries another. A call that
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
  /// Calls work(), and adds its time to that of the last turn while tuning.
  template <typename Context, typename Work>
  void use(const Context& context, const Work& work) {
    if (active() && is_capturing(context)) stop();
    open_ ? took_use(time_call(context, work)) : work();
  }
  /// Reports that the method of the last turn is not possible. Returns whether to try another in this call.
  [[nodiscard]] bool refuse();

 private:
  struct candidate {
    std::string_view method;
    double expected_ms;
    double best = std::numeric_limits<double>::infinity();  ///< milliseconds of a turn, divided by the load
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
  bool open_ = false;                                ///< the last turn was timed and may still have uses
  double turn_load_ = 0, turn_ms_ = 0, use_ms_ = 0;  ///< of this turn
  int timed_uses_ = 0;
  std::vector<std::string> changes_;
};

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "choice/places.hpp"
#include "harness/points.hpp"
#include "harness/session.hpp"
#include "harness/stopwatch.hpp"
#include "harness/turn.hpp"
#include "quadrat/core/array.hpp"

namespace quadrat::bench {

/// The cases of a module: `fit`, for fitting constants, and `test`, with other seeds, sizes and shapes.
struct case_grid {
  std::string_view name;
  std::uint64_t seed;
  std::size_t cases;
};

/// Both grids of a session: a few cases that take seconds, or all with --full.
[[nodiscard]] inline std::vector<case_grid> case_grids(const session& s) {
  const std::size_t fit = s.full() ? 420 : 4, test = s.full() ? 300 : 4;
  std::vector<case_grid> grids{{"fit", 9001, fit}, {"test", 731173, test}};
  std::erase_if(grids, [&](const case_grid& one) { return !s.asked().grid.empty() && s.asked().grid != one.name; });
  return grids;
}

/// One case of a grid.
struct numbered_case {
  std::string_view grid;
  std::size_t number;
};

/// Calls session::attempt for a case, unless a resumed run has measured it already.
template <typename Measure>
void attempt_case(const session& s, row identity, const numbered_case& one, Measure&& measure) {
  if (s.out().has_case(identity.at("op").get<std::string>(), one.grid, one.number)) return;
  identity["grid"] = std::string(one.grid);
  identity["case"] = one.number;
  s.attempt(identity, measure);
}

/// Calls f(grid, number) for every case of the part, alternating between the grids, so that a time limit cuts both.
/// Saves results now and then, in case the session is killed.
template <typename F>
void for_each_case(const session& s, F&& f) {
  const std::vector<case_grid> grids = case_grids(s);
  std::size_t most = 0, turns = 0;
  for (const case_grid& grid : grids) most = std::max(most, grid.cases);
  for (std::size_t number = 0; number < most; ++number) {
    if (static_cast<int>(number % static_cast<std::size_t>(s.asked().parts)) != s.asked().part - 1) continue;
    for (const case_grid& grid : grids) {
      if (number < grid.cases) f(grid, number);
    }
    if (++turns % 8 == 0) s.out().save(false);
  }
}

/// Draws the properties of one case.
class case_draw {
 public:
  case_draw(std::uint64_t seed, std::size_t number) : seed_(seed), number_(number) {}

  template <typename Options>
  [[nodiscard]] auto one_of(const Options& options) {
    return options[random_word(seed_ + ++drawn_, number_) % options.size()];
  }
  /// A distribution of points for a case of this grid.
  [[nodiscard]] std::string places_of(std::string_view grid) {
    const std::string_view drawn = one_of(place_distributions);
    return std::string(grid == "fit" ? drawn : unseen_distribution(drawn));
  }
  [[nodiscard]] bool chance(double share) { return random_unit(seed_ + ++drawn_, number_) < share; }
  /// A random number, log-uniform.
  [[nodiscard]] double between(double least, double most) {
    return least * std::pow(most / least, random_unit(seed_ + ++drawn_, number_));
  }
  [[nodiscard]] std::uint64_t seed() const { return random_word(seed_, number_) >> 20; }

 private:
  std::uint64_t seed_;
  std::size_t number_;
  std::uint64_t drawn_ = 0;
};

/// Milliseconds of a call that has run once: the smallest time of a few calls. Other load of the machine only increases
/// times, and only times of methods of the same case are compared.
template <typename Context, typename Work>
[[nodiscard]] double call_ms(const Context& context, Work&& work) {
  constexpr double most_ms = std::is_same_v<Context, cuda_context> ? 3 : 8;
  constexpr int most_calls = std::is_same_v<Context, cuda_context> ? 20 : 7;
  stopwatch<Context> watch(context);
  double least = 1e300, sum = 0;
  for (int call = 0; call == 0 || (call < most_calls && sum < most_ms) || (call < 3 && sum < 5 * most_ms); ++call) {
    watch.start();
    work();
    const double ms = watch.stop_ms();
    least = std::min(least, ms);
    sum += ms;
  }
  return least;
}

/// Times of one method: of preparation, once per change of its input, and of each use.
struct method_times {
  double prepare_ms = 0;
  double use_ms = 0;
};

/// Measures all methods of a case. A method that takes far longer than another is timed only once.
class rivals {
 public:
  static constexpr double hopeless = 6;
  struct nothing {};  ///< no preparation

  /// Waits for this process's turn, which lasts as long as the object. Work on the device comes only after that:
  /// processes that share a GPU slow each other down many times.
  explicit rivals(const session& s) : turn_(s.asked().turns) {}

  /// Whether to time all methods once more. On a CPU, other processes may disturb one method for all of its calls, but
  /// hardly in every round; the smallest time counts. Fast methods are disturbed as often, so they are repeated more
  /// often.
  [[nodiscard]] bool another_round(const session& s) {
    constexpr int least_rounds = 3, most_rounds = 20;
    constexpr double enough_s = 0.25;
    const int least = s.full() && !s.on_cuda() ? least_rounds : 1;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
    ++rounds_;
    return rounds_ <= least || (least > 1 && rounds_ <= most_rounds && spent.count() < enough_s);
  }

  /// `run()` prepares the method, and ends with `return times.of(...)`. A method that is not possible here is left out.
  template <typename Run>
  void add(const std::string& name, double uses, Run&& run) {
    const auto known = times_.find(name);
    uses_ = uses;
    if (rounds_ > 2 && known != times_.end() && is_hopeless(known->second)) return;
    try {
      method_times times = run();
      if (known != times_.end()) {
        if (is_hopeless(times)) return;
        times.prepare_ms = std::min(times.prepare_ms, known->second.prepare_ms);
        times.use_ms = std::min(times.use_ms, known->second.use_ms);
      }
      best_ = std::min(best_, total(times));
      times_[name] = times;
    } catch (const argument_error& problem) {
      why_not_[name] = problem.what();
    } catch (const overflow_error& problem) {
      why_not_[name] = problem.what();
    } catch (const std::bad_alloc&) {
      why_not_[name] = "out of memory";
    }
  }
  /// Times of a method that has run once; `use()` does the timed work `repeats` times. For a method that takes far
  /// longer than another, only the times of one call.
  template <typename Context, typename Prepare, typename Use>
  [[nodiscard]] method_times of(const Context& context, const Prepare& prepare, const Use& use,
                                double repeats = 1) const {
    const auto once = [&] {
      stopwatch<Context> watch(context);
      watch.start();
      use();
      return method_times{0, watch.stop_ms() / repeats};
    };
    method_times quick = once();
    // On a CPU the single call may have been disturbed.
    if (is_hopeless(quick) && std::is_same_v<Context, cpu_context>)
      quick.use_ms = std::min(quick.use_ms, once().use_ms);
    if (is_hopeless(quick)) return quick;
    double prepare_ms = 0;
    if constexpr (!std::is_same_v<Prepare, nothing>) prepare_ms = call_ms(context, prepare);
    return {prepare_ms, call_ms(context, use) / repeats};
  }
  void write(row& out) const {
    const auto total = [](const auto& one) { return one.second.prepare_ms + one.second.use_ms; };
    if (!times_.empty()) out["fastest"] = std::ranges::min_element(times_, {}, total)->first;
    for (const auto& [name, times] : times_) {
      out["prepare_ms"][name] = times.prepare_ms;
      out["use_ms"][name] = times.use_ms;
    }
    for (const auto& [name, reason] : why_not_) out["why_not"][name] = reason;
  }

 private:
  [[nodiscard]] double total(const method_times& one) const { return one.prepare_ms + uses_ * one.use_ms; }
  [[nodiscard]] bool is_hopeless(const method_times& one) const { return total(one) >= hopeless * best_; }

  turn turn_;
  std::map<std::string, method_times> times_;
  std::map<std::string, std::string> why_not_;
  double best_ = 1e300;
  double uses_ = 1;  ///< uses of the method that is being timed
  int rounds_ = 0;   ///< rounds begun
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

template <typename T>
[[nodiscard]] std::vector<T> cast_all(const std::vector<double>& values) {
  std::vector<T> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    result[i] = static_cast<T>(values[i]);
    if (!(result[i] < T(1))) result[i] = T(0);  // rounded up to the end of the box
  }
  return result;
}

}  // namespace quadrat::bench

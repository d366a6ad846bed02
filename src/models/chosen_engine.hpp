// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/number_text.hpp"
#include "models/occupancy.hpp"
#include "parallel/capture.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/tune/device_profile.hpp"
#include "quadrat/tune/explanation.hpp"
#include "tune/autotuner.hpp"
#include "tune/choice.hpp"

/// Shared by the models that choose their engine.
namespace quadrat::detail {

/// Milliseconds of a step, by candidate. If the profile lacks a constant, the library's default profile is used.
[[nodiscard]] inline std::vector<double> expected_step_ms(std::string_view module, const std::vector<named_cost>& costs,
                                                          const device_profile& profile, bool cuda) {
  const auto by = [&](const device_profile& one, const named_cost& candidate) {
    return expected_ms(one, module, candidate.method, candidate.cost, 1);
  };
  std::vector<double> times;
  for (const named_cost& one : costs) times.push_back(by(profile, one));
  if (std::ranges::all_of(times, [](double ms) { return std::isfinite(ms); })) return times;
  for (std::size_t k = 0; k < times.size(); ++k) times[k] = by(shipped_profile(cuda), costs[k]);
  return times;
}

/// Throws out_of_memory if a second engine would take more than a quarter of the free memory.
inline void require_room_for_another(const cuda_context& context, std::size_t bytes) {
  const std::size_t available = context.memory().available_bytes();
  if (bytes > available / 4) throw out_of_memory(bytes, available);
}
inline void require_room_for_another(const cpu_context& /*context*/, std::size_t /*bytes*/) {}

/// Throws argument_error for a state's variant that no kind of device has.
template <typename Variants>
void require_variant(const std::string& of_state, const Variants& here, const Variants& on_other_device) {
  const auto has = [&](const Variants& all) {
    return std::ranges::any_of(all, [&](const auto& one) { return one.name == of_state; });
  };
  require(of_state.empty() || has(here) || has(on_other_device), "the state was reached by the variant \"", of_state,
          "\", which this version does not have");
}

/// The input of a choice between engines.
struct engine_candidates {
  std::vector<std::string_view> names;  ///< in static storage
  std::vector<double> expected_ms;      ///< of a step; infinite if a candidate does not serve
  std::string of_state;                 ///< the candidate that reached the state; used if it is in the list and serves
  bool autotune;
};

/// The engine of a model, and its choice if none is named: by the profile and a sample of positions, when a run begins
/// and at steps that are multiples of 512, so that it depends only on the states of the run; or by measured times of
/// steps, if autotuning is requested. A model has
///   make(k)           takes a new engine of candidate k; if that throws, nothing has changed
///   change(k)         the same, with the particles in their order
///   gathered()        the positions of its particles, in their order, in the memory of the context
///   expected(taken)   times of the candidates by a sample of those (taken_of)
template <typename Context, typename Engine, typename T, int D>
class chosen_engine {
 public:
  std::unique_ptr<Engine> engine;

  /// Whether the engine is chosen, once begin has been called.
  [[nodiscard]] bool is_chosen() const { return !names_.empty(); }
  /// The name of the candidate in use. Empty while candidates are timed, and if an engine was named.
  [[nodiscard]] std::string name() const {
    return tuner_.tuning() || names_.empty() ? std::string() : std::string(names_[current_]);
  }

  template <typename Model>
  void begin(Model& model, const engine_candidates& candidates) {
    const auto& times = candidates.expected_ms;
    auto first =
        static_cast<std::size_t>(std::ranges::find(candidates.names, candidates.of_state) - candidates.names.begin());
    if (first == times.size() || !std::isfinite(times[first])) {
      first = static_cast<std::size_t>(std::ranges::min_element(times) - times.begin());
    }
    if (engine == nullptr || first != current_) model.make(first);
    names_ = candidates.names;
    expected_ms_ = times;
    current_ = first;
    stays_ = false;
    changes_.clear();
    tuner_ = {};
    if (candidates.autotune) tune();
  }
  /// Synchronizes. Throws what the engine's check throws, and then keeps this engine, because only it has all
  /// faults.
  void check() {
    try {
      engine->check();
    } catch (...) {
      stays_ = true;
      throw;
    }
  }

  /// Takes steps by calling take(n), and counts them in `step`.
  template <typename Model, typename Take>
  void advance(const Context& context, Model& model, std::size_t particles, std::uint64_t& step, std::size_t steps,
               const Take& take) {
    // A graph uses the memory of the engine with which it was captured.
    stays_ = stays_ || is_capturing(context);
    while (steps > 0) {
      const std::size_t count = std::min<std::uint64_t>(steps, piece(step));
      if (tuner_.active() && !stays_) {
        tuner_.turn(context, static_cast<double>(count) * least_ms(), [&](std::string_view candidate) {
          go_over(model, static_cast<std::size_t>(std::ranges::find(names_, candidate) - names_.begin()));
          take(count);
        });
      } else {
        take(count);
      }
      step += count;
      steps -= count;
      if (is_chosen() && !stays_ && step % look_every == 0 && is_looked_at(particles)) {
        look(context, model, particles, step);
      }
    }
  }

  [[nodiscard]] explanation explain(std::string what, std::string profile) const {
    explanation result;
    result.what = std::move(what);
    result.chosen = names_[current_];
    result.reason = tuner_.active() ? "by the times of steps" : "by the profile and a sample of positions";
    result.profile = std::move(profile);
    result.changes = changes_;
    result.changes.insert(result.changes.end(), tuner_.changes().begin(), tuner_.changes().end());
    for (std::size_t k = 0; k < names_.size(); ++k) {
      result.candidates.push_back({std::string(names_[k]), expected_ms_[k], 0, ""});
    }
    std::ranges::stable_sort(result.candidates, {}, &candidate::milliseconds);
    return result;
  }

 private:
  static constexpr std::uint64_t look_every = 512;  ///< steps
  static constexpr double gain_to_change = 0.9;     ///< of the expected time of a step

  /// On CUDA, looking waits for the device, which takes about 0.2 ms: with fewer particles more than 2 % of the time
  /// between two looks.
  [[nodiscard]] static bool is_looked_at(std::size_t particles) {
    return std::is_same_v<Context, cpu_context> || particles >= 100000;
  }
  [[nodiscard]] double least_ms() const { return std::ranges::min(expected_ms_); }
  /// The number of steps taken together from step `at` on. Timed pieces are long enough to measure.
  [[nodiscard]] std::uint64_t piece(std::uint64_t at) const {
    constexpr double enough_ms = 0.4;
    const std::uint64_t to_look = is_chosen() ? look_every - at % look_every : ~std::uint64_t{0};
    if (!tuner_.tuning()) return to_look;
    return std::min(to_look, static_cast<std::uint64_t>(std::clamp(std::ceil(enough_ms / least_ms()), 4.0, 16.0)));
  }
  template <typename Model>
  void go_over(Model& model, std::size_t to) {
    if (to != current_) model.change(to);
    current_ = to;
  }
  /// Starts autotuning with the present candidate.
  void tune() {
    std::vector<expected_time> times;
    for (std::size_t k = 0; k < names_.size(); ++k) times.push_back({names_[k], expected_ms_[k]});
    std::ranges::stable_sort(times, {}, &expected_time::milliseconds);
    const auto present = std::ranges::find(times, names_[current_], &expected_time::method);
    std::rotate(times.begin(), present, present + 1);
    tuner_.begin(times, least_ms());
  }
  /// Looks at the positions. Does not throw for faults of the run or a lack of memory for another engine.
  template <typename Model>
  void look(const Context& context, Model& model, std::size_t particles, std::uint64_t step) {
    try {
      check();
      expected_ms_ = model.expected(taken_of(context, model.gathered(), particles));
      if (tuner_.active()) {
        if (!tuner_.covers(least_ms())) tune();
        return;
      }
      const auto best = static_cast<std::size_t>(std::ranges::min_element(expected_ms_) - expected_ms_.begin());
      const double ratio = expected_ms_[best] / expected_ms_[current_];
      if (!(ratio < gain_to_change)) return;
      const std::string_view before = names_[current_];
      go_over(model, best);
      changes_.push_back(message("step ", step, ": ", before, " -> ", names_[best], ", expected to take ",
                                 static_cast<float>(two_digits(ratio)), " times as long"));
    } catch (const std::bad_alloc&) {
    } catch (const data_error&) {
      // `check` reports it.
    }
  }

  std::vector<std::string_view> names_;
  std::vector<double> expected_ms_;
  std::size_t current_ = 0;
  bool stays_ = false;  ///< the engine no longer changes
  autotuner tuner_;
  std::vector<std::string> changes_;
};

}  // namespace quadrat::detail

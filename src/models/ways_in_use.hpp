// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/late_points.hpp"
#include "models/late_times.hpp"
#include "models/ways.hpp"
#include "parallel/capture.hpp"
#include "tune/engine_in_use.hpp"

namespace quadrat::detail {

/// The engine of a model, and the choice of its way where none is named. A model has, besides what
/// advance_by_late_times needs, expected_now(): the times that are expected for the present state.
template <typename Context, typename Engine, typename T, int D>
class ways_in_use {
 public:
  engine_in_use<Engine> engine;
  std::optional<online_choice> choice;

  void begin(online_choice fresh) {
    choice = std::move(fresh);
    times_.clear();
    sample_.forget();
    stays_ = false;
  }
  /// Synchronizes. Throws what the engine's check throws, and then stays with this engine, which alone knows of all
  /// faults.
  void check() {
    try {
      engine->check();
    } catch (...) {
      stays_ = true;
      throw;
    }
  }

  /// Enqueues steps of `model` and counts them in `step`.
  template <typename Model>
  void advance(const Context& context, Model& model, std::size_t particles, std::uint64_t& step, std::size_t steps) {
    // The memory of a graph is that of the engine that it was captured with.
    stays_ = stays_ || is_capturing(context);
    if (on_cuda && choice && choice->timed() && !stays_) {
      advance_by_late_times(context, *choice, times_, model, step, steps);
    } else {
      take(context, model, particles, step, steps, [&](std::size_t count) { engine->advance(count); });
    }
  }
  /// The same by `steps_of(n)`, which takes n steps, and without times of a device.
  template <typename Model, typename Take>
  void take(const Context& context, Model& model, std::size_t particles, std::uint64_t& step, std::size_t steps,
            const Take& steps_of) {
    const bool by_looks = choice && !stays_ && (!on_cuda || (!choice->timed() && ways_by_looks(context, particles)));
    if (by_looks) {
      const auto change = [&](std::size_t way) {
        model.change_way(way);
        engine.settle();
      };
      const auto expected = [&] { return model.expected_now(); };
      return advance_by_choice(*choice, has_one_thread(context), step, steps, steps_of, change, expected);
    }
    // Not by a way that is only on trial.
    if (choice && !stays_) model.change_way(choice->kept());
    steps_of(steps);
    step += steps;
  }

  /// Asks for a sample of these positions, in the order of particles.
  void look(const Context& context, const vec<T, D>* positions, std::size_t particles) {
    sample_.request(context, positions, particles);
  }
  [[nodiscard]] bool looking() const { return sample_.asked(); }
  [[nodiscard]] bool looked(const Context& context) const { return sample_.arrived(context); }
  /// Waits for the sample.
  [[nodiscard]] std::vector<vec<T, D>> seen() { return sample_.fetch(); }

 private:
  static constexpr bool on_cuda = std::is_same_v<Context, cuda_context>;

  bool stays_ = false;  ///< the way is not changed any more
  late_times<Context> times_;
  late_points<Context, T, D> sample_;
};

}  // namespace quadrat::detail

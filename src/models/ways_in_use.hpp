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

/// The engine of a model, and the choice of its way where none is named. A model has
///   change_way(k)     goes over to way k, where it is not the present one: the particles and their order stay
///   use_way(k)        takes the engine of way k as it is, and keeps the one before
///   gathered()        the positions of its particles, in their order, in the memory of the context
///   expected(taken)   times of the ways by a sample of those (late_points)
template <typename Context, typename Engine, typename T, int D>
class ways_in_use {
 public:
  engine_in_use<Engine> engine;
  std::optional<online_choice> choice;

  /// Begins the choice, with the engine of its way.
  template <typename Model>
  void begin(Model& model, online_choice fresh) {
    leave_trial(model, fresh.current());
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
      timed_model<Model> timed{*this, context, model, particles};
      advance_by_late_times(context, *choice, times_, timed, step, steps);
    } else {
      take(context, model, particles, step, steps, [&](std::size_t count) { engine->advance(count); });
    }
  }
  /// The same by `steps_of(n)`, which takes n steps, and without times of a device.
  template <typename Model, typename Take>
  void take(const Context& context, Model& model, std::size_t particles, std::uint64_t& step, std::size_t steps,
            const Take& steps_of) {
    if (choice && !stays_ && (!on_cuda || (!choice->timed() && ways_by_looks(context, particles)))) {
      const auto change = [&](std::size_t way) {
        model.change_way(way);
        engine.settle();
      };
      const auto expected = [&] {
        check();
        sample_.request(context, model.gathered(), particles);
        return model.expected(sample_.fetch());
      };
      return advance_by_choice(*choice, has_one_thread(context), step, steps, steps_of, change, expected);
    }
    // Not by a way that is only on trial.
    if (choice && !stays_) model.change_way(choice->kept());
    steps_of(steps);
    step += steps;
  }

 private:
  static constexpr bool on_cuda = std::is_same_v<Context, cuda_context>;

  /// For advance_by_late_times.
  template <typename Model>
  struct timed_model {
    ways_in_use& ways;
    const Context& context;
    Model& model;
    std::size_t particles;

    void change_way(std::size_t way) { model.change_way(way); }
    void leave_trial(std::size_t way) { ways.leave_trial(model, way); }
    void enqueue(std::size_t steps) { ways.engine->advance(steps); }
    void look() { ways.sample_.request(context, model.gathered(), particles); }
    [[nodiscard]] bool looking() const { return ways.sample_.asked(); }
    [[nodiscard]] std::vector<double> looked() {
      return ways.sample_.arrived(context) ? model.expected(ways.sample_.fetch()) : std::vector<double>();
    }
  };

  template <typename Model>
  void leave_trial(Model& model, std::size_t way) {
    model.use_way(way);
    engine.settle();
  }

  bool stays_ = false;  ///< the way is not changed any more
  late_times<Context> times_;
  late_points<Context, T, D> sample_;
};

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "quadrat/core/context.hpp"
#include "tune/method_trials.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime_api.h>

#include "core/cuda_check.hpp"
#endif

namespace quadrat::detail {

/// Places in the work of a context, and the time between them.
template <typename Context>
class work_marks {
 public:
  using mark = std::chrono::steady_clock::time_point;
  static constexpr double ms_of_trial = 0.002;  ///< that the marks of a trial take

  [[nodiscard]] mark set(const Context&) { return std::chrono::steady_clock::now(); }
  void forget(mark) {}
  [[nodiscard]] bool passed(const Context&, mark) const { return true; }
  [[nodiscard]] double milliseconds(mark begin, mark end) const {
    return std::chrono::duration<double, std::milli>(end - begin).count();
  }
};

#if defined(__CUDACC__)

/// Events on the context's stream, which are used again and nothing waits for.
template <>
class work_marks<cuda_context> {
 public:
  using mark = cudaEvent_t;
  static constexpr double ms_of_trial = trial_timing_ms_on_cuda;

  work_marks() = default;
  work_marks(const work_marks&) = delete;
  work_marks& operator=(const work_marks&) = delete;
  ~work_marks() {
    for (const mark one : all_) cudaEventDestroy(one);
  }

  [[nodiscard]] mark set(const cuda_context& context) {
    context.activate();
    if (free_.empty()) {
      mark made = nullptr;
      check_cuda(cudaEventCreate(&made), "making an event");
      all_.push_back(made);
      free_.push_back(made);
    }
    const mark one = free_.back();
    free_.pop_back();
    check_cuda(cudaEventRecord(one, context.stream()), "recording an event");
    return one;
  }
  void forget(mark one) { free_.push_back(one); }
  [[nodiscard]] bool passed(const cuda_context& context, mark one) const {
    context.activate();
    // To ask must not disturb what another stream of this thread captures.
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    check_cuda(cudaThreadExchangeStreamCaptureMode(&mode), "asking for an event");
    const cudaError_t status = cudaEventQuery(one);
    static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode));
    if (status == cudaErrorNotReady) cudaGetLastError();
    if (status != cudaErrorNotReady) check_cuda(status, "asking for an event");
    return status == cudaSuccess;
  }
  [[nodiscard]] double milliseconds(mark begin, mark end) const {
    float time = 0;
    check_cuda(cudaEventElapsedTime(&time, begin, end), "timing");
    return static_cast<double>(time);
  }

 private:
  std::vector<mark> all_, free_;
};

#endif

/// The trials of an object on a context, with their times. Nothing is waited for. Use, where the method is chosen
/// automatically, at determinism none, and no call is captured in a graph (then `stop`):
///   on a choice by the profile    begin(times, method, work)
///   at the start of a round       method = next_round(context, work)
///   around each call of it        start(context); ...; stop(context)
/// The first call of a round sets points or keys, those that follow use them.
template <typename Context>
class round_trials {
 public:
  /// `work`: what the time of a round grows with, such as the number of points. Rounds of other amounts are scaled.
  void begin(const std::vector<expected_time>& expected, std::string_view chosen, double work) {
    end();
    trials_.begin(expected, chosen, work_marks<Context>::ms_of_trial);
    work_ = work;
  }
  void end() {
    for (const flying& round : rounds_) forget(round);
    rounds_.clear();
    open_ = timing_ = false;
    trials_.stop();
  }
  [[nodiscard]] bool running() const { return trials_.running(); }
  /// Whether this method is only on trial.
  [[nodiscard]] bool trying(std::string_view method) const { return trials_.running() && method != trials_.kept(); }
  /// Whether no trial is on or near. Precondition: running().
  [[nodiscard]] bool resting() const { return trials_.resting(); }
  [[nodiscard]] const std::vector<std::string>& changes() const { return trials_.changes(); }

  /// Begins a round of this much work, more than 0, and returns the method for it. Precondition: running().
  [[nodiscard]] std::string_view next_round(const Context& context, double work) {
    collect(context);
    const auto [method, timed] = trials_.next();
    open_ = timed;
    if (timed) rounds_.push_back({method, work, 0, false, {}});
    return method;
  }
  /// The method of the round cannot be had. Another is to be asked for with next_round.
  void refuse(std::string_view method) {
    if (open_) rounds_.back().spoiled = true;
    trials_.refuse(method);
  }

  /// Around each call of a round. A call that fails has no `stop`: the round does not count.
  void start(const Context& context) {
    if (!open_) return;
    flying& round = rounds_.back();
    round.spoiled = round.spoiled || timing_;
    timing_ = true;
    if (round.pieces.size() < most_pieces) round.pieces.push_back({marks_.set(context), {}, false});
  }
  void stop(const Context& context) {
    if (!open_) return;
    flying& round = rounds_.back();
    timing_ = false;
    if (!round.pieces.back().ended) {
      round.pieces.back().end = marks_.set(context);
      round.pieces.back().ended = true;
    }
    ++round.calls;
  }

  round_trials() = default;
  round_trials(const round_trials&) = delete;
  round_trials& operator=(const round_trials&) = delete;
  ~round_trials() { end(); }

 private:
  using mark = typename work_marks<Context>::mark;
  static constexpr std::size_t most_pieces = 3;  ///< calls of a round that are timed: further ones take as long
  struct piece {
    mark begin, end;
    bool ended;
  };
  struct flying {
    std::string_view method;
    double work;
    std::size_t calls;
    bool spoiled;
    std::vector<piece> pieces;
  };

  void forget(const flying& round) {
    for (const piece& one : round.pieces) {
      marks_.forget(one.begin);
      if (one.ended) marks_.forget(one.end);
    }
  }

  /// Hands on the times of the rounds that have ended, up to the first that is not known yet.
  void collect(const Context& context) {
    if (timing_) rounds_.back().spoiled = true;
    open_ = timing_ = false;
    while (!rounds_.empty()) {
      const flying& round = rounds_.front();
      const bool complete = !round.spoiled && !round.pieces.empty();
      if (complete && !marks_.passed(context, round.pieces.back().end)) return;
      const std::optional<double> ms = complete ? time_of(round) : std::nullopt;
      ms ? trials_.took(round.method, *ms) : trials_.dropped(round.method);
      forget(round);
      rounds_.pop_front();
    }
  }

  /// Of the setting and as many uses as the rounds before a trial have, for the work at the beginning.
  [[nodiscard]] std::optional<double> time_of(const flying& round) {
    const auto ms = [this](const piece& one) { return marks_.milliseconds(one.begin, one.end); };
    const std::size_t uses = round.calls - 1, timed = round.pieces.size() - 1;
    if (trials_.running() && trials_.resting()) usual_uses_ = uses;
    if (usual_uses_ > 0 && timed == 0) return {};
    double of_uses = 0;
    for (std::size_t k = 1; k < round.pieces.size(); ++k) of_uses += ms(round.pieces[k]);
    const double one_use = timed > 0 ? of_uses / static_cast<double>(timed) : 0;
    return (ms(round.pieces[0]) + one_use * static_cast<double>(usual_uses_)) * work_ / round.work;
  }

  method_trials trials_;
  work_marks<Context> marks_;
  std::deque<flying> rounds_;
  double work_ = 0;
  std::size_t usual_uses_ = 0;
  bool open_ = false;    ///< the last round is being timed
  bool timing_ = false;  ///< between start and stop
};

}  // namespace quadrat::detail

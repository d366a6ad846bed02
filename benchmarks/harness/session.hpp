// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <any>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/built_backend.hpp"
#include "harness/report.hpp"
#include "harness/settings.hpp"
#include "harness/timing.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::bench {

/// Two methods that should agree do not.
class disagreement : public error {
 public:
  using error::error;
};

/// One call of `quadrat bench`, for the operations.
class session {
 public:
  session(const settings& asked, report& out) : asked_(asked), out_(out) {}

  [[nodiscard]] const settings& asked() const { return asked_; }
  [[nodiscard]] report& out() const { return out_; }
  [[nodiscard]] bool full() const { return asked_.full; }
  [[nodiscard]] bool on_cuda() const { return asked_.on_cuda; }
  [[nodiscard]] bool wants_method(std::string_view name) const;
  [[nodiscard]] timing_plan plan() const;
  [[nodiscard]] bool time_is_up() const;

  /// Runs `measure`, which completes the row or throws, and reports the outcome. Catches exceptions: a method that does
  /// not fit is skipped, a wrong one is a failure, and later rows are still measured.
  void attempt(const row& identity, const std::function<void(row&)>& measure) const;

  /// Data that several operations need: the result of `make()`, called once per key. It lives as long as the session.
  template <typename Result, typename F>
  const Result& once(const std::string& key, F&& make) const {
    auto found = known_.find(key);
    if (found == known_.end()) found = known_.emplace(key, std::any(Result(make()))).first;
    return *std::any_cast<Result>(&found->second);
  }

 private:
  const settings& asked_;
  report& out_;
  mutable std::map<std::string, std::any> known_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// A context as the session requests it.
template <typename Context>
[[nodiscard]] Context make_context(const session& s, determinism reproducibility = determinism::none) {
  typename Context::options chosen;
  chosen.reproducibility = reproducibility;
  if constexpr (std::is_same_v<Context, cpu_context>) chosen.threads = s.asked().threads;
  return Context(chosen);
}

/// Calls f(context) with a context of the requested device.
template <typename F>
void with_context(const session& s, F&& f) {
  if constexpr (detail::backend_is_built<cuda_context>) {
    if (s.on_cuda()) return f(make_context<cuda_context>(s));
  }
  f(make_context<cpu_context>(s));
}

/// 2^first, 2^(first + step), ..., 2^last.
[[nodiscard]] std::vector<std::size_t> powers_of_two(int first, int last, int step = 1);

}  // namespace quadrat::bench

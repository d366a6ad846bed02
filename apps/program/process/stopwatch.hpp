// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace quadrat::program {

/// Adds its lifetime to a number of seconds.
class stopwatch {
 public:
  explicit stopwatch(double& seconds) : seconds_(seconds) {}
  ~stopwatch() { seconds_ += elapsed(); }
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;

  [[nodiscard]] double elapsed() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

 private:
  using clock = std::chrono::steady_clock;
  double& seconds_;
  clock::time_point start_ = clock::now();
};

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace quadrat::program {

/// Shows on a terminal what a command is doing, once it takes longer than two seconds: a line on stderr, redrawn every
/// second. Does nothing if stderr is no terminal.
class activity {
 public:
  explicit activity(bool on);
  /// Removes the line.
  ~activity();
  activity(const activity&) = delete;
  activity& operator=(const activity&) = delete;

  /// Starts a new activity, such as "reading points.npy". Removes the line of the previous one.
  void begins(std::string what);
  /// Removes the line, and shows no more.
  void end();

 private:
  using clock = std::chrono::steady_clock;
  void watch();
  void clear();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  clock::time_point since_ = clock::now();
  bool ended_ = false;
  bool shown_ = false;
  std::thread watcher_;
};

}  // namespace quadrat::program

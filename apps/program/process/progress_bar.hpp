// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace quadrat::program {

/// "1,234,567"
[[nodiscard]] std::string with_commas(std::uint64_t number);
/// "1.23 M", "4.56 G": three digits and a decimal prefix.
[[nodiscard]] std::string with_prefix(double number);
/// "0:07", "12:34", "1:02:03"
[[nodiscard]] std::string clock_text(double seconds);

/// Shows on stderr the progress of a run, its speed and the remaining time: on a terminal in one line that is redrawn,
/// elsewhere in a new line from time to time.
class progress_bar {
 public:
  struct options {
    bool on = true;
    double seconds = 10;  ///< between lines if stderr is no terminal; 0: no lines
  };
  progress_bar(std::string title, std::uint64_t first_step, std::uint64_t last_step, std::uint64_t particles,
               options how);
  /// Removes the line from a terminal.
  ~progress_bar();
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;

  /// Redraws the line, at most ten times a second; without a terminal prints the next line when it is due.
  void show(std::uint64_t step);

 private:
  using clock = std::chrono::steady_clock;
  [[nodiscard]] std::string text(std::uint64_t step, double seconds) const;

  std::string title_;
  std::uint64_t first_step_, last_step_, particles_;
  bool terminal_, on_;
  clock::duration period_;
  clock::time_point start_ = clock::now();
  clock::time_point next_;
};

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
#include "program/process/progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "quadrat/core/error.hpp"

namespace quadrat::program {

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string with_prefix(double number) {
  constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t i = 0;
  for (; number >= 999.5 && i + 1 < std::size(prefixes); ++i) number /= 1000;
  const int digits = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}{}", number, digits, i > 0 ? " " : "", prefixes[i]);
}

std::string clock_text(double seconds) {
  const auto total = static_cast<std::uint64_t>(std::clamp(seconds, 0.0, 1e9) + 0.5);
  const auto hours = total / 3600, minutes = total / 60 % 60, rest = total % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, rest) : fmt::format("{}:{:02}", minutes, rest);
}

progress_bar::progress_bar(std::string title, std::uint64_t first_step, std::uint64_t last_step,
                           std::uint64_t particles, options how)
    : title_(std::move(title)),
      first_step_(first_step),
      last_step_(last_step),
      particles_(particles),
      terminal_(::isatty(STDERR_FILENO) != 0),
      on_(how.on && last_step > first_step && (terminal_ || how.seconds > 0)),
      period_(std::chrono::duration_cast<clock::duration>(
          std::chrono::duration<double>(terminal_ ? 0.1 : std::min(how.seconds, 1e6)))),
      next_(terminal_ ? start_ : start_ + period_) {}

progress_bar::~progress_bar() {
  if (on_ && terminal_) std::fputs("\r\033[K", stderr);
}

void progress_bar::show(std::uint64_t step) {
  const auto now = clock::now();
  if (!on_ || now < next_) return;
  next_ = now + period_;
  const std::string line = text(step, std::chrono::duration<double>(now - start_).count());
  std::fprintf(stderr, terminal_ ? "\r%s\033[K" : "%s\n", line.c_str());
  std::fflush(stderr);
}

std::string progress_bar::text(std::uint64_t step, double seconds) const {
  constexpr std::size_t width = 24;
  const std::size_t filled = last_step_ == 0 ? width : static_cast<std::size_t>(width * step / last_step_);
  const double done = static_cast<double>(step - first_step_);
  const double left = done > 0 ? seconds / done * static_cast<double>(last_step_ - step) : 0;
  const double rate = seconds > 0 ? done * static_cast<double>(particles_) / seconds : 0;
  const std::string bar = message(" [", std::string(filled, '#'), std::string(width - filled, '.'), "]");
  return fmt::format("{}{} {:3d} %  step {}/{}  {} updates/s  {} left", title_, terminal_ ? bar : ":",
                     100 * step / last_step_, with_commas(step), with_commas(last_step_), with_prefix(rate),
                     done > 0 ? clock_text(left) : "?:??");
}

}  // namespace quadrat::program

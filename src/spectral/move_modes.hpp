// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "quadrat/core/context.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "spectral/modes.hpp"

/// Moves all modes between their array and the transform of a mesh.
namespace quadrat::detail {

/// Index: stored mode.
template <typename Move>
struct move_modes {
  Move how;

  QUADRAT_HD void operator()(std::size_t i) const {
    const auto last = static_cast<std::size_t>(how.map.stored[2]);
    const auto line = how.map.line(i / last);
    const int k = how.map.mode(static_cast<int>(i % last), 2);
    how.move(i, line.node + static_cast<std::size_t>(how.map.home(k, 2)),
             line.factor * how.map.factor[2][k < 0 ? -k : k], how.map.is_last(k));
  }
};

/// The same for CPUs. Index: part of a line along the last axis.
template <typename Move>
struct move_lines_of_modes {
  static constexpr int length = 2048;
  Move how;

  [[nodiscard]] std::size_t parts() const {
    return static_cast<std::size_t>((how.map.stored[2] + length - 1) / length);
  }
  [[nodiscard]] std::size_t count() const {
    return how.map.size() / static_cast<std::size_t>(how.map.stored[2]) * parts();
  }
  void operator()(std::size_t i) const {
    const std::size_t row = i / parts();
    const int begin = static_cast<int>(i % parts()) * length, end = std::min(begin + length, how.map.stored[2]);
    // Modes of one sign are contiguous, also in the transform.
    const int k = how.map.mode(begin, 2);
    const int turn =
        std::min(end, how.map.fft_order || how.map.real ? (how.map.modes[2] + 1) / 2 : how.map.modes[2] / 2);
    const int same = turn > begin && !how.map.real ? turn : end;
    run(row, begin, same, k);
    if (same < end) run(row, same, end, how.map.mode(same, 2));
  }

 private:
  /// Moves the modes from k on, all of one sign.
  void run(std::size_t row, int begin, int end, int k) const {
    const auto line = how.map.line(row);
    const std::size_t node = line.node + static_cast<std::size_t>(how.map.home(k, 2));
    const std::size_t at = row * static_cast<std::size_t>(how.map.stored[2]) + static_cast<std::size_t>(begin);
    const auto* factor = how.map.factor[2] + (k < 0 ? -k : k);
    const std::ptrdiff_t step = k < 0 ? -1 : 1;
    for (int i = 0; i < end - begin; ++i) {
      const auto j = static_cast<std::size_t>(i);
      how.move(at + j, node + j, line.factor * factor[step * i], how.map.is_last(k + i));
    }
  }
};

/// `how`: read_modes or write_modes.
template <typename Context, typename Move>
void move_all(const Context& context, const char* name, const Move& how) {
  if constexpr (std::is_same_v<Context, cuda_context>) {
    for_each(context, name, how.map.size(), move_modes<Move>{how});
  } else {
    static_cast<void>(name);
    [[maybe_unused]] constexpr std::size_t worth_a_team = 2048;
    const move_lines_of_modes<Move> lines{how};
    const auto count = static_cast<std::int64_t>(lines.count());
#pragma omp parallel for schedule(static) num_threads(context.threads()) if (how.map.size() >= worth_a_team)
    for (std::int64_t i = 0; i < count; ++i) lines(static_cast<std::size_t>(i));
  }
}

}  // namespace quadrat::detail

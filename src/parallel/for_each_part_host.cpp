// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/parallel/for_each_part.hpp"

#include <cstdint>
#include <exception>
#include <limits>

namespace quadrat::detail {

namespace {

/// Carries exceptions out of a parallel region: OpenMP does not let them leave it.
class team_error {
 public:
  /// Calls work(), in any thread. If several parts throw, the exception of the lowest part is kept.
  template <typename Work>
  void guard(std::int64_t part, const Work& work) noexcept {
    try {
      work();
    } catch (...) {
#pragma omp critical(quadrat_team_error)
      if (part < part_) {
        part_ = part;
        error_ = std::current_exception();
      }
    }
  }
  /// Call after the region.
  void rethrow() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  std::int64_t part_ = std::numeric_limits<std::int64_t>::max();
  std::exception_ptr error_;
};

}  // namespace

void team_parts(int threads, std::size_t parts, part_order order, void (*work)(const void* body, std::size_t part),
                const void* body) {
  const auto last = static_cast<std::int64_t>(parts);
  const bool team = threads > 1 && last > 1;
  team_error error;
  const auto run = [&](std::int64_t part) { error.guard(part, [&] { work(body, static_cast<std::size_t>(part)); }); };
  if (order == part_order::fixed) {
#pragma omp parallel for schedule(static) num_threads(threads) if (team)
    for (std::int64_t part = 0; part < last; ++part) run(part);
  } else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (team)
    for (std::int64_t part = 0; part < last; ++part) run(part);
  }
  error.rethrow();
}

void team_shares(int threads, std::size_t count, void (*work)(const void* body, std::size_t first, std::size_t last),
                 const void* body) {
  // Waking a team takes some microseconds, too long for small loops.
  constexpr std::size_t worth_a_team = 2048;
  if (threads == 1 || count < worth_a_team) {
    work(body, 0, count);
    return;
  }
  const auto parts = static_cast<std::size_t>(threads);
  const std::size_t share = count / parts, more = count % parts;
  for_each_part(threads, parts, [&](std::size_t part) {
    const std::size_t first = part * share + (part < more ? part : more);
    work(body, first, first + share + (part < more ? 1 : 0));
  });
}

}  // namespace quadrat::detail

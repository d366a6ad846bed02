// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/core/box.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/tune/device_profile.hpp"
#include "tune/choice.hpp"
#include "tune/online_choice.hpp"
#include "tune/point_sample.hpp"

/// What models share that choose the way in which they take their steps: at the start of a run, and again as it goes.
namespace quadrat::detail {

/// Milliseconds of a step, by way; by the profile that comes with the library where this one lacks a constant.
[[nodiscard]] inline std::vector<double> expected_step_ms(std::string_view module, const std::vector<named_cost>& costs,
                                                          const device_profile& profile, bool cuda) {
  const auto by = [&](const device_profile& one, const named_cost& way) {
    return expected_ms(one, module, way.method, way.cost, 1);
  };
  std::vector<double> times;
  for (const named_cost& way : costs) times.push_back(by(profile, way));
  for (const double ms : times) {
    if (std::isfinite(ms)) continue;
    for (std::size_t k = 0; k < times.size(); ++k) times[k] = by(shipped_profile(cuda), costs[k]);
    break;
  }
  return times;
}

/// Whether the times of steps decide; otherwise the profile and a sample alone.
template <typename Context>
[[nodiscard]] bool ways_by_time(const Context& context) {
  return context.reproducibility() == determinism::none;
}
/// Whether a choice that must not go by times is looked at again. On CUDA a look waits for the device, which takes some
/// .2 ms: with fewer particles more than 2 % of the steps from one to the next.
[[nodiscard]] inline bool ways_by_looks(const cpu_context& /*context*/, std::size_t /*particles*/) { return true; }
[[nodiscard]] inline bool ways_by_looks(const cuda_context& /*context*/, std::size_t particles) {
  return particles >= 100000;
}
/// Threads that a choice counts with: none where it must be the same with any number of them.
[[nodiscard]] inline int threads_for_ways(const cpu_context& context) {
  return ways_by_time(context) ? context.threads() : usual_threads;
}
[[nodiscard]] inline int threads_for_ways(const cuda_context& /*context*/) { return 1; }

/// Expected other particles in the cell of a particle. `edge`: of cells, which may be larger than asked for.
struct company_in_cells {
  double company = 0;
  double edge = 1;
};

/// By a sample of points (taken_of), of so many. In the order by id, so that it does not depend on the order in memory.
template <typename T, int D>
[[nodiscard]] company_in_cells sample_company(const std::vector<vec<T, D>>& taken, std::size_t count,
                                              const box<T, D>& domain, double edge) {
  if (taken.empty()) return {0, edge};
  const sampled_cells cells = cells_for_sample(domain, edge);
  double volume = 1;
  for (int axis = 0; axis < D; ++axis) volume /= cells.scale[axis];
  std::vector<std::uint64_t> numbers;
  numbers.reserve(taken.size());
  for (const vec<T, D>& point : taken) {
    std::uint64_t number = 0;
    for (int axis = D - 1; axis >= 0; --axis) {
      number = number * cells.extent[axis] + cells.along(static_cast<double>(point[axis]), axis);
    }
    numbers.push_back(number);
  }
  // No distribution has less than an even one, of which a sample may have no pair at all.
  const double even = static_cast<double>(count - 1) / cells.cells();
  return {std::max(even, summarize_points(count, cells, numbers).company), std::pow(volume, 1.0 / D)};
}

/// Expected other particles in a cube of this edge around one.
template <typename T, int D>
[[nodiscard]] double company_of(const std::vector<vec<T, D>>& taken, std::size_t count, const box<T, D>& domain,
                                double edge) {
  const company_in_cells found = sample_company(taken, count, domain, edge);
  return found.company * std::pow(edge / found.edge, D);
}

/// The same, and with which power of the edge it grows up to three times this edge: the dimension of what particles are
/// spread over. A walk reads 27 times as many in a cube, and three times as many along a line.
struct growing_company {
  double company = 0;
  double growth = 0;
};
template <typename T, int D>
[[nodiscard]] growing_company growing_company_of(const std::vector<vec<T, D>>& taken, std::size_t count,
                                                 const box<T, D>& domain, double edge) {
  const company_in_cells near = sample_company(taken, count, domain, edge),
                         far = sample_company(taken, count, domain, 3 * edge);
  double growth = D;
  if (near.company > 0 && far.edge > 1.01 * near.edge) {
    growth = std::clamp(std::log(far.company / near.company) / std::log(far.edge / near.edge), 0.0, double{D});
  }
  return {near.company * std::pow(edge / near.edge, growth), growth};
}

/// Takes the way by which a state was reached, unless only the other kind of device has it. Throws argument_error for
/// one that none has.
template <typename Ways>
void take_way_of_state(online_choice& choice, const std::string& way, const Ways& of_other_device) {
  if (way.empty() || choice.take(way)) return;
  const bool known = std::ranges::any_of(of_other_device, [&](const auto& one) { return one.name == way; });
  require(known, "the state was reached by a way \"", way, "\", which this version does not have");
}

/// Milliseconds, for comparing ways. With one thread, those in which it computed: what else the machine does then does
/// not count.
[[nodiscard]] inline double way_clock_ms(bool one_thread) {
#if defined(CLOCK_THREAD_CPUTIME_ID)
  std::timespec now{};
  if (one_thread && clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0) {
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
  }
#endif
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[nodiscard]] inline bool has_one_thread(const cpu_context& context) { return context.threads() == 1; }
[[nodiscard]] inline bool has_one_thread(const cuda_context& /*context*/) { return false; }

/// Takes steps by the ways of a choice, and counts them in `step`.
///   advance(n)   takes n steps by the present way
///   change(k)    goes over to way k; if it throws, the present way is as it was
///   expected()   milliseconds of a step, by way, for the present state
/// Neither faults of the run nor a lack of memory for another way are thrown.
template <typename Advance, typename Change, typename Expected>
void advance_by_choice(online_choice& choice, bool one_thread, std::uint64_t& step, std::size_t steps,
                       const Advance& advance, const Change& change, const Expected& expected) {
  double begin = way_clock_ms(one_thread);
  while (steps > 0) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(steps, choice.piece(step)));
    advance(count);
    steps -= count;
    step += count;
    const double end = way_clock_ms(one_thread), ms = end - begin;
    begin = end;
    const std::string_view before = choice.name();
    try {
      if (choice.took(step, count, ms, expected)) change(choice.current());
    } catch (const std::bad_alloc&) {
      choice.refuse();
      static_cast<void>(choice.take(before));
    } catch (const data_error&) {
      // `check` will say so.
      static_cast<void>(choice.take(before));
    }
  }
}

}  // namespace quadrat::detail

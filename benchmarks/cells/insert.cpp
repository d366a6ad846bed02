// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string_view>
#include <vector>

#include "cells/crowd.hpp"
#include "cells/operations.hpp"
#include "harness/stopwatch.hpp"

namespace quadrat::bench {

namespace {

template <typename Context, typename T>
crowd<Context, T> random_crowd(const Context& context, const cube& room, std::size_t n) {
  return crowd<Context, T>(context, room, random_points<T>(n, room.half_side(), n));
}

template <typename Context, typename T>
timing time_build(const session& s, crowd<Context, T>& people, std::string_view method, const Context& context,
                  row& out) {
  const auto list = people.make(method, context);
  people.verify(method, *list);
  const timing measured = time_repeated(context, s.plan(), [&] { list->build(people.points()); });
  list->check();
  add_timing(out, measured, "inserts_per_s", static_cast<double>(people.size()));
  out["bytes"] = list->bytes();
  return measured;
}

/// One row for each selected method.
template <typename T, typename Context>
void time_builds(const session& s, const Context& context, const cube& room, std::size_t n,
                 determinism level = determinism::none) {
  auto people = random_crowd<Context, T>(context, room, n);
  const Context builder = level == determinism::none ? context : make_context<Context>(s, level);
  for (const std::string_view method : wanted_cell_lists(s)) {
    row identity = people.describe("insert", method, "random");
    if (level == determinism::run_to_run) identity["determinism"] = "run_to_run";
    s.attempt(identity, [&](row& out) { time_build(s, people, method, builder, out); });
  }
}

/// The noise of measurements: one build, timed at the start and again at the end of the operation.
template <typename Context>
class noise_probe {
 public:
  noise_probe(const session& s, const Context& context)
      : session_(s),
        people_(random_crowd<Context, float>(context, paper_cube, std::size_t{1} << (s.full() ? 20 : 14))),
        first_ms_(take()) {}

  void finish() {
    const auto methods = wanted_cell_lists(session_);
    if (!methods.empty()) session_.out().add_noise(people_.describe("insert", methods[0], "random"), first_ms_, take());
  }

 private:
  double take() {
    const auto methods = wanted_cell_lists(session_);
    row unused;
    return methods.empty() ? 0 : time_build(session_, people_, methods[0], people_.context(), unused).median_ms;
  }

  const session& session_;
  crowd<Context, float> people_;
  double first_ms_;
};

template <typename Context>
void run_insert_on(const session& s, const Context& context) {
  noise_probe<Context> noise(s, context);
  const int last = !s.full() ? 14 : (s.on_cuda() ? 24 : 22);
  for (const std::size_t n : powers_of_two(10, last, s.full() ? 1 : 4)) time_builds<float>(s, context, paper_cube, n);
  for (const std::size_t n : powers_of_two(s.full() ? 16 : 14, last, 4)) time_builds<double>(s, context, paper_cube, n);
  for (const std::size_t n : powers_of_two(s.full() ? 20 : 14, last, 4)) {
    time_builds<float>(s, context, paper_cube, n, determinism::run_to_run);
  }
  noise.finish();
}

/// Normally distributed around the middle of the room, and inside it. Standard deviation: a twentieth of the side.
[[nodiscard]] std::vector<float> blob_points(std::size_t n, double half_side) {
  std::vector<float> values(3 * n);
  const auto last = static_cast<std::int64_t>(values.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < last; ++i) {
    const auto draw = 2 * static_cast<std::uint64_t>(i);
    const double radius = std::sqrt(-2 * std::log(1 - random_unit(5, draw)));
    const double normal = radius * std::cos(2 * std::numbers::pi * random_unit(5, draw + 1));
    values[static_cast<std::size_t>(i)] = static_cast<float>(half_side * std::clamp(normal / 10, -0.999, 0.999));
  }
  return values;
}

template <typename Context>
void run_blob_on(const session& s, const Context& context) {
  const std::size_t n = s.full() ? 10'000'000 : 20'000;
  const cube room{s.full() ? 200 : 25};
  crowd<Context, float> people(context, room, blob_points(n, room.half_side()));
  for (const std::string_view method : wanted_cell_lists(s)) {
    if (method != "counting" && method != "sorted") continue;
    row identity = people.describe("blob", method, "random");
    identity["distribution"] = "blob";
    s.attempt(identity, [&](row& out) { time_build(s, people, method, context, out); });
  }
}

}  // namespace

void run_insert(const session& s) {
  with_context(s, [&](const auto& context) { run_insert_on(s, context); });
}

void run_boxes(const session& s) {
  const int first = s.full() ? 20 : 14;
  const int last = !s.full() ? 14 : (s.on_cuda() ? 26 : 22);
  with_context(s, [&](const auto& context) {
    for (const double occupancy : {2.0, 3.5, 8.0}) {
      for (const std::size_t n : powers_of_two(first, last, 2)) {
        time_builds<float>(s, context, cube_for(n, occupancy), n);
      }
    }
  });
}

void run_blob(const session& s) {
  with_context(s, [&](const auto& context) { run_blob_on(s, context); });
}

}  // namespace quadrat::bench

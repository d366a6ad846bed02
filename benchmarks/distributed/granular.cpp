// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>

#include "distributed/operations.hpp"
#include "distributed/steps.hpp"
#include "quadrat/models/distributed_granular.hpp"

namespace quadrat::bench {

namespace {

/// A box that is long along y and half full of touching grains at rest, so that all steps are alike. In a moving run,
/// steps would take different times early and late, and for large and small systems.
[[nodiscard]] granular_options box_for(std::size_t count) {
  granular_options options;
  const double diameter = 2 * options.parameters.radius;
  const double edge = diameter * std::ceil(std::cbrt(static_cast<double>(count)));
  options.lower = {0, 0, 0};
  options.upper = {edge, 2 * edge, edge};
  options.parameters.gravity = {0, 0, 0};
  options.method = "counting";
  return options;
}

/// The steps of `count` grains.
void time_steps(const session& s, std::string_view op, std::size_t count, int number) {
  const granular_options options = box_for(count);
  const auto positions = granular_initial_positions(granular_start::lattice, count, options.parameters.radius,
                                                    options.lower, options.upper);
  time_model(
      s, op, "lattice", count, number,
      [&](const auto& context, communicator& ranks) {
        const std::vector<vec<double, 3>> none;
        return distributed_granular<std::remove_cvref_t<decltype(context)>, float>(
            context, ranks, options, ranks.rank() == 0 ? positions : none);
      },
      [&](const auto& context) {
        return granular<std::remove_cvref_t<decltype(context)>, float>(context, options, positions);
      });
}

}  // namespace

void run_weak_scaling(const session& s) {
  const std::size_t each = s.on_cuda() ? (s.full() ? 16'000'000 : 100'000) : (s.full() ? 200'000 : 2'000);
  for (const int number : rank_counts(s)) time_steps(s, "weak", each * static_cast<std::size_t>(number), number);
}

void run_strong_scaling(const session& s) {
  std::vector<std::size_t> sizes{s.full() ? std::size_t{200'000} : std::size_t{3'000}};
  if (s.on_cuda()) sizes = {s.full() ? std::size_t{4'000'000} : std::size_t{100'000}};
  if (s.on_cuda() && s.full()) sizes.push_back(64'000'000);
  for (const std::size_t count : sizes) {
    for (const int number : rank_counts(s)) time_steps(s, "strong", count, number);
  }
}

void run_exchange(const session& s) {
  const std::size_t each = s.on_cuda() ? (s.full() ? 4'000'000 : 100'000) : (s.full() ? 200'000 : 3'000);
  for (const int number : rank_counts(s)) {
    const std::size_t count = each * static_cast<std::size_t>(number);
    const granular_options options = box_for(count);
    const auto positions = granular_initial_positions(granular_start::lattice, count, options.parameters.radius,
                                                      options.lower, options.upper);
    for (const bool always : {false, true}) {
      const row identity = identify("exchange", always ? "exchanging" : "ranks", "float", count, 0, "lattice");
      time_on_ranks(s, identity, count, number, [&](const auto& context, communicator& ranks) {
        const std::vector<vec<double, 3>> none;
        return distributed_granular<std::remove_cvref_t<decltype(context)>, float>(
            context, ranks, options, ranks.rank() == 0 ? positions : none, none, always ? 0.0 : 0.5);
      });
    }
  }
}

void run_overlap(const session& s) {
  const std::size_t count = s.on_cuda() ? (s.full() ? 4'000'000 : 100'000) : (s.full() ? 200'000 : 3'000);
  const granular_options options = box_for(count);
  const auto positions = granular_initial_positions(granular_start::lattice, count, options.parameters.radius,
                                                    options.lower, options.upper);
  for (const int number : rank_counts(s)) {
    for (const bool overlaps : {false, true}) {
      const row identity = identify("overlap", overlaps ? "overlapping" : "ranks", "float", count, 0, "lattice");
      time_on_ranks(s, identity, count, number, [&](const auto& context, communicator& ranks) {
        const std::vector<vec<double, 3>> none;
        return distributed_granular<std::remove_cvref_t<decltype(context)>, float>(
            context, ranks, options, ranks.rank() == 0 ? positions : none, none, 0.5,
            overlaps ? halo_overlap::always : halo_overlap::never);
      });
    }
  }
}

}  // namespace quadrat::bench

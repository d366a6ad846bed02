// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <random>
#include <vector>

#include "distributed/operations.hpp"
#include "distributed/steps.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/distributed/electrostatics.hpp"

namespace quadrat::bench {

namespace {

/// Charges of both signs at random places, one in a unit of volume.
struct random_charges {
  box<float, 3> domain;
  std::vector<vec<float, 3>> points;
  std::vector<float> charges;

  explicit random_charges(std::size_t count) {
    const auto edge = static_cast<float>(std::cbrt(static_cast<double>(count)));
    domain = make_box_from_lengths<float, 3>({}, vec<float, 3>::filled(edge), vec<bool, 3>::filled(true));
    std::mt19937_64 random(1);
    std::uniform_real_distribution<float> along(0, edge * 0.99999f);
    for (std::size_t i = 0; i < count; ++i) {
      points.push_back({along(random), along(random), along(random)});
      charges.push_back(i % 2 == 0 ? 1.0f : -1.0f);
    }
  }
};

/// Where a context's results go.
template <typename Context>
struct charge_results {
  array<vec<float, 3>, Context> forces;
  array<double, Context> energy;
  electrostatics_output<float> output{};

  charge_results(const Context& context, std::size_t count) : forces(context, count), energy(context, 1) {
    output.forces = forces.data();
    output.energy = energy.data();
  }
};

void sum_on_ranks(const session& s, const random_charges& all, const electrostatics_options& options, int number) {
  const std::size_t count = all.points.size();
  attempt_on_ranks(s, identify("ewald", "ranks", "float", count, 0, "uniform"), number,
                   [&](const auto& context, communicator& ranks, row& out) {
                     using context_type = std::remove_cvref_t<decltype(context)>;
                     const auto space = make_grid(all.domain, vec<int, 3>::filled(32));
                     const auto shares = even_decomposition(space, ranks.size());
                     std::vector<vec<float, 3>> mine;
                     std::vector<float> own;
                     for (std::size_t i = 0; i < count; ++i) {
                       if (shares.view().owner(space.unfolded_cell_of(all.points[i])) != ranks.rank()) continue;
                       mine.push_back(all.points[i]);
                       own.push_back(all.charges[i]);
                     }
                     const auto points = to_device(context, mine);
                     const auto charges = to_device(context, own);
                     charge_results<context_type> results(context, mine.size());
                     distributed_electrostatics<context_type, float> sums(context, ranks, space, options);
                     sums.set(shares, points_of(points), charges.data());
                     const int calls = s.full() ? 5 : 1;
                     const std::uint64_t before = ranks.bytes_sent();
                     const timing measured = time_together(s, context, ranks, calls,
                                                           [&] { sums.compute(points_of(points), results.output); });
                     double bytes = 0, most = 0;
                     for (const std::uint64_t one : all_values(ranks, ranks.bytes_sent() - before))
                       bytes += static_cast<double>(one);
                     for (const std::uint64_t one : all_values(ranks, std::uint64_t{mine.size()})) {
                       most = std::max(most, static_cast<double>(one));
                     }
                     out["bytes_sent_a_step"] =
                         bytes / static_cast<double>(measured.samples * static_cast<std::size_t>(calls) + 1);
                     out["imbalance"] = most * ranks.size() / static_cast<double>(count) - 1;
                     add_timing(out, measured, "points_per_s", static_cast<double>(count));
                   });
}

void sum_alone(const session& s, const random_charges& all, const electrostatics_options& options, int number) {
  row identity = identify("ewald", "one_context", "float", all.points.size(), 0, "uniform");
  identity["ranks"] = number;
  s.attempt(identity, [&](row& out) {
    with_one_context(s, number, [&](const auto& context) {
      using context_type = std::remove_cvref_t<decltype(context)>;
      const auto points = to_device(context, all.points);
      const auto charges = to_device(context, all.charges);
      const lattice<float, 3> cell = make_lattice(all.domain);
      charge_results<context_type> results(context, all.points.size());
      electrostatics<context_type, float> sums(context, options);
      electrostatics_input<float> input;
      input.points = points_of(points);
      input.charges = charges.data();
      input.cells = {&cell, 1};
      self_communicator self;
      const timing measured =
          time_together(s, context, self, s.full() ? 5 : 1, [&] { sums.compute(input, results.output); });
      add_timing(out, measured, "points_per_s", static_cast<double>(all.points.size()));
    });
  });
}

}  // namespace

void run_distributed_ewald(const session& s) {
  const random_charges all(s.on_cuda() ? (s.full() ? 1'000'000 : 10'000) : (s.full() ? 50'000 : 1'000));
  electrostatics_options options;
  options.method = "spme";
  options.accuracy = 1e-4;
  for (const int number : rank_counts(s)) {
    sum_on_ranks(s, all, options, number);
    if (!s.on_cuda() || number == 1) sum_alone(s, all, options, number);
  }
}

}  // namespace quadrat::bench

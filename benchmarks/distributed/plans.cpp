// SPDX-License-Identifier: BSD-3-Clause
#include <complex>
#include <cstddef>
#include <random>

#include "distributed/operations.hpp"
#include "distributed/teams.hpp"
#include "quadrat/distributed/fft.hpp"
#include "quadrat/distributed/halo.hpp"
#include "quadrat/distributed/migration.hpp"

namespace quadrat::bench {

namespace {

/// As a float4.
struct alignas(16) position_record {
  float x, y, z, w;
};

}  // namespace

void run_halo(const session& s) {
  for (const int number : rank_counts(s)) {
    // A cube for each rank, in a row and periodic, with about as many ghosts as this from its two neighbors.
    const std::size_t wanted = s.full() ? 64'000 : 2'000;
    const int layers = 32;
    const std::size_t own = wanted / 2 * static_cast<std::size_t>(layers);
    const row identity = identify("halo", "positions", "float", own, 0, "uniform");
    attempt_on_ranks(s, identity, number, [&](const auto& context, communicator& ranks, row& out) {
      using context_type = std::remove_cvref_t<decltype(context)>;
      const auto length = static_cast<float>(layers * ranks.size());
      const auto space = make_grid(make_box<float, 3>({0, 0, 0}, {length, 1, 1}, {true, false, false}),
                                   vec<int, 3>{layers * ranks.size(), 1, 1});
      const auto shares = even_decomposition(space, ranks.size());
      std::mt19937 random(static_cast<unsigned>(ranks.rank()));
      std::uniform_real_distribution<float> along(static_cast<float>(layers * ranks.rank()),
                                                  static_cast<float>(layers * (ranks.rank() + 1)));
      std::vector<position_record> points(own);
      for (auto& point : points) point = {std::min(along(random), length * 0.99999f), 0.5f, 0.5f, 0};
      const device_decomposition<context_type, 3> on_device(context, shares);
      const auto given = to_device(context, points);
      halo<context_type, float, 3> borders(context, ranks);
      borders.build(space, on_device.view(), strided_points<3>(&given.data()->x, own, 4), {.reach = 0.999f});
      array<position_record, context_type> all(context, own + borders.ghosts());
      copy_bytes(context, given.data(), all.data(), own * sizeof(position_record));
      const timing measured =
          time_together(s, context, ranks, s.full() ? 100 : 3, [&] { borders.forward(all.data()); });
      out["ghosts"] = borders.ghosts();
      add_timing(out, measured, "points_per_s", static_cast<double>(borders.ghosts()));
    });
  }
}

void run_migration(const session& s) {
  const std::size_t own = s.on_cuda() ? (s.full() ? 16'000'000 : 100'000) : (s.full() ? 1'000'000 : 10'000);
  for (const int number : rank_counts(s)) {
    const row identity = identify("migration", "stable", "float", own, 0, "one of 100");
    attempt_on_ranks(s, identity, number, [&](const auto& context, communicator& ranks, row& out) {
      using context_type = std::remove_cvref_t<decltype(context)>;
      std::vector<std::uint32_t> owners(own);
      for (std::size_t i = 0; i < own; ++i) {
        owners[i] = static_cast<std::uint32_t>((ranks.rank() + (i % 100 == 0 ? 1 : 0)) % ranks.size());
      }
      const auto destinations = to_device(context, owners);
      migration<context_type> moves(context, ranks);
      moves.build(destinations.data(), own);
      array<position_record, context_type> from(context, own), to(context, moves.arriving());
      fill_bytes(context, from.data(), 1, own * sizeof(position_record));
      const timing measured = time_together(s, context, ranks, s.full() ? 10 : 2, [&] {
        moves.build(destinations.data(), own);
        moves.apply(from.data(), to.data());
      });
      add_timing(out, measured, "points_per_s", static_cast<double>(own));
    });
  }
}

void run_distributed_fft(const session& s) {
  const int edge = s.on_cuda() ? (s.full() ? 512 : 64) : (s.full() ? 128 : 16);
  const std::size_t points =
      static_cast<std::size_t>(edge) * static_cast<std::size_t>(edge) * static_cast<std::size_t>(edge);
  struct way {
    const char* name;
    bool transposed;
    fft_layout layout;
  };
  for (const way& one :
       {way{"natural", false, fft_layout::slabs}, way{"transposed", true, fft_layout::slabs},
        way{"pencils", false, fft_layout::pencils}, way{"transposed pencils", true, fft_layout::pencils}}) {
    for (const int number : rank_counts(s)) {
      const row identity = identify("fft", one.name, "float", points, points, "uniform");
      attempt_on_ranks(s, identity, number, [&](const auto& context, communicator& ranks, row& out) {
        using context_type = std::remove_cvref_t<decltype(context)>;
        distributed_fft<context_type, float> fft(context, ranks, {edge, edge, edge},
                                                 {.transposed = one.transposed, .library = {}, .layout = one.layout});
        array<vec<float, 2>, context_type> mesh(context, fft.room());
        fill_bytes(context, mesh.data(), 0, fft.room() * sizeof(vec<float, 2>));
        auto* const data = reinterpret_cast<std::complex<float>*>(mesh.data());
        const timing measured = time_together(s, context, ranks, s.full() ? 5 : 1, [&] { fft.forward(data); });
        add_timing(out, measured, "points_per_s", static_cast<double>(points));
      });
    }
  }
}

}  // namespace quadrat::bench

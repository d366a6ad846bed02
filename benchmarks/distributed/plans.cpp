// SPDX-License-Identifier: BSD-3-Clause
#include <complex>
#include <cstddef>
#include <random>
#include <string_view>
#include <type_traits>
#include <vector>

#include "distributed/operations.hpp"
#include "distributed/steps.hpp"
#include "distributed/teams.hpp"
#include "quadrat/distributed/fft.hpp"
#include "quadrat/distributed/halo.hpp"
#include "quadrat/distributed/migration.hpp"
#include "quadrat/distributed/nccl.hpp"
#include "quadrat/distributed/sparse_migration.hpp"
#include "spectral/transform.hpp"

namespace quadrat::bench {

namespace {

/// As a float4.
struct alignas(16) position_record {
  float x, y, z, w;
};

}  // namespace

namespace {

/// A row of cubes, one per rank, periodic. A rank has about `wanted` ghosts from its two neighbors.
template <typename Context>
void time_halo(const session& s, const Context& context, communicator& ranks, std::size_t wanted, row& out) {
  const int layers = 32;
  const std::size_t own = wanted / 2 * static_cast<std::size_t>(layers);
  const auto length = static_cast<float>(layers * ranks.size());
  const auto space = make_grid(make_box<float, 3>({0, 0, 0}, {length, 1, 1}, {true, false, false}),
                               vec<int, 3>{layers * ranks.size(), 1, 1});
  const auto shares = even_decomposition(space, ranks.size());
  std::mt19937 random(static_cast<unsigned>(ranks.rank()));
  std::uniform_real_distribution<float> along(static_cast<float>(layers * ranks.rank()),
                                              static_cast<float>(layers * (ranks.rank() + 1)));
  std::vector<position_record> points(own);
  for (auto& point : points) point = {std::min(along(random), length * 0.99999f), 0.5f, 0.5f, 0};
  const device_decomposition<Context, 3> on_device(context, shares);
  const auto given = to_device(context, points);
  halo<Context, float, 3> borders(context, ranks);
  borders.build(space, on_device.view(), strided_points<3>(&given.data()->x, own, 4), {.reach = 0.999f});
  array<position_record, Context> all(context, own + borders.ghosts());
  copy_bytes(context, given.data(), all.data(), own * sizeof(position_record));
  const timing measured = time_together(s, context, ranks, s.full() ? 100 : 3, [&] { borders.forward(all.data()); });
  out["ghosts"] = borders.ghosts();
  add_timing(out, measured, "points_per_s", static_cast<double>(borders.ghosts()));
}

}  // namespace

void run_halo(const session& s) {
  for (const std::size_t wanted : {std::size_t{2'000}, std::size_t{64'000}, std::size_t{1'000'000}}) {
    if (!s.full() && wanted > 2'000) break;
    for (const int number : rank_counts(s)) {
      if (number == 1) continue;  // without neighbors
      const auto identity = [&](const char* method) {
        return identify("halo", method, "float", wanted / 2 * 32, 0, "uniform");
      };
      attempt_on_ranks(s, identity("positions"), number, [&](const auto& context, communicator& ranks, row& out) {
        time_halo(s, context, ranks, wanted, out);
      });
      if (!s.on_cuda() || !nccl_is_there()) continue;
      attempt_on_ranks(s, identity("nccl"), number, [&](const auto& context, communicator& ranks, row& out) {
        if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(context)>, cpu_context>) {
          const auto by_nccl = make_nccl_communicator(ranks, context);
          time_halo(s, context, *by_nccl, wanted, out);
        }
      });
    }
  }
}

namespace {

/// Calls move(ranks, context, destinations, own), which times one method of moving particles.
template <typename Move>
void time_migration(const session& s, std::string_view method, int number, const Move& move) {
  const std::size_t own = s.on_cuda() ? (s.full() ? 16'000'000 : 100'000) : (s.full() ? 1'000'000 : 10'000);
  attempt_on_ranks(s, identify("migration", method, "float", own, 0, "one of 100"), number,
                   [&](const auto& context, communicator& ranks, row& out) {
                     std::vector<std::uint32_t> owners(own);
                     for (std::size_t i = 0; i < own; ++i) {
                       owners[i] = static_cast<std::uint32_t>((ranks.rank() + (i % 100 == 0 ? 1 : 0)) % ranks.size());
                     }
                     const auto destinations = to_device(context, owners);
                     array<position_record, std::remove_cvref_t<decltype(context)>> particles(context, own);
                     fill_bytes(context, particles.data(), 1, own * sizeof(position_record));
                     add_timing(out, move(context, ranks, destinations.data(), particles), "points_per_s",
                                static_cast<double>(own));
                   });
}

}  // namespace

void run_migration(const session& s) {
  const int repetitions = s.full() ? 10 : 2;
  for (const int number : rank_counts(s)) {
    time_migration(s, "in_place", number,
                   [&](const auto& context, communicator& ranks, const std::uint32_t* destinations, auto& particles) {
                     sparse_migration<std::remove_cvref_t<decltype(context)>> moves(context, ranks);
                     return time_together(s, context, ranks, repetitions, [&] {
                       moves.build(destinations, particles.size());
                       moves.apply(particles.data());
                     });
                   });
    time_migration(s, "stable", number,
                   [&](const auto& context, communicator& ranks, const std::uint32_t* destinations, auto& particles) {
                     migration<std::remove_cvref_t<decltype(context)>> moves(context, ranks);
                     moves.build(destinations, particles.size());
                     std::remove_cvref_t<decltype(particles)> to(context, moves.arriving());
                     return time_together(s, context, ranks, repetitions, [&] {
                       moves.build(destinations, particles.size());
                       moves.apply(particles.data(), to.data());
                     });
                   });
  }
}

namespace {

/// The transform on one context, by its FFT library.
void time_whole_transform(const session& s, int edge, std::size_t points) {
  row identity = identify("fft", "one_context", "float", points, points, "uniform");
  identity["ranks"] = 1;
  s.attempt(identity, [&](row& out) {
    with_one_context(s, 1, [&](const auto& context) {
      using context_type = std::remove_cvref_t<decltype(context)>;
      detail::transform_shape shape{{edge, edge, edge}, {}, false};
      for (auto& band : shape.band) band = {edge, 0};
      const auto transform = detail::make_mode_transform<float>(context, shape);
      array<vec<float, 2>, context_type> mesh(context, points);
      fill_bytes(context, mesh.data(), 0, points * sizeof(vec<float, 2>));
      self_communicator self;
      const timing measured = time_together(s, context, self, s.full() ? 5 : 1,
                                            [&] { transform->to_modes(mesh.data()->component, nullptr, -1); });
      add_timing(out, measured, "points_per_s", static_cast<double>(points));
    });
  });
}

}  // namespace

void run_distributed_fft(const session& s) {
  const int edge = s.on_cuda() ? (s.full() ? 512 : 64) : (s.full() ? 128 : 16);
  const std::size_t points =
      static_cast<std::size_t>(edge) * static_cast<std::size_t>(edge) * static_cast<std::size_t>(edge);
  time_whole_transform(s, edge, points);
  struct plan_case {
    const char* name;
    bool transposed;
    fft_layout layout;
  };
  for (const plan_case& one :
       {plan_case{"natural", false, fft_layout::slabs}, plan_case{"transposed", true, fft_layout::slabs},
        plan_case{"pencils", false, fft_layout::pencils}, plan_case{"transposed pencils", true, fft_layout::pencils}}) {
    for (const int number : rank_counts(s)) {
      const row identity = identify("fft", one.name, "float", points, points, "uniform");
      attempt_on_ranks(s, identity, number, [&](const auto& context, communicator& ranks, row& out) {
        using context_type = std::remove_cvref_t<decltype(context)>;
        distributed_fft<context_type, float> fft(context, ranks, {edge, edge, edge},
                                                 {.transposed = one.transposed, .library = {}, .layout = one.layout});
        array<vec<float, 2>, context_type> mesh(context, fft.room());
        fill_bytes(context, mesh.data(), 0, fft.room() * sizeof(vec<float, 2>));
        auto* const data = reinterpret_cast<std::complex<float>*>(mesh.data());
        const timing measured = time_together(s, context, ranks, s.full() ? 5 : 1, [&] { fft.forward_async(data); });
        add_timing(out, measured, "points_per_s", static_cast<double>(points));
      });
    }
  }
}

}  // namespace quadrat::bench

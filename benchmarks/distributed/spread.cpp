// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <type_traits>
#include <vector>

#include "distributed/operations.hpp"
#include "distributed/steps.hpp"
#include "quadrat/distributed/fft.hpp"
#include "quadrat/distributed/nufft_plan.hpp"
#include "quadrat/distributed/spread_plan.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "quadrat/spectral/nufft_plan.hpp"

namespace quadrat::bench {

namespace {

constexpr int spread_order = 6;

/// Random points in a cube of edge 1, between two planes across its first axis.
[[nodiscard]] std::vector<vec<float, 3>> points_between(float lower, float upper, std::size_t count, int seed) {
  constexpr float last = 0.99999f;
  const float below = std::nextafter(upper, lower);  // rounding may give the upper plane
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_real_distribution<float> across(lower, upper), along(0, 1);
  std::vector<vec<float, 3>> points(count);
  for (auto& point : points) {
    point = {std::min(across(random), below), std::min(along(random), last), std::min(along(random), last)};
  }
  return points;
}

/// Times set_points and spreading.
template <typename Context, typename Plan>
void time_spreading(const session& s, const Context& context, communicator& ranks, std::size_t count, Plan& plan,
                    const std::vector<vec<float, 3>>& points, std::size_t mesh_size, row& out) {
  const auto given = to_device(context, points);
  const auto values = to_device(context, std::vector<float>(points.size(), 1.0f));
  array<float, Context> mesh(context, mesh_size);
  const int repetitions = s.full() ? 5 : 1;
  const timing placed = time_together(s, context, ranks, 1, [&] { plan.set_points(points_of(given)); });
  out["set_points_ms"] = placed.median_ms;
  const timing measured =
      time_together(s, context, ranks, repetitions, [&] { plan.spread_async(values.data(), mesh.data()); });
  add_timing(out, measured, "points_per_s", static_cast<double>(count));
}

/// The time of ranks without messages: each spreads the same points onto the mesh points around its slab.
void time_patches(const session& s, const row& identity, std::size_t count, int edge, int number) {
  attempt_on_ranks(s, identity, number, [&](const auto& context, communicator& ranks, row& out) {
    const int planes = edge / number, margin = spread_order / 2, extent = planes + 2 * margin + 1;
    const float spacing = 1.0f / static_cast<float>(edge), lower = static_cast<float>(ranks.rank() * planes) * spacing;
    const auto points = points_between(lower, lower + static_cast<float>(planes) * spacing,
                                       count / static_cast<std::size_t>(number), ranks.rank());
    const auto around =
        make_box_from_lengths<float, 3>({lower - static_cast<float>(margin) * spacing, 0, 0},
                                        {static_cast<float>(extent) * spacing, 1, 1}, {false, true, true});
    const vec<int, 3> mesh{extent, edge, edge};
    spread_plan<std::remove_cvref_t<decltype(context)>, float, 3> plan(context, around, mesh, spread_order);
    const std::size_t size = static_cast<std::size_t>(extent) * static_cast<std::size_t>(edge * edge);
    time_spreading(s, context, ranks, count, plan, points, size, out);
  });
}

}  // namespace

void run_distributed_spread(const session& s) {
  const std::size_t count = s.on_cuda() ? (s.full() ? 40'000'000 : 100'000) : (s.full() ? 1'000'000 : 10'000);
  const int edge = s.on_cuda() ? (s.full() ? 256 : 64) : (s.full() ? 128 : 32);
  const vec<int, 3> mesh = vec<int, 3>::filled(edge);
  const vec<bool, 3> periodic = vec<bool, 3>::filled(true);
  const auto domain = make_box_from_lengths<float, 3>({}, vec<float, 3>::filled(1), periodic);
  const std::size_t mesh_points =
      static_cast<std::size_t>(edge) * static_cast<std::size_t>(edge) * static_cast<std::size_t>(edge);
  for (const int number : rank_counts(s)) {
    attempt_on_ranks(s, identify("spread", "ranks", "float", count, mesh_points, "uniform"), number,
                     [&](const auto& context, communicator& ranks, row& out) {
                       using context_type = std::remove_cvref_t<decltype(context)>;
                       const int self = ranks.rank(), size = ranks.size();
                       const auto owners = slab_decomposition(mesh, size, periodic);
                       const auto points = points_between(static_cast<float>(self) / static_cast<float>(size),
                                                          static_cast<float>(self + 1) / static_cast<float>(size),
                                                          count / static_cast<std::size_t>(size), self);
                       distributed_spread_plan<context_type, float, 3> plan(context, ranks, mesh, spread_order, owners,
                                                                            make_grid(domain, mesh), owners);
                       time_spreading(s, context, ranks, count, plan, points, plan.mesh_size(), out);
                     });
    if (number > 1)
      time_patches(s, identify("spread", "patch", "float", count, mesh_points, "uniform"), count, edge, number);
    if (s.on_cuda() && number > 1) continue;
    row alone = identify("spread", "one_context", "float", count, mesh_points, "uniform");
    alone["ranks"] = number;
    s.attempt(alone, [&](row& out) {
      with_one_context(s, number, [&](const auto& context) {
        self_communicator self;
        spread_plan<std::remove_cvref_t<decltype(context)>, float, 3> plan(context, domain, mesh, spread_order);
        time_spreading(s, context, self, count, plan, points_between(0, 1, count, 0), mesh_points, out);
      });
    });
  }
}

namespace {

/// Times a transform of type 1 or 2, make() makes its plan, set(plan, points) sets the points of a rank.
template <typename Context, typename Make, typename Set>
void time_transform(const session& s, const Context& context, communicator& ranks, std::size_t count, int type,
                    const Make& make, const Set& set, row& out) {
  const int self = ranks.rank(), size = ranks.size();
  const auto points = points_between(static_cast<float>(self) / static_cast<float>(size),
                                     static_cast<float>(self + 1) / static_cast<float>(size),
                                     count / static_cast<std::size_t>(size), self);
  const auto given = to_device(context, points);
  auto plan = make();
  const timing placed = time_together(s, context, ranks, 1, [&] { set(plan, points_of(given)); });
  auto values = to_device(context, std::vector<std::complex<float>>(points.size(), 1.0f));
  auto modes = to_device(context, std::vector<std::complex<float>>(plan.mode_count(), 1.0f));
  const timing measured = time_together(s, context, ranks, s.full() ? 3 : 1, [&] {
    if (type == 1) {
      plan.type_1_async(values.data(), modes.data());
    } else {
      plan.type_2_async(modes.data(), values.data());
    }
  });
  out["set_points_ms"] = placed.median_ms;
  out["width"] = plan.width();
  out["mesh"] = plan.mesh()[0];
  add_timing(out, measured, "points_per_s", static_cast<double>(count));
}

}  // namespace

void run_distributed_nufft(const session& s) {
  const std::size_t count = s.on_cuda() ? (s.full() ? 256'000'000 : 100'000) : (s.full() ? 1'000'000 : 10'000);
  const int edge = s.on_cuda() ? (s.full() ? 512 : 32) : (s.full() ? 64 : 16);
  const vec<int, 3> modes = vec<int, 3>::filled(edge);
  const vec<bool, 3> periodic = vec<bool, 3>::filled(true);
  constexpr double tolerance = 1e-5;
  nufft_options options;
  options.period = {1, 1, 1};
  const auto identity = [&](const char* method, int type) {
    row made = identify("nufft", method, "float", count, 0, "uniform");
    made["type"] = type;
    made["modes"] = edge;
    made["tolerance"] = tolerance;
    return made;
  };
  for (const int type : {1, 2}) {
    for (const int number : rank_counts(s)) {
      attempt_on_ranks(s, identity("ranks", type), number, [&](const auto& context, communicator& ranks, row& out) {
        using plan_type = distributed_nufft_plan<std::remove_cvref_t<decltype(context)>, float, 3>;
        const auto space =
            make_grid(make_box_from_lengths<float, 3>({}, vec<float, 3>::filled(1), periodic), {ranks.size(), 1, 1});
        const auto shares = slab_decomposition(space.cells, ranks.size(), periodic);
        time_transform(
            s, context, ranks, count, type, [&] { return plan_type(context, ranks, space, modes, tolerance, options); },
            [&](plan_type& plan, const points_view<float, 3>& points) { plan.set_points(shares, points); }, out);
      });
      if (s.on_cuda() && number > 1) continue;
      row alone = identity("one_context", type);
      alone["ranks"] = number;
      s.attempt(alone, [&](row& out) {
        with_one_context(s, number, [&](const auto& context) {
          using plan_type = nufft_plan<std::remove_cvref_t<decltype(context)>, float, 3>;
          self_communicator self;
          time_transform(
              s, context, self, count, type, [&] { return plan_type(context, modes, tolerance, options); },
              [](plan_type& plan, const points_view<float, 3>& points) { plan.set_points(points); }, out);
        });
      });
    }
  }
}

}  // namespace quadrat::bench

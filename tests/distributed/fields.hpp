// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "distributed/small_system.hpp"
#include "quadrat/distributed/fft.hpp"
#include "quadrat/distributed/mesh_halo.hpp"
#include "quadrat/distributed/spread_plan.hpp"

// Meshes over the ranks of a communicator, compared with one rank.

namespace quadrat::test {

/// The part of a C-ordered mesh that a block holds.
template <typename V, int D>
[[nodiscard]] std::vector<V> part_of(const std::vector<V>& whole, const vec<int, D>& mesh, const cell_block<D>& block) {
  std::vector<V> result;
  if (block.empty()) return result;
  vec<int, D> at = block.first;
  for (int axis = 0; axis >= 0;) {
    std::size_t index = 0;
    for (int a = 0; a < D; ++a) index = index * static_cast<std::size_t>(mesh[a]) + static_cast<std::size_t>(at[a]);
    result.push_back(whole[index]);
    for (axis = D - 1; axis >= 0 && ++at[axis] >= block.end[axis]; --axis) at[axis] = block.first[axis];
  }
  return result;
}

/// Patches of random places and sizes, over faces and around the mesh: sums of integers must be exact.
template <int D>
void check_mesh_halo(communicator& ranks, std::uint64_t seed) {
  const backend_context context = context_of_rank();
  std::mt19937_64 random(seed);
  decomposition<D> owners;
  vec<int, D> mesh{};
  vec<bool, D> periodic{};
  vec<double, D> upper = vec<double, D>::filled(1);
  for (int axis = 0; axis < D; ++axis) {
    mesh[axis] = 1 + static_cast<int>(random() % 6);
    periodic[axis] = random() % 2 == 0;
  }
  owners = random_decomposition(make_grid(make_box(vec<double, D>{}, upper, periodic), mesh), ranks.size(), seed);
  std::vector<mesh_patch<D>> patches;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    mesh_patch<D>& patch = patches.emplace_back();
    for (int axis = 0; axis < D; ++axis) {
      patch.first[axis] = static_cast<int>(random() % 15) - 7;
      patch.extent[axis] = 1 + static_cast<int>(random() % 9);
    }
  }
  // The value of point k of the patch of rank r is 1000 r + k; where it belongs is found point by point.
  std::vector<double> whole(owners.view().cells[0] > 0 ? mesh_patch<D>{{}, mesh}.size() : 0, 0.0);
  std::vector<std::vector<double>> values;
  std::vector<double> expected_patch;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const mesh_patch<D>& patch = patches[static_cast<std::size_t>(rank)];
    auto& mine = values.emplace_back();
    for (std::size_t k = 0; k < patch.size(); ++k) {
      mine.push_back(1000.0 * rank + static_cast<double>(k) + 1);
      std::size_t rest = k, index = 0, stride = 1;
      bool inside = true;
      for (int axis = D - 1; axis >= 0; --axis) {
        const int extent = patch.extent[axis], n = mesh[axis];
        const int unwrapped = patch.first[axis] + static_cast<int>(rest % static_cast<std::size_t>(extent));
        rest /= static_cast<std::size_t>(extent);
        inside = inside && (periodic[axis] || (unwrapped >= 0 && unwrapped < n));
        index += stride * static_cast<std::size_t>(((unwrapped % n) + n) % n);
        stride *= static_cast<std::size_t>(n);
      }
      if (inside) whole[index] += mine.back();
      if (rank == ranks.rank()) expected_patch.push_back(inside ? static_cast<double>(index) + 0.5 : 0.0);
    }
  }
  const auto self = static_cast<std::size_t>(ranks.rank());
  mesh_halo<backend_context, double, D> borders(context, ranks, owners, patches[self]);
  const auto patch = to_device(context, values[self]);
  array<double, backend_context> block(context, borders.block_size());
  borders.add(patch.data(), block.data());
  expect(to_host(context, block) == part_of(whole, mesh, owners.blocks[self]), "mesh ", seed,
         ": sums of patches differ from those point by point");

  std::vector<double> numbers(whole.size());
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = static_cast<double>(k) + 0.5;
  const auto given = to_device(context, part_of(numbers, mesh, owners.blocks[self]));
  array<double, backend_context> fetched(context, borders.patch_size());
  borders.fetch(given.data(), fetched.data());
  expect(to_host(context, fetched) == expected_patch, "mesh ", seed, ": fetched values are not those of the owners");
}

template <typename T>
void expect_near(const std::vector<T>& found, const std::vector<T>& expected, double tolerance, const char* what,
                 std::uint64_t seed) {
  expect(found.size() == expected.size(), what, ": there are ", found.size(), " values; expected ", expected.size());
  double scale = 0.1;  // a part of a mesh may hold nothing but the end of a window
  for (const auto& value : expected) scale = std::max(scale, static_cast<double>(std::abs(value)));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double off = static_cast<double>(std::abs(found[i] - expected[i]));
    expect(off <= tolerance * scale, what, " ", i, " of system ", seed, " is off by ", off, " of ", scale);
  }
}

/// Spreading and interpolation against a plan that has all.
template <typename T>
void check_spreading(communicator& ranks, std::uint64_t seed) {
  const backend_context context = context_of_rank(determinism::run_to_run);
  const small_system<T, 3> system(seed);
  std::mt19937_64 random(seed);
  const int order = 3 + static_cast<int>(random() % 4);  // with gradients that do not jump
  vec<int, 3> mesh{};
  for (int axis = 0; axis < 3; ++axis) mesh[axis] = 12 + static_cast<int>(random() % 6);
  // Along open axes footprints must not leave the mesh.
  std::vector<vec<T, 3>> points = system.points;
  for (auto& point : points) {
    for (int axis = 0; axis < 3; ++axis) {
      if (system.space.domain.periodic[axis]) continue;
      const T length = system.space.domain.length[axis];
      point[axis] = length * T(0.3) + point[axis] * T(0.3);
    }
  }
  const auto shares = random_decomposition(system.space, ranks.size(), seed);
  const auto owners = slab_decomposition(mesh, ranks.size(), system.space.domain.periodic);
  std::vector<std::uint32_t> all, mine;
  std::vector<T> values;
  for (std::size_t i = 0; i < points.size(); ++i) {
    all.push_back(static_cast<std::uint32_t>(i));
    values.push_back(random_unit<T>(random) - T(0.5));
    if (shares.view().owner(system.space.unfolded_cell_of(points[i])) == ranks.rank()) mine.push_back(all.back());
  }
  const auto self = static_cast<std::size_t>(ranks.rank());
  const double tolerance = sizeof(T) == 4 ? 3e-5 : 1e-12;

  spread_plan<backend_context, T, 3> alone(context, system.space.domain, mesh, order);
  const auto all_points = to_device(context, points);
  const auto all_values_here = to_device(context, values);
  array<T, backend_context> whole(context, alone.mesh_size()), whole_values(context, points.size());
  array<T, backend_context> whole_gradients(context, 3 * points.size());
  alone.set_points(points_of(all_points));
  alone.spread(all_values_here.data(), whole.data());
  alone.interpolate(whole.data(), whole_values.data());
  alone.interpolate_gradient(whole.data(), whole_gradients.data());
  const auto expected_mesh = to_host(context, whole);

  distributed_spread_plan<backend_context, T, 3> plan(context, ranks, mesh, order, owners, system.space, shares);
  const auto own_points = to_device(context, chosen(points, mine));
  const auto own_values = to_device(context, chosen(values, mine));
  array<T, backend_context> own_mesh(context, plan.mesh_size()), interpolated(context, mine.size());
  array<T, backend_context> gradients(context, 3 * mine.size());
  plan.set_points(points_of(own_points));
  plan.spread(own_values.data(), own_mesh.data());
  expect_near(to_host(context, own_mesh), part_of(expected_mesh, mesh, owners.blocks[self]), tolerance, "mesh point",
              seed);
  plan.interpolate(own_mesh.data(), interpolated.data());
  expect_near(to_host(context, interpolated), chosen(to_host(context, whole_values), mine), tolerance, "value", seed);
  plan.interpolate_gradient(own_mesh.data(), gradients.data());
  std::vector<T> expected_gradients;
  const auto all_gradients = to_host(context, whole_gradients);
  for (const std::uint32_t i : mine) {
    expected_gradients.insert(expected_gradients.end(), all_gradients.begin() + 3 * i,
                              all_gradients.begin() + 3 * i + 3);
  }
  expect_near(to_host(context, gradients), expected_gradients, 30 * tolerance, "gradient", seed);
}

template <typename F>
void for_each_point(const vec<int, 3>& first, const vec<int, 3>& end, const F& f) {
  for (int a = first[0]; a < end[0]; ++a) {
    for (int b = first[1]; b < end[1]; ++b) {
      for (int c = first[2]; c < end[2]; ++c) f(a, b, c);
    }
  }
}

/// Transforms against direct sums; back again.
template <typename T>
void check_fft(communicator& ranks, const vec<int, 3>& mesh, bool transposed,
               fft_layout layout = fft_layout::automatic) {
  using number = std::complex<T>;
  const backend_context context = context_of_rank();
  std::mt19937_64 random(11);
  std::vector<number> whole(static_cast<std::size_t>(mesh[0] * mesh[1] * mesh[2]));
  for (auto& value : whole) value = {random_unit<T>(random) - T(0.5), random_unit<T>(random) - T(0.5)};
  const double turn = 2 * std::acos(-1.0);
  const auto mode = [&](int a, int b, int c) {
    std::complex<double> sum;
    std::size_t index = 0;
    for (int x = 0; x < mesh[0]; ++x) {
      for (int y = 0; y < mesh[1]; ++y) {
        for (int z = 0; z < mesh[2]; ++z) {
          const double phase = static_cast<double>(a * x % mesh[0]) / mesh[0] +
                               static_cast<double>(b * y % mesh[1]) / mesh[1] +
                               static_cast<double>(c * z % mesh[2]) / mesh[2];
          sum += std::complex<double>(whole[index++]) * std::polar(1.0, -turn * phase);
        }
      }
    }
    return number(sum);
  };
  distributed_fft<backend_context, T> fft(context, ranks, mesh,
                                          {.transposed = transposed, .library = {}, .layout = layout});
  const int size = ranks.size();
  expect(fft.in_pencils() ==
             (layout == fft_layout::pencils || (layout == fft_layout::automatic && size > std::min(mesh[0], mesh[1]))),
         "a mesh of ", mesh[0], " x ", mesh[1], " layers on ", size, " ranks is in the wrong layout");
  const auto owners = fft.in_pencils() ? pencil_decomposition(mesh, size) : slab_decomposition(mesh, size);
  const cell_block<3> own = fft.block(), last = transposed ? fft.transposed_block() : own;
  std::vector<number> mine, expected;
  for_each_point(own.first, own.end, [&](int a, int b, int c) {
    expect(owners.view().owner({a, b, c}) == ranks.rank(), "a mesh point is not of its owner");
    mine.push_back(whole[static_cast<std::size_t>((a * mesh[1] + b) * mesh[2] + c)]);
    if (!transposed) expected.push_back(mode(a, b, c));
  });
  if (transposed) {
    for_each_point({last.first[1], last.first[2], last.first[0]}, {last.end[1], last.end[2], last.end[0]},
                   [&](int b, int c, int a) { expected.push_back(mode(a, b, c)); });
  }
  std::uint64_t modes = expected.size();
  ranks.add_up(&modes, 1);
  expect(modes == whole.size(), "all ranks have ", modes, " modes, not ", whole.size());
  const std::vector<number> before = mine;
  expect(fft.mesh_size() == mine.size(), "a rank has ", fft.mesh_size(), " mesh points, not ", mine.size());
  mine.resize(fft.room());
  struct pair {
    T real, imaginary;
  };
  std::vector<pair> numbers;
  for (const number& one : mine) numbers.push_back({one.real(), one.imag()});
  auto on_device = to_device(context, numbers);
  auto* const data = reinterpret_cast<number*>(on_device.data());
  const auto result = [&](std::size_t count, T factor) {
    std::vector<number> values;
    for (const pair& one : to_host(context, on_device.data(), count)) {
      values.emplace_back(one.real * factor, one.imaginary * factor);
    }
    return values;
  };
  const double tolerance = sizeof(T) == 4 ? 2e-6 : 1e-14;
  fft.forward(data);
  expect_near(result(expected.size(), T(1)), expected, tolerance, "mode", 0);
  fft.inverse(data);
  expect_near(result(before.size(), T(1) / static_cast<T>(whole.size())), before, tolerance, "mesh point", 0);
}

/// Transforms of real meshes against those of complex ones on this rank alone; back again.
template <typename T>
void check_real_fft(communicator& ranks, const vec<int, 3>& mesh, bool transposed,
                    fft_layout layout = fft_layout::automatic) {
  using number = std::complex<T>;
  struct pair {
    T real, imaginary;
  };
  const backend_context context = context_of_rank();
  const distributed_fft_options options{.transposed = transposed, .library = {}, .layout = layout};
  std::mt19937_64 random(17);
  std::vector<T> whole(static_cast<std::size_t>(mesh[0] * mesh[1] * mesh[2]));
  std::vector<pair> as_complex;
  for (auto& value : whole) {
    value = random_unit<T>(random) - T(0.5);
    as_complex.push_back({value, T(0)});
  }
  self_communicator self;
  distributed_fft<backend_context, T> alone(context, self, mesh);
  auto all_modes = to_device(context, as_complex);
  alone.forward(reinterpret_cast<number*>(all_modes.data()));
  const auto modes = to_host(context, all_modes);
  const auto index = [&](int a, int b, int c) { return static_cast<std::size_t>((a * mesh[1] + b) * mesh[2] + c); };

  distributed_real_fft<backend_context, T> fft(context, ranks, mesh, options);
  distributed_fft<backend_context, T> same(context, ranks, mesh, options);
  expect(fft.in_pencils() == same.in_pencils() && fft.block().first == same.block().first &&
             fft.block().end == same.block().end && fft.mesh_size() == same.mesh_size(),
         "real meshes are not shared out as complex ones");
  std::vector<number> expected;
  const auto add = [&](int a, int b, int c) {
    const pair one = modes[index(a, b, c)];
    expected.emplace_back(one.real, one.imaginary);
  };
  const cell_block<3> kept = fft.mode_block();
  if (transposed) {
    for_each_point({kept.first[1], kept.first[2], kept.first[0]}, {kept.end[1], kept.end[2], kept.end[0]},
                   [&](int b, int c, int a) { add(a, b, c); });
  } else {
    for_each_point(kept.first, kept.end, add);
  }
  std::uint64_t count = expected.size();
  ranks.add_up(&count, 1);
  expect(count == whole.size() / static_cast<std::size_t>(mesh[2]) * static_cast<std::size_t>(mesh[2] / 2 + 1),
         "all ranks have ", count, " modes of a real mesh");

  const std::vector<T> mine = part_of(whole, mesh, fft.block());
  auto values = to_device(context, mine);
  array<pair, backend_context> found(context, fft.room());
  const double tolerance = sizeof(T) == 4 ? 2e-6 : 1e-14;
  fft.forward(values.data(), reinterpret_cast<number*>(found.data()));
  std::vector<number> results;
  for (const pair& one : to_host(context, found.data(), expected.size())) results.emplace_back(one.real, one.imaginary);
  expect_near(results, expected, tolerance, "mode of a real mesh", 0);
  fft.inverse(reinterpret_cast<number*>(found.data()), values.data());
  auto back = to_host(context, values);
  for (T& value : back) value /= static_cast<T>(whole.size());
  expect_near(back, mine, tolerance, "real mesh point", 0);
}

inline void check_fields(communicator& ranks, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    seed % 2 == 0 ? check_mesh_halo<2>(ranks, seed) : check_mesh_halo<3>(ranks, seed);
    if (seed % 4 == 0) check_spreading<float>(ranks, seed);
    if (seed % 4 == 1) check_spreading<double>(ranks, seed);
  }
  for (const bool transposed : {false, true}) {
    check_fft<double>(ranks, {6, 5, 4}, transposed);
    check_fft<float>(ranks, {8, 9, 2}, transposed);
    check_fft<double>(ranks, {2, 10, 3}, transposed);  // fewer layers than ranks
    check_fft<double>(ranks, {5, 1, 1}, transposed);
    check_fft<float>(ranks, {1, 1, 1}, transposed);
    check_fft<double>(ranks, {6, 5, 4}, transposed, fft_layout::pencils);
    check_fft<float>(ranks, {4, 3, 8}, transposed, fft_layout::pencils);
    check_fft<double>(ranks, {3, 2, 10}, transposed, fft_layout::slabs);
    check_fft<float>(ranks, {2, 4, 1}, transposed, fft_layout::pencils);
    check_real_fft<double>(ranks, {6, 5, 4}, transposed);
    check_real_fft<float>(ranks, {8, 9, 10}, transposed);
    check_real_fft<double>(ranks, {5, 1, 2}, transposed);
    check_real_fft<double>(ranks, {1, 1, 6}, transposed, fft_layout::slabs);
    check_real_fft<float>(ranks, {6, 5, 12}, transposed, fft_layout::pencils);
    check_real_fft<double>(ranks, {2, 3, 2}, transposed, fft_layout::pencils);
  }
}

}  // namespace quadrat::test

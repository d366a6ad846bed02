// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/spectral/fft.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "support/backend.hpp"
#include "support/counting_memory.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

#if QUADRAT_BACKEND_CUDA
#include "quadrat/parallel/cuda_graph.hpp"
#endif

namespace quadrat::test {

namespace {

template <typename T>
class fft_test : public backend_test {
 protected:
  static constexpr double epsilon = std::numeric_limits<T>::epsilon();
};
using fft_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(fft_test, fft_precisions);

using exact_number = std::complex<long double>;

template <typename T>
std::vector<std::complex<T>> drawn_mesh(std::size_t count, bool real) {
  std::mt19937_64 random(count);
  std::vector<std::complex<T>> mesh(count);
  for (auto& x : mesh) x = {2 * random_unit<T>(random) - 1, real ? T(0) : 2 * random_unit<T>(random) - 1};
  return mesh;
}

/// The sums as they are defined, over all mesh points for each mode, with exp(sign 2 pi i j k / n).
template <int D, typename T>
std::vector<exact_number> plain_transform(const std::vector<std::complex<T>>& mesh, const vec<int, D>& extent,
                                          int sign) {
  const auto index_of = [&](std::size_t i) {
    vec<long, D> index{};
    for (int d = D - 1; d >= 0; --d) {
      index[d] = static_cast<long>(i) % extent[d];
      i /= static_cast<std::size_t>(extent[d]);
    }
    return index;
  };
  std::vector<exact_number> result;
  for (std::size_t k = 0; k < mesh.size(); ++k) {
    const vec<long, D> mode = index_of(k);
    exact_number sum = 0;
    for (std::size_t j = 0; j < mesh.size(); ++j) {
      const vec<long, D> point = index_of(j);
      long double turns = 0;
      for (int d = 0; d < D; ++d) turns += static_cast<long double>(mode[d] * point[d] % extent[d]) / extent[d];
      sum += exact_number(mesh[j]) * std::polar(1.0L, sign * 2 * std::numbers::pi_v<long double> * turns);
    }
    result.push_back(sum);
  }
  return result;
}

double distance(const exact_number& a, const exact_number& b) { return static_cast<double>(std::abs(a - b)); }

template <typename T, int D>
void expect_plain_sums(const backend_context& context, const vec<int, D>& extent) {
  fft<backend_context, T, D> transform(context, extent);
  const auto mesh = drawn_mesh<T>(transform.mesh_size(), false);
  const double bound = 8 * std::numeric_limits<T>::epsilon() * std::sqrt(static_cast<double>(mesh.size()));
  for (const int sign : {-1, 1}) {
    auto there = to_device(context, mesh);
    if (sign < 0) {
      transform.forward(there.data());
    } else {
      transform.inverse(there.data());
    }
    const auto found = to_host(context, there);
    const auto wanted = plain_transform(mesh, extent, sign);
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      ASSERT_LE(distance(exact_number(found[k]), wanted[k]), bound) << "sign " << sign << ", mode " << k << ", " << D;
    }
  }
}

/// Forward against the sums, and back to the mesh times the number of its points.
template <typename T, int D>
void expect_plain_real_sums(const backend_context& context, const vec<int, D>& extent) {
  real_fft<backend_context, T, D> transform(context, extent);
  const auto mesh = drawn_mesh<T>(transform.mesh_size(), true);
  std::vector<T> numbers;
  for (const auto& x : mesh) numbers.push_back(x.real());
  auto there = to_device(context, numbers);
  array<std::complex<T>, backend_context> modes(context, transform.mode_size());
  const auto last = static_cast<std::size_t>(extent[D - 1]), row = last / 2 + 1;
  ASSERT_EQ(transform.mode_row(), row);
  ASSERT_EQ(transform.mode_size(), mesh.size() / last * row);
  transform.forward(there.data(), modes.data());
  const auto found = to_host(context, modes);
  const auto wanted = plain_transform(mesh, extent, -1);
  const auto size = static_cast<double>(mesh.size());
  const double bound = 8 * std::numeric_limits<T>::epsilon() * std::sqrt(size);
  for (std::size_t k = 0; k < found.size(); ++k) {
    ASSERT_LE(distance(exact_number(found[k]), wanted[k / row * last + k % row]), bound) << "mode " << k << ", " << D;
  }
  transform.inverse(modes.data(), there.data());
  const auto back = to_host(context, there);
  for (std::size_t j = 0; j < back.size(); ++j) {
    ASSERT_LE(std::fabs(static_cast<double>(back[j]) - size * static_cast<double>(numbers[j])),
              bound * std::sqrt(size));
  }
}

TYPED_TEST(fft_test, gives_the_sums_over_all_mesh_points) {
  for (const backend_context& context : all_contexts()) {
    for (const int n : {1, 2, 3, 30, 128, 250}) expect_plain_sums<TypeParam, 1>(context, {n});
    for (const auto& extent : {vec<int, 2>{1, 1}, vec<int, 2>{5, 1}, vec<int, 2>{1, 8}, vec<int, 2>{12, 25}}) {
      expect_plain_sums<TypeParam, 2>(context, extent);
    }
    for (const auto& extent : {vec<int, 3>{1, 1, 1}, vec<int, 3>{2, 3, 5}, vec<int, 3>{9, 4, 10}}) {
      expect_plain_sums<TypeParam, 3>(context, extent);
    }
  }
}

TYPED_TEST(fft_test, gives_half_of_the_modes_of_real_meshes_and_the_mesh_of_these) {
  for (const backend_context& context : all_contexts()) {
    for (const int n : {2, 4, 6, 30, 128, 250}) expect_plain_real_sums<TypeParam, 1>(context, {n});
    for (const auto& extent : {vec<int, 2>{1, 2}, vec<int, 2>{5, 2}, vec<int, 2>{1, 8}, vec<int, 2>{25, 12}}) {
      expect_plain_real_sums<TypeParam, 2>(context, extent);
    }
    for (const auto& extent : {vec<int, 3>{1, 1, 2}, vec<int, 3>{2, 3, 10}, vec<int, 3>{9, 5, 6}}) {
      expect_plain_real_sums<TypeParam, 3>(context, extent);
    }
  }
}

TYPED_TEST(fft_test, calls_allocate_nothing) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none);
  fft<backend_context, TypeParam, 3> transform(context, {8, 6, 10});
  real_fft<backend_context, TypeParam, 3> real(context, {8, 6, 10});
  EXPECT_LE(transform.bytes() + real.bytes(), memory.live_bytes());
  array<std::complex<TypeParam>, backend_context> mesh(context, transform.mesh_size()),
      modes(context, real.mode_size());
  array<TypeParam, backend_context> numbers(context, real.mesh_size());
  fill_bytes(context, mesh.data(), 0, mesh.bytes());
  fill_bytes(context, numbers.data(), 0, numbers.bytes());
  const std::size_t before = memory.allocations();
  transform.forward(mesh.data());
  transform.inverse(mesh.data());
  real.forward(numbers.data(), modes.data());
  real.inverse(modes.data(), numbers.data());
  EXPECT_EQ(memory.allocations(), before);
}

TYPED_TEST(fft_test, says_what_is_impossible) {
  const backend_context context;
  const auto error = [&](const vec<int, 2>& extent, const char* library = "") {
    return error_of<argument_error>([&] { (void)fft<backend_context, TypeParam, 2>(context, extent, {library}); });
  };
  expect_words(error({7, 4}), {"7 points along axis 0", "2, 3 and 5"});
  expect_words(error({4, 0}), {"0 points along axis 1"});
  expect_words(error({1 << 16, 1 << 16}), {"points; at most"});
  expect_words(error({4, 4}, "kiss"), {"FFT library", "kiss"});
  expect_words(error_of<argument_error>([&] { (void)real_fft<backend_context, TypeParam, 1>(context, {15}); }),
               {"15 points along axis 0", "even"});
  fft<backend_context, TypeParam, 1> transform(context, {4});
  real_fft<backend_context, TypeParam, 1> real(context, {4});
  expect_words(error_of<argument_error>([&] { transform.forward(nullptr); }), {"mesh values"});
  expect_words(error_of<argument_error>([&] { real.inverse(nullptr, nullptr); }), {"modes"});
}

#if QUADRAT_BACKEND_CUDA
TYPED_TEST(fft_test, a_transform_that_waits_leaves_no_work_and_its_twin_is_replayed_from_a_graph) {
  using T = TypeParam;
  const backend_context context;
  fft<backend_context, T, 3> made(context, {8, 6, 10});
  const auto drawn = drawn_mesh<T>(480, false);
  auto mesh = to_device(context, drawn), wanted = to_device(context, drawn);
  made.forward(wanted.data());
  EXPECT_EQ(cudaStreamQuery(context.stream()), cudaSuccess);
  cuda_graph graph;
  graph.capture(context, [&] { made.forward_async(mesh.data()); });
  graph.launch(context);
  EXPECT_EQ(to_host(context, mesh), to_host(context, wanted));
}
#endif

}  // namespace

}  // namespace quadrat::test

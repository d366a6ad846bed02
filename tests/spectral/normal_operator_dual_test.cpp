// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/spectral/normal_operator.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "reference/nufft.hpp"
#include "support/backend.hpp"
#include "support/counting_memory.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

#if QUADRAT_BACKEND_CUDA
#include "quadrat/parallel/cuda_graph.hpp"
#endif

namespace quadrat::test {

namespace {

class normal_operator_test : public backend_test {};

using mode_list = std::vector<std::complex<double>>;

enum class sampling { uniform, one_place, faces, one, none };

/// Modes, and points with weights of both signs.
template <typename T, int D>
struct operator_case {
  vec<int, D> modes{};
  double tolerance = 1e-4;
  nufft_options options;
  std::vector<vec<T, D>> points;
  std::vector<T> weights;

  void sample(sampling where, std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    if (where == sampling::one) count = 1;
    if (where == sampling::none) count = 0;
    points.clear();
    weights.clear();
    for (std::size_t j = 0; j < count; ++j) {
      points.push_back(make_vec<T, D>([&](int d) {
        const double period = options.period[d] > 0 ? options.period[d] : 2 * std::numbers::pi;
        const double turns = where == sampling::one_place ? 0.3
                             : where == sampling::faces   ? 0.5 * static_cast<double>(random() % 4)
                                                          : 3 * random_unit<double>(random) - 1;
        return static_cast<T>(period * turns);
      }));
      weights.push_back(2 * random_unit<T>(random) - 1);
    }
  }
  [[nodiscard]] std::vector<double> exact_weights() const { return {weights.begin(), weights.end()}; }
  [[nodiscard]] double weight() const {
    double sum = 0;
    for (const T w : weights) sum += std::fabs(static_cast<double>(w));
    return sum;
  }
  [[nodiscard]] reference::nufft_problem problem() const {
    reference::nufft_problem result;
    result.modes = {std::vector<int>{0}, std::vector<int>{0}, std::vector<int>{0}};
    for (int d = 0; d < D; ++d) {
      const auto axis = static_cast<std::size_t>(3 - D + d);
      result.modes[axis] =
          options.order == mode_order::fft ? reference::fft_modes(modes[d]) : reference::centered_modes(modes[d]);
      result.period[axis] = options.period[d] > 0 ? options.period[d] : 2 * std::numbers::pi_v<long double>;
    }
    for (const vec<T, D>& point : points) {
      std::array<long double, 3> exact{};
      for (int d = 0; d < D; ++d) {
        exact[static_cast<std::size_t>(3 - D + d)] =
            static_cast<long double>(point[d]) - static_cast<long double>(options.origin[d]);
      }
      result.points.push_back(exact);
    }
    return result;
  }
};

template <typename T>
std::vector<std::complex<T>> some_modes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::complex<T>> modes(count);
  for (auto& m : modes) m = {2 * random_unit<T>(random) - 1, 2 * random_unit<T>(random) - 1};
  return modes;
}

double sum_of_moduli(const mode_list& modes) {
  double sum = 0;
  for (const auto& m : modes) sum += std::abs(m);
  return sum;
}
template <typename T>
std::complex<double> inner_product(const std::vector<std::complex<T>>& a, const mode_list& b) {
  std::complex<double> sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += std::conj(std::complex<double>(a[k])) * b[k];
  return sum;
}
double largest_difference(const mode_list& a, const mode_list& b) {
  double largest = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

/// What an operator gives for a case, on the host.
template <typename T, int D>
class operator_run {
 public:
  operator_run(const backend_context& context, const operator_case<T, D>& it)
      : context_(context), made_(context, it.modes, it.tolerance, it.options) {
    set_points(it);
  }
  void set_points(const operator_case<T, D>& it) {
    const auto points = to_device(context_, it.points);
    const auto weights = to_device(context_, it.weights);
    made_.set_points(points_of(points), it.weights.empty() ? nullptr : weights.data());
  }
  /// In place if asked for.
  [[nodiscard]] mode_list apply(const std::vector<std::complex<T>>& modes, const nufft_call& call = {},
                                bool in_place = false) {
    auto there = to_device(context_, modes);
    array<std::complex<T>, backend_context> result(context_, modes.size());
    made_.apply(there.data(), in_place ? there.data() : result.data(), call);
    const auto host = to_host(context_, in_place ? there : result);
    return {host.begin(), host.end()};
  }
  [[nodiscard]] normal_operator<backend_context, T, D>& made() { return made_; }

 private:
  backend_context context_;
  normal_operator<backend_context, T, D> made_;
};

template <typename T, int D>
void expect_sums(const backend_context& context, const operator_case<T, D>& it) {
  operator_run<T, D> run(context, it);
  EXPECT_LE(run.made().error_bound(), it.tolerance);
  const auto modes = some_modes<T>(run.made().mode_count(), 5);
  const mode_list exact(modes.begin(), modes.end());
  for (const int sign : {1, -1}) {
    const auto wanted = reference::normal_operator(it.problem(), exact, it.exact_weights(), sign);
    EXPECT_LE(largest_difference(run.apply(modes, {1, sign}), wanted),
              it.tolerance * it.weight() * sum_of_moduli(exact))
        << D << "D, " << it.modes[0] << " modes, " << it.points.size() << " points, tolerance " << it.tolerance;
  }
}

template <typename T, int D>
void expect_sums_for_all(const std::vector<vec<int, D>>& mode_numbers, const std::vector<double>& tolerances) {
  const backend_context context;
  std::uint64_t round = 0;
  for (const auto& modes : mode_numbers) {
    for (const double tolerance : tolerances) {
      operator_case<T, D> it;
      it.modes = modes;
      it.tolerance = tolerance;
      it.options.order = round % 2 == 0 ? mode_order::centered : mode_order::fft;
      if (round % 3 == 1) it.options.period = {1, 3.5, 100};
      if (round % 3 == 2) it.options.origin = {0.5, -3, 1.25};
      it.sample(sampling::uniform, 60, ++round);
      expect_sums(context, it);
    }
  }
}

TEST_F(normal_operator_test, is_as_accurate_as_asked_for_in_single_precision) {
  expect_sums_for_all<float, 1>({{1}, {2}, {3}, {64}, {97}}, {1e-1, 1e-5});
  expect_sums_for_all<float, 2>({{1, 1}, {2, 5}, {13, 12}}, {1e-2, 1e-5});
  expect_sums_for_all<float, 3>({{1, 1, 1}, {3, 2, 4}, {5, 8, 6}}, {1e-1, 1e-5});
}

TEST_F(normal_operator_test, is_as_accurate_as_asked_for_in_double_precision) {
  expect_sums_for_all<double, 1>({{1}, {2}, {3}, {64}, {97}}, {1e-2, 1e-6, 1e-13});
  expect_sums_for_all<double, 2>({{1, 1}, {2, 5}, {13, 12}}, {1e-3, 1e-12});
  expect_sums_for_all<double, 3>({{1, 1, 1}, {3, 2, 4}, {5, 8, 6}}, {1e-3, 1e-11});
}

TEST_F(normal_operator_test, takes_points_anywhere) {
  const backend_context context;
  for (const sampling where : {sampling::one_place, sampling::faces, sampling::one, sampling::none}) {
    operator_case<double, 2> it;
    it.modes = {6, 9};
    it.tolerance = 1e-12;
    it.sample(where, 40, 7);
    expect_sums(context, it);
  }
}

/// Past one block, in relative l2.
TEST_F(normal_operator_test, is_type_2_then_weights_then_type_1) {
  const backend_context context;
  operator_case<double, 3> it;
  it.modes = {20, 17, 24};
  it.tolerance = 1e-9;
  it.sample(sampling::uniform, 3000, 9);
  operator_run<double, 3> run(context, it);
  const auto modes = some_modes<double>(run.made().mode_count(), 10);
  nufft_plan<backend_context, double, 3> plan(context, it.modes, it.tolerance);
  const auto points = to_device(context, it.points);
  plan.set_points(points_of(points));
  auto there = to_device(context, modes);
  array<std::complex<double>, backend_context> values(context, it.points.size());
  plan.type_2(there.data(), values.data());
  auto weighted = to_host(context, values);
  for (std::size_t j = 0; j < weighted.size(); ++j) weighted[j] *= it.weights[j];
  const auto back = to_device(context, weighted);
  plan.type_1(back.data(), there.data());
  const auto found = run.apply(modes), wanted = to_host(context, there);
  double error = 0, norm = 0;
  for (std::size_t k = 0; k < wanted.size(); ++k)
    error += std::norm(found[k] - wanted[k]), norm += std::norm(wanted[k]);
  EXPECT_LE(std::sqrt(error / norm), 1e-8);
}

TEST_F(normal_operator_test, takes_all_weights_as_1_where_there_are_none) {
  const backend_context context;
  operator_case<float, 2> it;
  it.modes = {12, 10};
  it.sample(sampling::uniform, 300, 3);
  std::fill(it.weights.begin(), it.weights.end(), 1.0f);
  operator_run<float, 2> run(context, it);
  const auto modes = some_modes<float>(120, 4);
  const auto wanted = run.apply(modes);
  const auto points = to_device(context, it.points);
  run.made().set_points(points_of(points));
  EXPECT_LE(largest_difference(run.apply(modes), wanted), 1e-3);  // of sums of 300 weights; atomic additions differ
}

/// Whatever the tolerance.
TEST_F(normal_operator_test, is_hermitian_to_rounding) {
  for (const double tolerance : {1e-1, 1e-5}) {
    operator_case<double, 2> it;
    it.modes = {11, 14};
    it.tolerance = tolerance;
    it.sample(sampling::uniform, 400, 6);
    operator_run<double, 2> run(backend_context(), it);
    const auto a = some_modes<double>(154, 1), b = some_modes<double>(154, 2);
    const auto there = inner_product(a, run.apply(b)), back = std::conj(inner_product(b, run.apply(a)));
    EXPECT_LE(std::abs(there - back), 1e-13 * 400 * 154);
    EXPECT_GT(std::abs(there), 1e-6 * 400 * 154) << "nothing was compared";
  }
}

/// The square of the weighted values at the points; with fewer points than modes there are modes that have none.
TEST_F(normal_operator_test, is_positive_with_positive_weights) {
  operator_case<double, 1> it;
  it.modes = {64};
  it.tolerance = 1e-12;
  it.sample(sampling::uniform, 20, 8);
  for (auto& w : it.weights) w = std::fabs(w);
  operator_run<double, 1> run(backend_context(), it);
  std::vector<std::complex<double>> modes = some_modes<double>(64, 3);
  const auto values = reference::nufft_2(it.problem(), modes, -1);
  double wanted = 0;
  for (std::size_t j = 0; j < values.size(); ++j) wanted += it.weights[j] * std::norm(values[j]);
  EXPECT_NEAR(inner_product(modes, run.apply(modes)).real(), wanted, 1e-10 * wanted);
  // The least eigenvalue, which is 0, by powers of (norm - operator).
  const double norm = 64 * it.weight();
  for (int step = 0; step < 200; ++step) {
    const auto image = run.apply(modes);
    double length = 0;
    for (std::size_t k = 0; k < 64; ++k) modes[k] -= image[k] / norm, length += std::norm(modes[k]);
    for (auto& m : modes) m /= std::sqrt(length);
    EXPECT_GE(inner_product(modes, run.apply(modes)).real(), -1e-12 * it.weight() * 64);
  }
}

TEST_F(normal_operator_test, takes_vectors_one_by_one_and_in_place) {
  operator_case<double, 2> it;
  it.modes = {7, 10};
  it.sample(sampling::uniform, 90, 12);
  operator_run<double, 2> run(backend_context(), it);
  const auto modes = some_modes<double>(210, 13);
  const auto all = run.apply(modes, {3, 1});
  EXPECT_EQ(largest_difference(run.apply(modes, {3, 1}, true), all), 0);
  for (std::size_t v = 0; v < 3; ++v) {
    const auto one = run.apply({modes.data() + 70 * v, modes.data() + 70 * (v + 1)}, {1, 1});
    EXPECT_EQ(largest_difference(one, {all.data() + 70 * v, all.data() + 70 * (v + 1)}), 0);
  }
}

TEST_F(normal_operator_test, gives_the_same_bits_in_every_run_where_the_context_asks_for_it) {
  operator_case<float, 3> it;
  it.modes = {9, 8, 12};
  it.sample(sampling::uniform, 3000, 31);
  const auto modes = some_modes<float>(864, 32);
  mode_list first;
  for (const int threads : {1, 2, 5, 2}) {
    operator_run<float, 3> run(context_at(determinism::run_to_run, threads), it);
    const auto result = run.apply(modes);
    if (first.empty()) first = result;
    EXPECT_EQ(largest_difference(result, first), 0) << threads;
  }
}

TEST_F(normal_operator_test, belongs_to_the_last_points) {
  operator_case<double, 1> it;
  it.modes = {32};
  it.sample(sampling::uniform, 50, 1);
  operator_run<double, 1> run(backend_context(), it);
  const auto modes = some_modes<double>(32, 2);
  const auto first = run.apply(modes);
  operator_case<double, 1> other = it;
  other.sample(sampling::uniform, 2000, 3);
  run.set_points(other);
  const auto wanted = reference::normal_operator(other.problem(), modes, other.exact_weights(), -1);
  EXPECT_LE(largest_difference(run.apply(modes), wanted), it.tolerance * other.weight() * sum_of_moduli(modes));
  run.set_points(it);
  EXPECT_LE(largest_difference(run.apply(modes), first), 1e-12 * it.weight() * sum_of_moduli(modes));
}

TEST_F(normal_operator_test, keeps_only_its_own_memory_and_allocates_nothing_when_applied) {
  counting_memory memory;
  const backend_context context = memory.context(determinism::none);
  operator_case<float, 3> it;
  it.modes = {8, 9, 8};
  it.sample(sampling::uniform, 500, 41);
  operator_run<float, 3> run(context, it);
  EXPECT_GE(run.made().bytes(), 3u * 16 * 18 * 16 * sizeof(float));
  EXPECT_LE(run.made().bytes(), memory.live_bytes());
  EXPECT_GE(run.made().bytes() + 1024, memory.live_bytes());
  auto modes = to_device(context, some_modes<float>(576, 1));
  const std::size_t before = memory.allocations();
  run.made().apply(modes.data(), modes.data());
  EXPECT_EQ(memory.allocations(), before);
}

#if QUADRAT_BACKEND_CUDA
TEST_F(normal_operator_test, is_applied_in_a_graph_and_a_call_that_waits_leaves_no_work) {
  const backend_context context;
  operator_case<double, 2> it;
  it.modes = {8, 9};
  it.sample(sampling::uniform, 500, 41);
  operator_run<double, 2> run(context, it);
  const auto modes = to_device(context, some_modes<double>(72, 1));
  array<std::complex<double>, backend_context> result(context, 72), wanted(context, 72);
  run.made().apply(modes.data(), wanted.data());
  EXPECT_EQ(cudaStreamQuery(context.stream()), cudaSuccess);
  cuda_graph graph;
  graph.capture(context, [&] { run.made().apply_async(modes.data(), result.data()); });
  graph.launch(context);
  EXPECT_EQ(to_host(context, result), to_host(context, wanted));
}
#endif

template <typename T, int D>
std::string operator_error(const vec<int, D>& modes, double tolerance, const nufft_options& options = {}) {
  return error_of<argument_error>(
      [&] { (void)normal_operator<backend_context, T, D>(backend_context(), modes, tolerance, options); });
}

TEST_F(normal_operator_test, says_what_is_impossible) {
  expect_words(operator_error<float, 3>({8, 8, 8}, 1e-9), {"1e-09", "single precision", "3 dimensions", " can"});
  expect_words(operator_error<double, 2>({8, 0}, 1e-3), {"0 modes along axis 1"});
  expect_words(operator_error<double, 3>({700, 700, 700}, 1e-3), {"2 K - 1", "1399 x 1399 x 1399", "2147483647"});
  expect_words(operator_error<double, 1>({2147483647}, 1e-3), {"2147483647 modes", "4194304"});
  nufft_options options;
  options.values = nufft_values::real;
  expect_words(operator_error<double, 2>({8, 8}, 1e-3, options), {"complex", "real"});
  EXPECT_EQ((operator_error<double, 2>({8, 8}, 1e-3)), "no error");
}

TEST_F(normal_operator_test, refuses_calls_that_do_not_fit) {
  const backend_context context;
  nufft_options options;
  options.most_bytes = 2000;
  normal_operator<backend_context, double, 1> small(context, {64}, 1e-3, options);
  const std::vector<vec<double, 1>> places{{0.1}, {std::nan("")}};
  const auto there = to_device(context, places);
  expect_words(error_of<argument_error>([&] { small.set_points(points_of(there)); }), {"bytes", "2000"});
  normal_operator<backend_context, double, 1> made(context, {8}, 1e-3);
  array<std::complex<double>, backend_context> modes(context, 8);
  std::complex<double>* const nothing = nullptr;
  const auto error = [&](auto&& call) { return error_of<argument_error>(call); };
  expect_words(error([&] { made.apply(modes.data(), modes.data()); }), {"no points are set"});
  made.set_points(points_of(there.data(), 1));
  EXPECT_EQ(error([&] { made.apply(modes.data(), modes.data()); }), "no error");
  expect_words(error([&] { made.apply(modes.data(), modes.data(), {1, 2}); }), {"sign is 2"});
  expect_words(error([&] { made.apply(modes.data(), modes.data(), {0, 1}); }), {"0 value vectors"});
  expect_words(error([&] { made.apply(nothing, modes.data()); }), {"modes", "null"});
  expect_words(error([&] { made.apply(modes.data(), nothing); }), {"result", "null"});
  expect_words(error_of<data_error>([&] { made.set_points(points_of(there)); }), {"point 1 ", "not finite"});
  expect_words(error([&] { made.apply(modes.data(), modes.data()); }), {"no points are set"});
}

}  // namespace

}  // namespace quadrat::test

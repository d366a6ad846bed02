// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/transform.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/spectral/fft_libraries.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

using number = std::complex<double>;

template <typename T>
class mode_transform_test : public backend_test {
 protected:
  static constexpr double epsilon = std::numeric_limits<T>::epsilon();
};
using transform_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(mode_transform_test, transform_precisions);

std::vector<number> random_numbers(std::size_t count, std::uint64_t seed, bool real) {
  std::mt19937_64 random(seed);
  std::vector<number> numbers(count);
  for (number& x : numbers) {
    x = {2 * random_unit<double>(random) - 1, 2 * random_unit<double>(random) - 1};
    if (real) x = x.real();
  }
  return numbers;
}

/// Sums along one axis after another, exp(sign 2 pi i j k / n).
std::vector<number> transformed(std::vector<number> mesh, const int (&extent)[3], int sign) {
  std::size_t step = 1;
  for (int axis = 2; axis >= 0; --axis) {
    const auto n = static_cast<std::size_t>(extent[axis]);
    std::vector<std::complex<long double>> roots(n);
    for (std::size_t j = 0; j < n; ++j) {
      const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(j) / n;
      roots[j] = {std::cos(angle), sign * std::sin(angle)};
    }
    std::vector<number> next(mesh.size());
    for (std::size_t i = 0; i < mesh.size(); ++i) {
      const std::size_t k = i / step % n, first = i - k * step;
      std::complex<long double> sum;
      for (std::size_t j = 0; j < n; ++j) {
        const std::complex<long double> x(mesh[first + j * step]);
        const std::complex<long double>& root = roots[j * k % n];
        // Written out: the operator of std::complex also considers infinities.
        sum += std::complex<long double>(x.real() * root.real() - x.imag() * root.imag(),
                                         x.real() * root.imag() + x.imag() * root.real());
      }
      next[i] = number(sum);
    }
    mesh = std::move(next);
    step *= n;
  }
  return mesh;
}

bool in_band(const detail::mode_band& band, int n, int k) { return k < band.low || k >= n - band.high; }

/// A mesh, its bands, and where its modes are.
struct transform_case {
  detail::transform_shape shape;

  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(shape.extent[0]) * static_cast<std::size_t>(shape.extent[1]) *
           static_cast<std::size_t>(shape.extent[2]);
  }
  /// Calls f(index in the mesh, index in a spectrum with rows of that length) for the modes of the bands.
  template <typename F>
  void for_each_mode(std::size_t row, const F& f) const {
    std::size_t i = 0;
    for (int x = 0; x < shape.extent[0]; ++x) {
      for (int y = 0; y < shape.extent[1]; ++y) {
        for (int z = 0; z < shape.extent[2]; ++z, ++i) {
          if (!in_band(shape.band[0], shape.extent[0], x) || !in_band(shape.band[1], shape.extent[1], y)) continue;
          if (!in_band(shape.band[2], shape.extent[2], z)) continue;
          f(i, i / static_cast<std::size_t>(shape.extent[2]) * row + static_cast<std::size_t>(z));
        }
      }
    }
  }
  [[nodiscard]] std::string text() const {
    return message(shape.real ? "real " : "complex ", shape.extent[0], " x ", shape.extent[1], " x ", shape.extent[2],
                   ", along the last axis ", shape.band[2].low, " and ", shape.band[2].high);
  }
};

/// Half of the modes, or nearly all, or one.
std::vector<transform_case> transform_cases(bool real) {
  const std::vector<std::vector<int>> extents{{1, 1, 2},    {1, 1, 6},   {1, 1, 60},  {1, 1, 512}, {1, 1, 1500},
                                              {1, 1, 1024}, {1, 2, 2},   {1, 10, 24}, {1, 64, 36}, {1, 27, 250},
                                              {2, 2, 2},    {6, 10, 20}, {16, 9, 8},  {5, 32, 18}, {30, 15, 48}};
  std::vector<transform_case> cases;
  int round = 0;
  for (const auto& extent : extents) {
    transform_case it{};
    it.shape.real = real;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const int n = it.shape.extent[axis] = extent[axis];
      const int kept = n == 1 ? 1 : round % 3 == 0 ? std::max(1, n / 2) : round % 3 == 1 ? n - 1 : 1;
      it.shape.band[axis] = {(kept + 1) / 2, kept / 2};
    }
    if (real) it.shape.band[2] = {std::max(1, it.shape.extent[2] / (round % 3 == 0 ? 4 : 2)), 0};
    cases.push_back(it);
    ++round;
  }
  return cases;
}

template <typename T>
std::vector<T> parts_of(const std::vector<number>& numbers, bool real) {
  std::vector<T> parts;
  for (const number& x : numbers) {
    parts.push_back(static_cast<T>(x.real()));
    if (!real) parts.push_back(static_cast<T>(x.imag()));
  }
  return parts;
}

/// The largest error of a mode, relative to the root of the sum of squares of what was transformed.
template <typename T>
double error_to_modes(const backend_context& context, const transform_case& it, int sign,
                      std::string_view library = {}) {
  const auto numbers = random_numbers(it.size(), 5, it.shape.real);
  const auto wanted = transformed(numbers, it.shape.extent, sign);
  auto mesh = to_device(context, parts_of<T>(numbers, it.shape.real));
  const auto transform = detail::make_mode_transform<T>(context, it.shape, library);
  array<std::complex<T>, backend_context> spectrum(context, transform->spectrum_size());
  transform->to_modes(mesh.data(), spectrum.data(), sign);
  const T* const data = it.shape.real ? reinterpret_cast<const T*>(spectrum.data()) : mesh.data();
  const auto modes = to_host(context, data, it.shape.real ? 2 * spectrum.size() : mesh.size());
  double error = 0;
  it.for_each_mode(transform->spectrum_row(), [&](std::size_t i, std::size_t at) {
    error = std::max(error, std::abs(number(modes[2 * at], modes[2 * at + 1]) - wanted[i]));
  });
  return error / std::sqrt(static_cast<double>(it.size()));
}

/// The same the other way around. What is not in a band, and what is not read of the bands, is not a number.
template <typename T>
double error_to_mesh(const backend_context& context, const transform_case& it, int sign,
                     std::string_view library = {}) {
  const auto transform = detail::make_mode_transform<T>(context, it.shape, library);
  const std::size_t spectrum_size = it.shape.real ? transform->spectrum_size() : it.size();
  auto mesh = to_device(context, std::vector<T>(it.size() * (it.shape.real ? 1 : 2), T(7)));
  auto spectrum = to_device(context, std::vector<std::complex<T>>(it.shape.real ? spectrum_size : 0));
  transform->clear(mesh.data(), spectrum.data());
  T* const data = it.shape.real ? reinterpret_cast<T*>(spectrum.data()) : mesh.data();
  auto parts = to_host(context, data, 2 * spectrum_size);
  const auto numbers = random_numbers(it.size(), 6, false);
  std::vector<number> wanted(it.size());
  double count = 0;
  it.for_each_mode(transform->spectrum_row(), [&](std::size_t i, std::size_t at) {
    parts[2 * at] = static_cast<T>(numbers[i].real());
    parts[2 * at + 1] = static_cast<T>(numbers[i].imag());
    const bool once = it.shape.real && i % static_cast<std::size_t>(it.shape.extent[2]) == 0;
    wanted[i] = (it.shape.real && !once ? 2.0 : 1.0) * numbers[i];
    count += it.shape.real ? 4 : 1;
  });
  wanted = transformed(wanted, it.shape.extent, sign);
  copy_bytes(context, parts.data(), data, parts.size() * sizeof(T));
  transform->to_mesh(spectrum.data(), mesh.data(), sign);
  const auto found = to_host(context, mesh);
  double error = 0;
  for (std::size_t i = 0; i < it.size(); ++i) {
    const double difference = it.shape.real ? std::fabs(static_cast<double>(found[i]) - wanted[i].real())
                                            : std::abs(number(found[2 * i], found[2 * i + 1]) - wanted[i]);
    error = std::max(error, difference);
  }
  return error / std::sqrt(count);
}

TYPED_TEST(mode_transform_test, gives_the_modes_of_complex_meshes) {
  for (const backend_context& context : all_contexts()) {
    for (const transform_case& it : transform_cases(false)) {
      for (const int sign : {-1, 1}) {
        EXPECT_LT(error_to_modes<TypeParam>(context, it, sign), 8 * this->epsilon) << it.text() << " sign " << sign;
        EXPECT_LT(error_to_mesh<TypeParam>(context, it, sign), 8 * this->epsilon) << it.text() << " sign " << sign;
      }
    }
  }
}

TYPED_TEST(mode_transform_test, gives_the_modes_of_real_meshes) {
  for (const backend_context& context : all_contexts()) {
    for (const transform_case& it : transform_cases(true)) {
      EXPECT_LT(error_to_modes<TypeParam>(context, it, -1), 8 * this->epsilon) << it.text();
      EXPECT_LT(error_to_mesh<TypeParam>(context, it, 1), 8 * this->epsilon) << it.text();
    }
  }
}

/// On GPUs; elsewhere it is the one that the other tests take.
TYPED_TEST(mode_transform_test, gives_the_same_by_its_own_lines) {
  if (std::is_same_v<backend_context, cpu_context>) GTEST_SKIP() << "on GPUs";
  for (const backend_context& context : all_contexts()) {
    for (const transform_case& it : transform_cases(false)) {
      if (it.shape.extent[0] == 1) {
        const auto error = error_of<argument_error>([&] { error_to_modes<TypeParam>(context, it, 1, "own"); });
        expect_words(error, {"own", "three dimensions"});
        continue;
      }
      for (const int sign : {-1, 1}) {
        EXPECT_LT(error_to_modes<TypeParam>(context, it, sign, "own"), 8 * this->epsilon) << it.text() << " " << sign;
        EXPECT_LT(error_to_mesh<TypeParam>(context, it, sign, "own"), 8 * this->epsilon) << it.text() << " " << sign;
      }
    }
  }
}

/// Several meshes in one call and one by one, with gaps between them that must not change.
template <typename T>
class several_meshes {
 public:
  several_meshes(const backend_context& context, const transform_case& it, const std::string& library = {})
      : context_(context), it_(it), one_(detail::make_mode_transform<T>(context, it.shape, library)) {
    it_.shape.count = static_cast<int>(meshes);
    it_.shape.apart = it.size() + 6;
    all_ = detail::make_mode_transform<T>(context, it_.shape, library);
  }

  void expect_same_modes(int sign) {
    ASSERT_EQ(all_->spectrum_size(), meshes * one_->spectrum_size());
    ASSERT_EQ(all_->spectrum_row(), one_->spectrum_row());
    const std::vector<T> numbers = with_gaps(random_numbers(meshes * it_.size(), 9, real()));
    auto mesh = to_device(context_, numbers), alone = to_device(context_, numbers);
    array<std::complex<T>, backend_context> spectra(context_, all_->spectrum_size()),
        spectrum(context_, spectra.size());
    all_->to_modes(mesh.data(), spectra.data(), sign);
    for (std::size_t m = 0; m < meshes; ++m) one_->to_modes(mesh_of(alone, m), spectrum_of(spectrum, m), sign);
    const auto found = modes_of(mesh, spectra), wanted = modes_of(alone, spectrum);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_LT(std::abs(found[i] - wanted[i]), tolerance());
    expect_gaps(mesh);
  }

  /// From modes of the bands; all others are zeros.
  void expect_same_meshes(int sign) {
    const auto random = random_numbers(meshes * it_.size(), 10, false);
    std::vector<number> numbers(random.size());
    std::vector<std::complex<T>> modes(all_->spectrum_size());
    for (std::size_t m = 0; m < meshes; ++m) {
      it_.for_each_mode(one_->spectrum_row(), [&](std::size_t i, std::size_t at) {
        const std::size_t place = m * it_.size() + i;
        numbers[place] = real() ? 0 : random[place];
        if (real()) modes[m * one_->spectrum_size() + at] = std::complex<T>(random[place]);
      });
    }
    auto mesh = to_device(context_, with_gaps(numbers)), alone = to_device(context_, with_gaps(numbers));
    auto spectra = to_device(context_, modes), spectrum = to_device(context_, modes);
    all_->to_mesh(spectra.data(), mesh.data(), sign);
    for (std::size_t m = 0; m < meshes; ++m) one_->to_mesh(spectrum_of(spectrum, m), mesh_of(alone, m), sign);
    const auto found = to_host(context_, mesh), wanted = to_host(context_, alone);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_LT(std::fabs(static_cast<double>(found[i] - wanted[i])), 10 * tolerance());
    }
    expect_gaps(mesh);
  }

 private:
  static constexpr std::size_t meshes = 5;
  static constexpr T gap = 77;

  [[nodiscard]] bool real() const { return it_.shape.real; }
  [[nodiscard]] std::size_t apart() const { return it_.shape.apart * (real() ? 1 : 2); }
  [[nodiscard]] double tolerance() const {
    return 16 * std::numeric_limits<T>::epsilon() * std::sqrt(static_cast<double>(it_.size()));
  }
  [[nodiscard]] T* mesh_of(array<T, backend_context>& mesh, std::size_t m) const { return mesh.data() + m * apart(); }
  [[nodiscard]] std::complex<T>* spectrum_of(array<std::complex<T>, backend_context>& spectra, std::size_t m) const {
    return spectra.data() + m * one_->spectrum_size();
  }
  [[nodiscard]] std::vector<T> with_gaps(const std::vector<number>& numbers) const {
    const auto parts = parts_of<T>(numbers, real());
    std::vector<T> spaced(meshes * apart(), gap);
    const std::size_t size = parts.size() / meshes;
    for (std::size_t i = 0; i < parts.size(); ++i) spaced[i / size * apart() + i % size] = parts[i];
    return spaced;
  }
  void expect_gaps(const array<T, backend_context>& mesh) const {
    const auto numbers = to_host(context_, mesh);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const bool between = i % apart() >= it_.size() * (real() ? 1 : 2);
      EXPECT_TRUE(!between || numbers[i] == gap);
    }
  }
  [[nodiscard]] std::vector<number> modes_of(const array<T, backend_context>& mesh,
                                             const array<std::complex<T>, backend_context>& spectra) const {
    const auto numbers = to_host(context_, mesh);
    const auto transformed = to_host(context_, spectra);
    std::vector<number> modes;
    for (std::size_t m = 0; m < meshes; ++m) {
      it_.for_each_mode(one_->spectrum_row(), [&](std::size_t i, std::size_t at) {
        const std::size_t first = m * apart() + 2 * i;
        modes.push_back(real() ? number(transformed[m * one_->spectrum_size() + at])
                               : number(numbers[first], numbers[first + 1]));
      });
    }
    return modes;
  }

  backend_context context_;
  transform_case it_;
  std::unique_ptr<detail::mode_transform<T>> one_, all_;
};

TYPED_TEST(mode_transform_test, transforms_several_meshes_like_one_by_one) {
  for (const backend_context& context : all_contexts()) {
    for (const bool real : {false, true}) {
      for (const transform_case& it : transform_cases(real)) {
        SCOPED_TRACE(it.text());
        several_meshes<TypeParam> several(context, it);
        several.expect_same_modes(-1);
        several.expect_same_meshes(1);
      }
    }
  }
}

/// Of a library that is not this project's own and only on CPUs.
template <typename T>
void expect_modes_by(const std::string& library) {
  if (!std::is_same_v<backend_context, cpu_context>) GTEST_SKIP() << "on CPUs";
  const cpu_context one_thread;
  const std::string problem = error_of<argument_error>([&] { detail::require_fft_library<T>(library, one_thread); });
  if (problem != "no error") GTEST_SKIP() << problem;
  constexpr double epsilon = std::numeric_limits<T>::epsilon();
  for (const backend_context& context : all_contexts()) {
    if (context.reproducibility() != determinism::none) continue;
    for (const bool real : {false, true}) {
      for (const transform_case& it : transform_cases(real)) {
        several_meshes<T> several(context, it, library);
        several.expect_same_modes(-1);
        several.expect_same_meshes(1);
        for (const int sign : {-1, 1}) {
          const std::string text = it.text() + message(" sign ", sign);
          if (!real || sign < 0) {
            EXPECT_LT(error_to_modes<T>(context, it, sign, library), 8 * epsilon) << text;
          }
          if (!real || sign > 0) {
            EXPECT_LT(error_to_mesh<T>(context, it, sign, library), 8 * epsilon) << text;
          }
        }
      }
    }
  }
}

TYPED_TEST(mode_transform_test, gives_the_same_by_fftw_where_it_is_found) { expect_modes_by<TypeParam>("fftw"); }
TYPED_TEST(mode_transform_test, gives_the_same_by_mkl_where_it_is_found) { expect_modes_by<TypeParam>("mkl"); }

TYPED_TEST(mode_transform_test, names_the_libraries_that_are_there) {
  const backend_context context;
  const bool cuda = std::is_same_v<backend_context, cuda_context>;
  const auto error = [&](const char* name) {
    return error_of<argument_error>([&] { detail::require_fft_library<TypeParam>(name, context); });
  };
  for (const char* name : {"", "auto", cuda ? "auto" : "own"}) EXPECT_EQ(error(name), "no error") << name;
  expect_words(error("kiss"), {"kiss", cuda ? "auto" : "own"});
  expect_words(error(cuda ? "fftw" : "cufft"), {"FFT library", "does not run on", "these do"});
  const auto libraries = fft_libraries();
  for (const method_info& library : libraries) {
    if (cuda || library.on_cpu) continue;
    expect_words(error(std::string(library.name).c_str()), {std::string(library.name), "own"});
  }
}

TEST(good_fft_size, is_the_next_product_of_2_3_and_5) {
  for (int n = 1; n < 5000; ++n) {
    for (const bool even : {false, true}) {
      int wanted = n;
      for (;; ++wanted) {
        int rest = wanted;
        for (const int prime : {2, 3, 5}) {
          while (rest % prime == 0) rest /= prime;
        }
        if (rest == 1 && (!even || wanted % 2 == 0)) break;
      }
      ASSERT_EQ(detail::good_fft_size(n, even), wanted) << n;
    }
  }
  EXPECT_EQ(detail::good_fft_size(1.25 * 30, true), 40);
  EXPECT_EQ(detail::good_fft_size(1 << 22, true), 1 << 22);
}

}  // namespace

}  // namespace quadrat::test

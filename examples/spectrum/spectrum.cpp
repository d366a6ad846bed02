// SPDX-License-Identifier: BSD-3-Clause
#include <quadrat/io/csv.hpp>
#include <quadrat/spectral/nufft_plan.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <exception>
#include <numbers>
#include <random>
#include <string>
#include <string_view>
#include <vector>

// The spectrum of a signal that was measured at uneven times, such as the brightness of a star: the periodogram of Lomb
// (1976) and Scargle (1982), with its sums over sines and cosines from two transforms of type 1 (Press and Rybicki
// 1989). Writes spectrum.csv, or the file named on the command line.

constexpr double days = 400, highest = 2;  // the highest frequency, per day
constexpr int measurements = 800;
constexpr int finer = 8;                                                       // frequencies per 1 / days
constexpr double waves[3][2] = {{0.0731, 1.0}, {0.4127, 0.6}, {1.2689, 0.4}};  // frequency, amplitude

struct signal {
  std::vector<quadrat::vec<double, 1>> times;
  std::vector<double> values;
};

/// At random times, with noise.
signal measure() {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> time(0, days);
  std::normal_distribution<double> noise(0, 0.5);
  signal result;
  for (int i = 0; i < measurements; ++i) {
    const double t = time(random);
    double value = 12 + noise(random);
    for (const auto& [frequency, amplitude] : waves)
      value += amplitude * std::sin(2 * std::numbers::pi * frequency * t);
    result.times.push_back({t});
    result.values.push_back(value);
  }
  return result;
}

/// sum over points of values exp(2 pi i f t), for f = 0, 1, ..., count - 1 over `period`.
std::vector<std::complex<double>> sums(const signal& it, int count, double period) {
  quadrat::nufft_options options;
  options.values = quadrat::nufft_values::real;
  options.period[0] = period;
  quadrat::nufft_plan<quadrat::cpu_context, double, 1> plan(quadrat::cpu_context(), {2 * count - 1}, 1e-9, options);
  plan.set_points(quadrat::points_of(it.times));
  std::vector<std::complex<double>> modes(plan.mode_count());
  plan.type_1(it.values.data(), modes.data());
  return modes;
}

/// The power at each frequency k / (finer days), as multiples of the mean power of noise.
std::vector<double> periodogram(signal it, int count) {
  const auto n = static_cast<double>(it.values.size());
  double mean = 0, variance = 0;
  for (const double value : it.values) mean += value / n;
  for (double& value : it.values) value -= mean, variance += value * value / (n - 1);
  const auto of_values = sums(it, count, finer * days);
  std::fill(it.values.begin(), it.values.end(), 1.0);
  const auto of_ones = sums(it, 2 * count - 1, finer * days);
  std::vector<double> power(static_cast<std::size_t>(count));
  for (std::size_t k = 1; k < power.size(); ++k) {
    // Shifted by this phase, sines and cosines are orthogonal at the given times.
    const std::complex<double> turn = std::polar(1.0, -0.5 * std::arg(of_ones[2 * k]));
    const std::complex<double> turned = of_values[k] * turn;
    const double half = 0.5 * std::abs(of_ones[2 * k]);
    const double cosines = 0.5 * n + half, sines = std::max(0.5 * n - half, 1e-9 * n);
    power[k] = 0.5 * (turned.real() * turned.real() / cosines + turned.imag() * turned.imag() / sines) / variance;
  }
  return power;
}

/// The index of the largest power at least 1 / days from those before.
std::size_t next_peak(const std::vector<double>& power, const std::vector<std::size_t>& before) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < power.size(); ++k) {
    const bool near = std::any_of(before.begin(), before.end(),
                                  [&](std::size_t b) { return std::max(b, k) - std::min(b, k) < finer; });
    if (!near && power[k] > power[best]) best = k;
  }
  return best;
}

int run(const std::string& file) {
  const int count = static_cast<int>(highest * finer * days) + 1;
  const signal it = measure();
  const std::vector<double> power = periodogram(it, count);
  const auto frequency = [](std::size_t k) { return static_cast<double>(k) / (finer * days); };
  std::printf("%zu measurements in %g days, %d frequencies to %g per day\n", it.values.size(), days, count, highest);

  int found = 0;
  std::vector<std::size_t> peaks;
  while (peaks.size() < 3) {
    const std::size_t k = next_peak(power, peaks);
    peaks.push_back(k);
    std::printf("peak at %.4f per day, power %.1f\n", frequency(k), power[k]);
    for (const auto& wave : waves) found += std::fabs(frequency(k) - wave[0]) < 0.5 / days ? 1 : 0;
  }
  constexpr std::string_view names[] = {"frequency", "power"};
  quadrat::io::csv_writer table(file, names);
  for (std::size_t k = 1; k < power.size(); ++k) {
    table.add(frequency(k));
    table.add(power[k]);
    table.end_row();
  }
  table.commit();
  return found == 3 ? 0 : 1;
}

int main(int count, char** arguments) {
  try {
    return run(count > 1 ? arguments[1] : "spectrum.csv");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spectrum: %s\n", error.what());
    return 1;
  }
}

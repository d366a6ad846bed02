// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/cases.hpp"

namespace quadrat::bench {

namespace {

/// Cases that take seconds in all: every type, precision and kind of values.
std::vector<transform_case> quick_cases(int dimension) {
  const int modes = dimension == 1 ? 1000 : (dimension == 2 ? 48 : 16);
  std::vector<transform_case> cases;
  for (const int type : {1, 2, 3}) {
    cases.push_back({type, true, 1e-4, dimension, modes, 10'000});
    cases.push_back({type, false, 1e-8, dimension, modes, 10'000});
    if (type < 3) cases.push_back({type, true, 1e-4, dimension, modes, 10'000, true});
  }
  cases.push_back({1, false, 1e-8, dimension, modes, 10'000, false, true});
  return cases;
}

/// A million points, and about as many modes.
std::vector<transform_case> cpu_cases(int dimension) {
  const int modes = dimension == 1 ? 1'000'000 : (dimension == 2 ? 1024 : 128);
  std::vector<transform_case> cases;
  for (const double tolerance : {1e-3, 1e-6, 1e-9, 1e-12}) {
    for (const int type : {1, 2}) cases.push_back({type, false, tolerance, dimension, modes, 1'000'000});
  }
  return cases;
}

std::vector<transform_case> gpu_cases(int dimension) {
  constexpr std::size_t million = 1'000'000, many = 10'000'000;
  if (dimension == 1) return {{2, true, 1e-5, 1, 1'000'000, many}};
  if (dimension == 2) return {{1, true, 1e-5, 2, 1024, many}, {2, true, 1e-5, 2, 1024, many}};
  std::vector<transform_case> cases;
  for (const int modes : {64, 128, 256}) cases.push_back({1, true, 1e-3, 3, modes, many});
  for (const int type : {1, 2}) {
    for (const int modes : {64, 128, 256}) cases.push_back({type, true, 1e-5, 3, modes, many});
    cases.push_back({type, true, 1e-5, 3, 128, many, true});
    cases.push_back({type, false, 1e-9, 3, 128, many});
    for (const bool one_place : {false, true}) cases.push_back({type, false, 1e-12, 3, 128, million, false, one_place});
    cases.push_back({type, false, 1e-6, 3, 256, std::size_t{1} << 24});
    cases.push_back({type, true, 1e-3, 3, 64, million});
  }
  cases.push_back({3, true, 1e-5, 3, 128, million});
  return cases;
}

}  // namespace

std::vector<transform_case> transform_cases(const session& s, int dimension) {
  if (!s.full()) return quick_cases(dimension);
  return s.on_cuda() ? gpu_cases(dimension) : cpu_cases(dimension);
}

}  // namespace quadrat::bench

// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/fft/cuda/line_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

/// Appends radices, from `least_index` of the list on, until their product is `rest`; keeps the best.
void search_radices(int rest, std::vector<int>& radices, std::vector<int>& best) {
  constexpr std::array possible{16, 10, 9, 8, 6, 5, 4, 3, 2};
  if (rest == 1) {
    // Radices decrease, so the first is the largest.
    const auto better = [&] {
      return radices.size() != best.size() ? radices.size() < best.size() : radices[0] < best[0];
    };
    if (best.empty() || better()) best = radices;
    return;
  }
  if (radices.size() == line_digits::most_passes) return;
  for (const int radix : possible) {
    if (rest % radix != 0 || (!radices.empty() && radix > radices.back())) continue;
    radices.push_back(radix);
    search_radices(rest / radix, radices, best);
    radices.pop_back();
  }
}

/// The place of mode f among the last pass's butterflies has the reversed digits of f.
[[nodiscard]] std::vector<std::uint16_t> places_of(const line_digits& digits) {
  const int last = digits.passes - 1;
  const auto count = static_cast<int>(digits.butterflies[last].divisor);
  std::vector<std::uint16_t> places(static_cast<std::size_t>(count));
  for (int mode = 0; mode < count; ++mode) {
    int rest = mode, part = digits.size, place = 0;
    for (int p = 0; p < last; ++p) {
      part /= digits.radix[p];
      place += rest % digits.radix[p] * (p == 0 ? digits.pitch : part);
      rest /= digits.radix[p];
    }
    places[static_cast<std::size_t>(mode)] = static_cast<std::uint16_t>(place);
  }
  return places;
}

}  // namespace

bool has_line_plan(int size) {
  std::vector<int> radices, best;
  search_radices(size, radices, best);
  return best.size() >= 2;
}

line_plan plan_line(int size) {
  std::vector<int> radices, best;
  search_radices(size, radices, best);
  require(!best.empty(), "a Fourier transform of ", size, " numbers was asked for, which takes too many passes");
  std::ranges::stable_partition(best, [](int radix) { return radix % 2 == 0; });
  if (best.size() > 2 && best[1] % 2 == 0) std::swap(best[1], best.back());
  line_plan plan{};
  line_digits& digits = plan.digits;
  digits.size = size;
  digits.passes = static_cast<int>(best.size());
  int part = size;
  for (int p = 0; p < digits.passes; ++p) {
    digits.radix[p] = best[static_cast<std::size_t>(p)];
    part /= digits.radix[p];
    digits.butterflies[p] = line_divisor(size / digits.radix[p]);
    digits.step[p] = line_divisor(part);
  }
  digits.pitch = static_cast<int>(digits.step[0].divisor) | 1;
  plan.places = places_of(digits);
  return plan;
}

template <typename T>
std::vector<fft_number<T>> line_roots(int size) {
  std::vector<fft_number<T>> roots;
  for (int k = 0; k < size; ++k) {
    const double angle = 2 * std::numbers::pi * k / size;
    roots.push_back({static_cast<T>(std::cos(angle)), static_cast<T>(-std::sin(angle))});
  }
  return roots;
}

template std::vector<fft_number<float>> line_roots(int);
template std::vector<fft_number<double>> line_roots(int);

}  // namespace quadrat::detail

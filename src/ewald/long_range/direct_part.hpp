// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ewald/choice/choice.hpp"
#include "ewald/long_range/influence.hpp"
#include "ewald/long_range/smooth_part.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/workspace.hpp"

/// The long-range part as a sum over modes, each over all charges: for small systems.
namespace quadrat::detail {

/// The modes of one half of space up to a largest one along each axis. The first is 0; the others also represent their
/// negatives.
struct half_of_modes {
  int most[3];

  [[nodiscard]] std::size_t count() const {
    const auto wide = [](int n) { return 2 * static_cast<std::size_t>(n) + 1; };
    return (wide(most[0]) * wide(most[1]) * wide(most[2]) + 1) / 2;
  }
  /// Modes are numbered from the middle of the block of all modes.
  [[nodiscard]] QUADRAT_HD vec<int, 3> at(std::size_t number) const {
    const std::size_t wide[3] = {2 * static_cast<std::size_t>(most[0]) + 1, 2 * static_cast<std::size_t>(most[1]) + 1,
                                 2 * static_cast<std::size_t>(most[2]) + 1};
    const std::size_t i = number + (wide[0] * wide[1] * wide[2] - 1) / 2;
    return {static_cast<int>(i / wide[2] / wide[1]) - most[0], static_cast<int>(i / wide[2] % wide[1]) - most[1],
            static_cast<int>(i % wide[2]) - most[2]};
  }
};

template <typename Context, typename T>
class direct_part final : public smooth_part<Context, T> {
 public:
  direct_part(const Context& context, const ewald_setup& setup, std::size_t systems);
  void prepare(const smooth_input<T>& input) override;
  void compute(const smooth_input<T>& input, const smooth_output<T>& output) override;
  [[nodiscard]] std::size_t bytes() const override;

 private:
  Context context_;
  std::size_t systems_;
  half_of_modes modes_;
  long_range_modes<T> law_;
  array<vec<T, 2>, Context> sums_;  ///< [system][mode]: of charges times exp(-i k x)
  array<T, Context> factors_;       ///< [system][mode]
  workspace<Context> scratch_;
};

}  // namespace quadrat::detail

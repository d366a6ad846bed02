// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/array.hpp"
#include "spectral/fft/cuda/line_plan.hpp"

namespace quadrat::detail {

/// What passes over lines of one size look up, in the memory of the device.
template <typename T>
class cuda_line {
 public:
  cuda_line() = default;
  cuda_line(const cuda_context& context, int size)
      : plan_(plan_line(size)),
        places_(to_device(context, plan_.places)),
        roots_(to_device(context, line_roots<T>(size))) {
    plan_.digits.places = places_.data();
  }

  /// A pass without its ends and lines.
  [[nodiscard]] line_pass<T> pass(int sign) const {
    line_pass<T> pass{};
    pass.digits = plan_.digits;
    pass.roots = roots_.data();
    pass.conjugate = sign > 0;
    pass.shift = line_shift<T>(plan_.digits);
    return pass;
  }
  [[nodiscard]] std::size_t bytes() const { return places_.bytes() + roots_.bytes(); }

 private:
  line_plan plan_;
  array<std::uint16_t, cuda_context> places_;
  array<fft_number<T>, cuda_context> roots_;
};

/// Runs a pass. Neighboring lines must be next to each other in memory, or else neighboring numbers of a line.
/// Asynchronous.
template <typename T>
void run_lines(const cuda_context& context, const line_pass<T>& pass);

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/long_range/mesh_part.hpp"

namespace quadrat::detail {

template <typename T>
std::vector<double> deconvolution(const mesh_window<T>& window, int extent) {
  constexpr int aliases = 3;  // on either side; of a window of width 3 the next one is below 1e-5
  const std::vector<double> transform = window.transforms(aliases * extent + extent / 2 + 1, extent);
  std::vector<double> result;
  for (int mode = 0; mode <= extent / 2; ++mode) {
    double sum = 0;
    for (int m = -aliases; m <= aliases; ++m) {
      const double w = transform[static_cast<std::size_t>(std::abs(mode + m * extent))];
      sum += w * w;
    }
    const double own = transform[static_cast<std::size_t>(mode)];
    result.push_back(own * own / (sum * sum));
  }
  return result;
}

template std::vector<double> deconvolution(const mesh_window<float>&, int);
template std::vector<double> deconvolution(const mesh_window<double>&, int);

}  // namespace quadrat::detail

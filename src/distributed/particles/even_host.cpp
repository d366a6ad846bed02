// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/particles/bisection.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/decomposition.hpp"

namespace quadrat {

template <typename T, int D>
decomposition<D> even_decomposition(const grid<T, D>& space, int ranks) {
  detail::require_decomposable(space, ranks);
  detail::bisection<D> work(space.cells, space.domain.periodic, ranks);
  const vec<double, D> edges = detail::edges_of(space);
  while (!work.parts().empty()) {
    std::vector<int> axes, cells;
    for (const auto& one : work.parts()) {
      detail::even_cut<D>(one, edges, axes.emplace_back(), cells.emplace_back());
    }
    work.cut(axes, cells);
  }
  return work.finished();
}

template decomposition<2> even_decomposition(const grid<float, 2>&, int);
template decomposition<3> even_decomposition(const grid<float, 3>&, int);
template decomposition<2> even_decomposition(const grid<double, 2>&, int);
template decomposition<3> even_decomposition(const grid<double, 3>&, int);

}  // namespace quadrat

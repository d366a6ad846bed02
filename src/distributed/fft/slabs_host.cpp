// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/fft/slabs.hpp"
#include "distributed/particles/bisection.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/fft.hpp"

namespace quadrat {

template <int D>
decomposition<D> slab_decomposition(const vec<int, D>& mesh, int ranks, const vec<bool, D>& periodic) {
  require(ranks >= 1, "the number of ranks is ", ranks, "; at least 1 is needed");
  for (int axis = 0; axis < D; ++axis) {
    require(mesh[axis] >= 1, "the mesh has ", mesh[axis], " points along axis ", axis, "; at least 1 is needed");
  }
  detail::bisection<D> work(mesh, periodic, ranks);
  while (!work.parts().empty()) {
    std::vector<int> axes, cells;
    for (const auto& part : work.parts()) {
      axes.push_back(0);
      cells.push_back(detail::slab_begin(mesh[0], part.first_rank + part.ranks_below(), ranks));
    }
    work.cut(axes, cells);
  }
  return work.finished();
}

template decomposition<2> slab_decomposition(const vec<int, 2>&, int, const vec<bool, 2>&);
template decomposition<3> slab_decomposition(const vec<int, 3>&, int, const vec<bool, 3>&);

}  // namespace quadrat

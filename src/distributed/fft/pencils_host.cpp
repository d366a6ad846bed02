// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>

#include "distributed/fft/pencils.hpp"
#include "distributed/particles/bisection.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/fft.hpp"

namespace quadrat {

namespace detail {

pencil_ranks arranged_ranks(const vec<int, 3>& mesh, int ranks) {
  const auto layers = [](int extent, int number) { return static_cast<std::int64_t>(slab_begin(extent, 1, number)); };
  pencil_ranks best{1, 1};
  std::int64_t smallest = -1;
  // The first of equally good arrangements is taken.
  for (int along_x = ranks; along_x >= 1; --along_x) {
    const int along_y = ranks / along_x;
    const std::int64_t most = std::max({layers(mesh[0], along_x) * layers(mesh[1], along_y) * mesh[2],
                                        layers(mesh[0], along_x) * layers(mesh[2], along_y) * mesh[1],
                                        layers(mesh[1], along_x) * layers(mesh[2], along_y) * mesh[0]});
    if (smallest >= 0 && most >= smallest) continue;
    smallest = most;
    best = {along_x, along_y};
  }
  return best;
}

}  // namespace detail

decomposition<3> pencil_decomposition(const vec<int, 3>& mesh, int ranks, const vec<bool, 3>& periodic) {
  require(ranks >= 1, "the number of ranks is ", ranks, "; at least 1 is needed");
  for (int axis = 0; axis < 3; ++axis) {
    require(mesh[axis] >= 1, "the mesh has ", mesh[axis], " points along axis ", axis, "; at least 1 is needed");
  }
  const auto [along_x, along_y] = detail::arranged_ranks(mesh, ranks);
  const int used = along_x * along_y;
  detail::bisection<3> work(mesh, periodic, ranks);
  while (!work.parts().empty()) {
    std::vector<int> axes, cells, below;
    for (const auto& part : work.parts()) {
      const int first = part.first_rank, end = first + part.ranks;
      if (end > used) {
        // Ranks without mesh points come last.
        axes.push_back(0);
        cells.push_back(first < used ? mesh[0] : part.block.first[0]);
        below.push_back(first < used ? used - first : part.ranks / 2);
      } else if (part.ranks > along_y || first / along_y != (end - 1) / along_y) {
        const int middle = (first / along_y + (end - 1) / along_y + 1) / 2;
        axes.push_back(0);
        cells.push_back(detail::slab_begin(mesh[0], middle, along_x));
        below.push_back(middle * along_y - first);
      } else {
        axes.push_back(1);
        below.push_back(part.ranks / 2);
        cells.push_back(detail::slab_begin(mesh[1], first % along_y + below.back(), along_y));
      }
    }
    work.cut(axes, cells, below);
  }
  return work.finished();
}

}  // namespace quadrat

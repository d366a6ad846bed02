// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/srd/ranks/kernels.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/parallel/for_each.hpp"

/// Particles that have left the windows of their ranks (strays). Their contributions go to the ranks that own their
/// cells.
namespace quadrat::detail {

template <typename T, int D>
struct srd_stray {
  vec<int, D> cell;
  vec<T, D> velocity;
  T mass;
};

template <typename T, int D>
struct srd_describe_strays {
  srd_own_particles<T, D> particles;
  srd_setup<T, D> setup;
  vec<T, D> shift;
  const std::uint32_t* which;
  srd_stray<T, D>* strays;

  QUADRAT_HD void operator()(std::size_t k) const {
    const std::uint32_t i = which[k];
    strays[k] = {setup.shifted_indices(particles.position_of(i), shift), particles.velocity_of(i),
                 particles.mass_of(setup, i)};
  }
};

template <typename T, int D, typename Sums>
struct srd_add_strays {
  Sums sums;
  cell_window<D> window;
  const srd_stray<T, D>* strays;

  QUADRAT_HD void operator()(std::size_t k) const {
    sums.add(static_cast<cell_id>(window.index(strays[k].cell)), strays[k].velocity, strays[k].mass);
  }
};

/// Finds the strays of all ranks whose cells are in the block. Returns false on all ranks if one has too many.
/// Collective. Waits.
template <typename Context, typename T, int D>
[[nodiscard]] bool find_strays(const Context& context, communicator& ranks, const srd_describe_strays<T, D>& body,
                               const std::uint64_t* number, const cell_block<D>& block,
                               std::vector<srd_stray<T, D>>& here) {
  const std::uint64_t own = to_host(context, number, 1)[0];
  const auto numbers = all_values(ranks, own);
  const std::size_t most = *std::max_element(numbers.begin(), numbers.end());
  if (most > srd_stray_list::most) return false;
  array<srd_stray<T, D>, Context> described(context, own);
  srd_describe_strays<T, D> describe = body;
  describe.strays = described.data();
  for_each(context, "srd.strays", own, describe);
  auto mine = to_host(context, described);
  mine.resize(most);
  std::vector<srd_stray<T, D>> all(most * numbers.size());
  ranks.all_gather(mine.data(), all.data(), most * sizeof(mine[0]));
  for (std::size_t rank = 0; rank < numbers.size(); ++rank) {
    for (std::size_t k = 0; k < numbers[rank]; ++k) {
      if (block.holds(all[rank * most + k].cell)) here.push_back(all[rank * most + k]);
    }
  }
  return true;
}

}  // namespace quadrat::detail

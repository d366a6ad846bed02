// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/papers/hybrid_mesh.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

/// Entries of the list per loop index, so that a row costs few atomic additions.
constexpr std::size_t stretch = 64;

}  // namespace

template <typename T>
void add_list(const cpu_context& context, const mesh_entry<T>* list, const std::uint32_t* rows, std::size_t count,
              const channel_pair<T>& channels) {
  for_each(context, "mesh.add_list", (count + stretch - 1) / stretch, [&](std::size_t part) {
    const std::size_t end = (part + 1) * stretch < count ? (part + 1) * stretch : count;
    for (int c = 0; c < channels.count; ++c) {
      T sum = T(0);
      for (std::size_t e = part * stretch; e < end; ++e) {
        sum += list[e].weight * channels.value[c][list[e].column * channels.stride];
        if (e + 1 < end && rows[e + 1] == rows[e]) continue;
        atomic_add(channels.node[c] + rows[e] * channels.stride, sum);
        sum = T(0);
      }
    }
  });
}

template void add_list(const cpu_context&, const mesh_entry<float>*, const std::uint32_t*, std::size_t,
                       const channel_pair<float>&);
template void add_list(const cpu_context&, const mesh_entry<double>*, const std::uint32_t*, std::size_t,
                       const channel_pair<double>&);

}  // namespace quadrat::detail

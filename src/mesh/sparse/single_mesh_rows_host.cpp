// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/sparse/single_mesh.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

template <int Channels, typename T>
void multiply_on_threads(const cpu_context& context, const mesh_rows<T>& rows, const channel_pair<T>& channels) {
  for_each(context, "mesh.multiply_rows", rows.rows, [&](std::size_t k) {
    T sum[Channels] = {};
    for (std::uint64_t e = rows.offsets[k]; e < rows.offsets[k + 1]; ++e) {
      const mesh_entry<T> entry = rows.entries[e];
      for (int c = 0; c < Channels; ++c) sum[c] += entry.weight * channels.value[c][entry.column * channels.stride];
    }
    for (int c = 0; c < Channels; ++c) channels.store(c, k, sum[c]);
  });
}

}  // namespace

/// One thread per row, on this backend.
template <typename T>
void multiply_rows(const cpu_context& context, const mesh_rows<T>& rows, const channel_pair<T>& channels,
                   const row_threads& /*threads*/) {
  if (channels.count == 2) {
    multiply_on_threads<2>(context, rows, channels);
  } else {
    multiply_on_threads<1>(context, rows, channels);
  }
}

template void multiply_rows(const cpu_context&, const mesh_rows<float>&, const channel_pair<float>&,
                            const row_threads&);
template void multiply_rows(const cpu_context&, const mesh_rows<double>&, const channel_pair<double>&,
                            const row_threads&);

}  // namespace quadrat::detail

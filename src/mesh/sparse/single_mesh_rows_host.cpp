// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/sparse/single_mesh.hpp"
#include "parallel/partition.hpp"

namespace quadrat::detail {

namespace {

/// The first row of a thread's part. Parts have equal sums of rows and entries, so that a crowd is shared by threads.
[[nodiscard]] std::size_t first_row(const std::uint64_t* offsets, const partition& work, std::size_t rows,
                                    std::size_t part) {
  std::size_t low = 0, high = rows;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (offsets[middle] + middle < work.first(part)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Multiplies a row. Successive entries of a long row add to `Parts` sums in turn, because each addition waits for the
/// previous one to the same sum.
template <int Channels, int Parts, typename T>
void multiply_row(const mesh_rows<T>& rows, const channel_pair<T>& channels, std::size_t row) {
  constexpr std::uint64_t many = 16;
  const std::uint64_t end = rows.offsets[row + 1];
  std::uint64_t e = rows.offsets[row];
  T sum[Channels] = {};
  const auto add = [&](std::uint64_t at, T(&part)[Channels]) {
    const mesh_entry<T> entry = rows.entries[at];
    for (int c = 0; c < Channels; ++c) part[c] += entry.weight * channels.value[c][entry.column * channels.stride];
  };
  if (Parts > 1 && end - e >= many) {
    T parts[Parts][Channels] = {};
    for (; e + Parts <= end; e += Parts) {
      for (int p = 0; p < Parts; ++p) add(e + static_cast<std::uint64_t>(p), parts[p]);
    }
    for (int p = 0; p < Parts; ++p) {
      for (int c = 0; c < Channels; ++c) sum[c] += parts[p][c];
    }
  }
  for (; e < end; ++e) add(e, sum);
  for (int c = 0; c < Channels; ++c) channels.store(c, row, sum[c]);
}

template <int Channels, int Parts, typename T>
void multiply_on_threads(const cpu_context& context, const mesh_rows<T>& rows, const channel_pair<T>& channels) {
  constexpr std::size_t worth_a_team = 2048;
  const partition work = partition_for(context, rows.offsets[rows.rows] + rows.rows, worth_a_team);
  const auto parts = static_cast<int>(work.parts);
#pragma omp parallel for schedule(static, 1) num_threads(parts) if (parts > 1)
  for (int part = 0; part < parts; ++part) {
    const auto p = static_cast<std::size_t>(part);
    const std::size_t end = first_row(rows.offsets, work, rows.rows, p + 1);
    for (std::size_t k = first_row(rows.offsets, work, rows.rows, p); k < end; ++k) {
      multiply_row<Channels, Parts>(rows, channels, k);
    }
  }
}

}  // namespace

/// One thread per row, on this backend.
template <typename T>
void multiply_rows(const cpu_context& context, const listed_rows<T>& all, const channel_pair<T>& channels,
                   const row_threads& /*threads*/) {
  constexpr int parts = 4;
  // Canonical sums are in the order of the points.
  if (context.reproducibility() == determinism::canonical) {
    return channels.count == 2 ? multiply_on_threads<2, 1>(context, all.rows, channels)
                               : multiply_on_threads<1, 1>(context, all.rows, channels);
  }
  channels.count == 2 ? multiply_on_threads<2, parts>(context, all.rows, channels)
                      : multiply_on_threads<1, parts>(context, all.rows, channels);
}

template void multiply_rows(const cpu_context&, const listed_rows<float>&, const channel_pair<float>&,
                            const row_threads&);
template void multiply_rows(const cpu_context&, const listed_rows<double>&, const channel_pair<double>&,
                            const row_threads&);

}  // namespace quadrat::detail

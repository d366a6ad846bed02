// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/parallel/scan.hpp"

#include "parallel/partition.hpp"

namespace quadrat {

namespace {

/// With fewer elements per thread, waking a thread takes too long.
constexpr std::size_t least_scanned_part = 8192;

template <typename In, typename Out>
Out sum_of(const In* in, std::size_t first, std::size_t last) {
  Out sum = 0;
  for (std::size_t i = first; i < last; ++i) sum = static_cast<Out>(sum + in[i]);
  return sum;
}

template <typename In, typename Out>
Out scan_part(const In* in, Out* out, std::size_t first, std::size_t last, Out sum) {
  for (std::size_t i = first; i < last; ++i) {
    const In value = in[i];
    out[i] = sum;
    sum = static_cast<Out>(sum + value);
  }
  return sum;
}

/// Two passes: sum each part, then scan each part from the sum of those before it. Returns the total.
template <typename In, typename Out>
Out scan(const cpu_context& context, const In* in, Out* out, std::size_t count, workspace<cpu_context>& scratch) {
  detail::require_count_fits("exclusive_scan", count);
  const detail::partition split = detail::partition_for(context, count, least_scanned_part);
  if (split.parts == 1) return scan_part(in, out, 0, count, Out{0});

  auto* starts = reinterpret_cast<Out*>(scratch.request(context, split.parts * sizeof(Out)));
  const auto parts = static_cast<int>(split.parts);
  Out total = 0;
#pragma omp parallel num_threads(parts)
  {
#pragma omp for schedule(static, 1)
    for (int part = 0; part < parts; ++part) {
      const auto p = static_cast<std::size_t>(part);
      starts[p] = sum_of<In, Out>(in, split.first(p), split.last(p));
    }
#pragma omp single
    total = scan_part(starts, starts, 0, split.parts, Out{0});
#pragma omp for schedule(static, 1)
    for (int part = 0; part < parts; ++part) {
      const auto p = static_cast<std::size_t>(part);
      scan_part(in, out, split.first(p), split.last(p), starts[p]);
    }
  }
  return total;
}

}  // namespace

std::size_t scan_scratch_bytes(const cpu_context& context, std::size_t count) {
  return detail::partition_for(context, count, least_scanned_part).parts * sizeof(std::uint32_t);
}

void exclusive_scan(const cpu_context& context, const std::uint32_t* in, std::uint32_t* out, std::size_t count,
                    workspace<cpu_context>& scratch) {
  scan(context, in, out, count, scratch);
}
void exclusive_scan(const cpu_context& context, const std::uint32_t* in, std::uint64_t* out, std::size_t count,
                    workspace<cpu_context>& scratch) {
  scan(context, in, out, count, scratch);
}
void exclusive_scan(const cpu_context& context, const std::uint64_t* in, std::uint64_t* out, std::size_t count,
                    workspace<cpu_context>& scratch) {
  scan(context, in, out, count, scratch);
}
void exclusive_scan_with_total(const cpu_context& context, const std::uint32_t* in, std::uint32_t* out,
                               std::size_t count, workspace<cpu_context>& scratch) {
  out[count] = scan(context, in, out, count, scratch);
}
void exclusive_scan_with_total(const cpu_context& context, const std::uint32_t* in, std::uint64_t* out,
                               std::size_t count, workspace<cpu_context>& scratch) {
  out[count] = scan(context, in, out, count, scratch);
}
void exclusive_scan_with_total(const cpu_context& context, const std::uint64_t* in, std::uint64_t* out,
                               std::size_t count, workspace<cpu_context>& scratch) {
  out[count] = scan(context, in, out, count, scratch);
}

}  // namespace quadrat

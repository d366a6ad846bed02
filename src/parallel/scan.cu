// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/parallel/scan.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

#include "parallel/cub_call.hpp"
#include "parallel/partition.hpp"

namespace quadrat {

namespace {

/// The input, followed by a zero at the entry for the total. It has the type of the output, because CUB adds in the
/// type that it reads.
template <typename In, typename Out>
struct padded_input {
  const In* in;
  std::uint32_t count;
  __host__ __device__ Out operator()(std::uint32_t i) const { return i < count ? static_cast<Out>(in[i]) : Out{0}; }
};

/// Up to this many entries one block is faster than CUB's two kernels.
constexpr std::size_t one_block_most = 4096;
constexpr unsigned one_block_threads = 1024;

/// Each thread takes consecutive entries. Works in place.
template <typename Source, typename Out>
__global__ void __launch_bounds__(one_block_threads) scan_in_one_block(Source source, Out* out, std::uint32_t entries) {
  using block_scan = cub::BlockScan<Out, one_block_threads>;
  __shared__ typename block_scan::TempStorage memory;
  const std::uint32_t share = (entries + one_block_threads - 1) / one_block_threads;
  const std::uint32_t first = min(threadIdx.x * share, entries);
  const std::uint32_t last = min(first + share, entries);
  Out sum{0};
  for (std::uint32_t i = first; i < last; ++i) sum += source(i);
  Out before{0};
  block_scan(memory).ExclusiveSum(sum, before);
  for (std::uint32_t i = first; i < last; ++i) {
    const Out own = source(i);
    out[i] = before;
    before += own;
  }
}

/// CUB's scan, in its two phases.
template <typename In, typename Out>
struct scan_call {
  padded_input<In, Out> padded;
  Out* out;
  std::uint32_t entries;
  cuda_stream stream;

  cudaError_t operator()(void* temporary, std::size_t& bytes) const {
    const auto source = thrust::make_transform_iterator(thrust::counting_iterator<std::uint32_t>(0), padded);
    return cub::DeviceScan::ExclusiveScan(temporary, bytes, source, out, cuda::std::plus<>{}, Out{0}, entries, stream);
  }
};

constexpr const char* scan_name = "quadrat::exclusive_scan";

/// Writes `entries` sums: `count` of them, or one more for the total. One kernel serves both: compiling CUB's scan
/// twice would cost more than the comparison does.
template <typename In, typename Out>
void scan(const cuda_context& context, const In* in, Out* out, std::size_t count, std::size_t entries,
          workspace<cuda_context>& scratch) {
  detail::require_count_fits("exclusive_scan", count);
  if (entries == 0) return;
  const cuda_launch launch(context, scan_name);
  const padded_input<In, Out> padded{in, static_cast<std::uint32_t>(count)};
  if (entries <= one_block_most) {
    scan_in_one_block<<<1, one_block_threads, 0, context.stream()>>>(padded, out, static_cast<std::uint32_t>(entries));
    launch.check();
    return;
  }
  const scan_call<In, Out> call{padded, out, static_cast<std::uint32_t>(entries), context.stream()};
  std::size_t bytes = detail::cub_bytes(scan_name, call);
  std::byte* temporary = scratch.request(context, bytes);
  detail::check_cub(call(temporary, bytes), scan_name);
}

}  // namespace

std::size_t scan_scratch_bytes(const cuda_context& context, std::size_t count) {
  if (count <= one_block_most) return 0;
  const cuda_launch launch(context, scan_name);
  return detail::cub_bytes(scan_name, scan_call<std::uint32_t, std::uint32_t>{
                                          {nullptr, 0}, nullptr, static_cast<std::uint32_t>(count), context.stream()});
}

void exclusive_scan(const cuda_context& context, const std::uint32_t* in, std::uint32_t* out, std::size_t count,
                    workspace<cuda_context>& scratch) {
  scan(context, in, out, count, count, scratch);
}
void exclusive_scan(const cuda_context& context, const std::uint32_t* in, std::uint64_t* out, std::size_t count,
                    workspace<cuda_context>& scratch) {
  scan(context, in, out, count, count, scratch);
}
void exclusive_scan(const cuda_context& context, const std::uint64_t* in, std::uint64_t* out, std::size_t count,
                    workspace<cuda_context>& scratch) {
  scan(context, in, out, count, count, scratch);
}
void exclusive_scan_with_total(const cuda_context& context, const std::uint32_t* in, std::uint32_t* out,
                               std::size_t count, workspace<cuda_context>& scratch) {
  scan(context, in, out, count, count + 1, scratch);
}
void exclusive_scan_with_total(const cuda_context& context, const std::uint32_t* in, std::uint64_t* out,
                               std::size_t count, workspace<cuda_context>& scratch) {
  scan(context, in, out, count, count + 1, scratch);
}
void exclusive_scan_with_total(const cuda_context& context, const std::uint64_t* in, std::uint64_t* out,
                               std::size_t count, workspace<cuda_context>& scratch) {
  scan(context, in, out, count, count + 1, scratch);
}

}  // namespace quadrat

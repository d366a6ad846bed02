// SPDX-License-Identifier: BSD-3-Clause
// A build without CUDA gives a clear error, not a link failure.
#include "quadrat/core/config.hpp"

#if !QUADRAT_HAS_CUDA

#include "quadrat/core/error.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat {

namespace {
[[noreturn]] void no_backend() {
  throw backend_error("this build of quadrat has no CUDA backend; configure it where nvcc is found, or use the CPU");
}
using scratch_memory = workspace<cuda_context>;
}  // namespace

void exclusive_scan(const cuda_context&, const std::uint32_t*, std::uint32_t*, std::size_t, scratch_memory&) {
  no_backend();
}
void exclusive_scan(const cuda_context&, const std::uint32_t*, std::uint64_t*, std::size_t, scratch_memory&) {
  no_backend();
}
void exclusive_scan(const cuda_context&, const std::uint64_t*, std::uint64_t*, std::size_t, scratch_memory&) {
  no_backend();
}
void exclusive_scan_with_total(const cuda_context&, const std::uint32_t*, std::uint32_t*, std::size_t,
                               scratch_memory&) {
  no_backend();
}
void exclusive_scan_with_total(const cuda_context&, const std::uint32_t*, std::uint64_t*, std::size_t,
                               scratch_memory&) {
  no_backend();
}
void exclusive_scan_with_total(const cuda_context&, const std::uint64_t*, std::uint64_t*, std::size_t,
                               scratch_memory&) {
  no_backend();
}
int sort_pairs(const cuda_context&, const sort_buffers<std::uint32_t>&, std::size_t, int, scratch_memory&,
               sort_values) {
  no_backend();
}
int sort_pairs(const cuda_context&, const sort_buffers<std::uint64_t>&, std::size_t, int, scratch_memory&,
               sort_values) {
  no_backend();
}
void sort_pairs(const cuda_context&, std::uint32_t*, std::uint32_t*, std::size_t, int, scratch_memory&, sort_values) {
  no_backend();
}
void sort_pairs(const cuda_context&, std::uint64_t*, std::uint32_t*, std::size_t, int, scratch_memory&, sort_values) {
  no_backend();
}

}  // namespace quadrat

#endif

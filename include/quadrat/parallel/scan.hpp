// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/context.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat {

/// out[i] = in[0] + ... + in[i - 1] for i in [0, count); out[0] = 0. Sums are computed in the type of `out` and wrap
/// around, so the bits are the same on every context. If their types agree, `in` and `out` may be the same memory;
/// otherwise they must not overlap. Does not wait. Allocates scratch memory only to grow. Can be captured. Throws
/// argument_error if count exceeds 2^31 - 1, and backend_error if the CUDA backend is missing or refuses the launch.
void exclusive_scan(const cpu_context& context, const std::uint32_t* in, std::uint32_t* out, std::size_t count,
                    workspace<cpu_context>& scratch);
void exclusive_scan(const cpu_context& context, const std::uint32_t* in, std::uint64_t* out, std::size_t count,
                    workspace<cpu_context>& scratch);
void exclusive_scan(const cpu_context& context, const std::uint64_t* in, std::uint64_t* out, std::size_t count,
                    workspace<cpu_context>& scratch);
void exclusive_scan(const cuda_context& context, const std::uint32_t* in, std::uint32_t* out, std::size_t count,
                    workspace<cuda_context>& scratch);
void exclusive_scan(const cuda_context& context, const std::uint32_t* in, std::uint64_t* out, std::size_t count,
                    workspace<cuda_context>& scratch);
void exclusive_scan(const cuda_context& context, const std::uint64_t* in, std::uint64_t* out, std::size_t count,
                    workspace<cuda_context>& scratch);

/// The scratch memory in bytes that suffices for scans of at most `count` 32-bit numbers into 32-bit sums. Does not
/// wait. Allocates nothing.
[[nodiscard]] std::size_t scan_scratch_bytes(const cpu_context& context, std::size_t count);
[[nodiscard]] std::size_t scan_scratch_bytes(const cuda_context& context, std::size_t count);

/// The same with one extra entry: out[count] is the total. Reads `count` entries and writes count + 1. Does not wait.
/// Allocates scratch memory only to grow. Can be captured.
void exclusive_scan_with_total(const cpu_context& context, const std::uint32_t* in, std::uint32_t* out,
                               std::size_t count, workspace<cpu_context>& scratch);
void exclusive_scan_with_total(const cpu_context& context, const std::uint32_t* in, std::uint64_t* out,
                               std::size_t count, workspace<cpu_context>& scratch);
void exclusive_scan_with_total(const cpu_context& context, const std::uint64_t* in, std::uint64_t* out,
                               std::size_t count, workspace<cpu_context>& scratch);
void exclusive_scan_with_total(const cuda_context& context, const std::uint32_t* in, std::uint32_t* out,
                               std::size_t count, workspace<cuda_context>& scratch);
void exclusive_scan_with_total(const cuda_context& context, const std::uint32_t* in, std::uint64_t* out,
                               std::size_t count, workspace<cuda_context>& scratch);
void exclusive_scan_with_total(const cuda_context& context, const std::uint64_t* in, std::uint64_t* out,
                               std::size_t count, workspace<cuda_context>& scratch);

}  // namespace quadrat

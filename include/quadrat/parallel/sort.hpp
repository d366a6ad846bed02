// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/context.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat {

/// The two buffers between which a radix sort moves its pairs. Each has room for all pairs.
template <typename Key>
struct sort_buffers {
  Key* keys[2];
  std::uint32_t* values[2];
};

/// The source of the values of a sort.
enum class sort_values {
  given,  ///< read from memory
  index   ///< value i is i: the CPU generates them in its first pass, CUDA writes them first
};

/// Sorts `count` pairs stably by the lowest `key_bits` bits of their keys, in as few passes as those bits allow. Higher
/// bits are kept but not compared. Starts from keys[0] and values[0]. Returns which buffer (0 or 1) holds the result;
/// the other one holds garbage. Scratch memory is small compared with the pairs. The result is the same on every
/// context and with every number of threads. Does not wait: the return value is known before the work is done.
/// Allocates scratch memory only to grow. Can be captured. Throws argument_error if count exceeds 2^31 - 1 or key_bits
/// does not fit the key, and backend_error if the CUDA backend is missing or refuses a launch.
[[nodiscard]] int sort_pairs(const cpu_context& context, const sort_buffers<std::uint32_t>& buffers, std::size_t count,
                             int key_bits, workspace<cpu_context>& scratch, sort_values source = sort_values::given);
[[nodiscard]] int sort_pairs(const cpu_context& context, const sort_buffers<std::uint64_t>& buffers, std::size_t count,
                             int key_bits, workspace<cpu_context>& scratch, sort_values source = sort_values::given);
[[nodiscard]] int sort_pairs(const cuda_context& context, const sort_buffers<std::uint32_t>& buffers, std::size_t count,
                             int key_bits, workspace<cuda_context>& scratch, sort_values source = sort_values::given);
[[nodiscard]] int sort_pairs(const cuda_context& context, const sort_buffers<std::uint64_t>& buffers, std::size_t count,
                             int key_bits, workspace<cuda_context>& scratch, sort_values source = sort_values::given);

/// The scratch memory in bytes that suffices for the sorts above of at most `count` pairs by at most `key_bits` bits.
/// Does not wait. Allocates nothing.
template <typename Key>
[[nodiscard]] std::size_t sort_scratch_bytes(const cpu_context& context, std::size_t count, int key_bits);
template <typename Key>
[[nodiscard]] std::size_t sort_scratch_bytes(const cuda_context& context, std::size_t count, int key_bits);

/// The same in place, for callers with one buffer. The second one is scratch memory; if the last pass ends there, the
/// pairs are copied back.
void sort_pairs(const cpu_context& context, std::uint32_t* keys, std::uint32_t* values, std::size_t count, int key_bits,
                workspace<cpu_context>& scratch, sort_values source = sort_values::given);
void sort_pairs(const cpu_context& context, std::uint64_t* keys, std::uint32_t* values, std::size_t count, int key_bits,
                workspace<cpu_context>& scratch, sort_values source = sort_values::given);
void sort_pairs(const cuda_context& context, std::uint32_t* keys, std::uint32_t* values, std::size_t count,
                int key_bits, workspace<cuda_context>& scratch, sort_values source = sort_values::given);
void sort_pairs(const cuda_context& context, std::uint64_t* keys, std::uint32_t* values, std::size_t count,
                int key_bits, workspace<cuda_context>& scratch, sort_values source = sort_values::given);

/// The number of bits of keys below `bound`: the smallest b with 2^b >= bound.
[[nodiscard]] constexpr int key_bits_for(std::uint64_t bound) {
  int bits = 0;
  while (bits < 64 && (std::uint64_t{1} << bits) < bound) ++bits;
  return bits;
}

}  // namespace quadrat

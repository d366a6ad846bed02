// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/parallel/sort.hpp"

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <type_traits>

#include "parallel/cub_call.hpp"
#include "parallel/sort_common.hpp"
#include "parallel/wide_digit_sort.cuh"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat {

namespace {

constexpr const char* name = "quadrat::sort_pairs";

struct write_index {
  std::uint32_t* values;
  __device__ void operator()(std::size_t i) const { values[i] = static_cast<std::uint32_t>(i); }
};

/// CUB's radix sort between the two buffers: one sweep over memory per pass.
template <typename Key>
struct sort_call {
  const cuda_context& context;
  std::size_t count;
  int key_bits;

  cudaError_t operator()(void* temporary, std::size_t& bytes, cub::DoubleBuffer<Key>& keys,
                         cub::DoubleBuffer<std::uint32_t>& values) const {
    const auto entries = static_cast<std::uint32_t>(count);
    if constexpr (std::is_same_v<Key, std::uint32_t>) {
      if (detail::wide_digits_pay(key_bits)) {
        return detail::sort_by_wide_digits(temporary, bytes, keys, values, entries, key_bits, context.stream());
      }
    }
    return cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, values, entries, 0, key_bits, context.stream());
  }

  [[nodiscard]] bool trivial() const { return count == 0 || key_bits == 0; }

  [[nodiscard]] std::size_t bytes() const {
    if (trivial()) return 0;
    return detail::cub_bytes(name, [&](void* temporary, std::size_t& bytes) {
      cub::DoubleBuffer<Key> keys;
      cub::DoubleBuffer<std::uint32_t> values;
      return (*this)(temporary, bytes, keys, values);
    });
  }

  int run(const sort_buffers<Key>& buffers, std::byte* temporary, std::size_t bytes, sort_values source) const {
    if (source == sort_values::index) for_each(context, "quadrat::write_index", count, write_index{buffers.values[0]});
    if (trivial()) return 0;
    cub::DoubleBuffer<Key> keys(buffers.keys[0], buffers.keys[1]);
    cub::DoubleBuffer<std::uint32_t> values(buffers.values[0], buffers.values[1]);
    detail::check_cub((*this)(temporary, bytes, keys, values), name);
    return keys.selector;
  }
};

template <typename Key>
int sort(const cuda_context& context, const sort_buffers<Key>& buffers, std::size_t count, int key_bits,
         workspace<cuda_context>& scratch, sort_values source) {
  detail::require_sort_fits<Key>(count, key_bits);
  const cuda_launch launch(context, name);
  const sort_call<Key> call{context, count, key_bits};
  const std::size_t bytes = call.bytes();
  return call.run(buffers, scratch.request(context, bytes), bytes, source);
}

template <typename Key>
void sort(const cuda_context& context, Key* keys, std::uint32_t* values, std::size_t count, int key_bits,
          workspace<cuda_context>& scratch, sort_values source) {
  detail::require_sort_fits<Key>(count, key_bits);
  const cuda_launch launch(context, name);
  const sort_call<Key> call{context, count, key_bits};
  const std::size_t bytes = call.bytes();
  detail::sort_in_place(context, keys, values, count, bytes, scratch,
                        [&](const sort_buffers<Key>& buffers, std::byte* temporary) {
                          return call.run(buffers, temporary, bytes, source);
                        });
}

}  // namespace

template <typename Key>
std::size_t sort_scratch_bytes(const cuda_context& context, std::size_t count, int key_bits) {
  detail::require_sort_fits<Key>(count, key_bits);
  const cuda_launch launch(context, name);
  std::size_t bytes = 0;
  for (int bits = 0; bits <= key_bits; ++bits) bytes = std::max(bytes, sort_call<Key>{context, count, bits}.bytes());
  return bytes;
}
template std::size_t sort_scratch_bytes<std::uint32_t>(const cuda_context&, std::size_t, int);
template std::size_t sort_scratch_bytes<std::uint64_t>(const cuda_context&, std::size_t, int);

int sort_pairs(const cuda_context& context, const sort_buffers<std::uint32_t>& buffers, std::size_t count, int key_bits,
               workspace<cuda_context>& scratch, sort_values source) {
  return sort(context, buffers, count, key_bits, scratch, source);
}
int sort_pairs(const cuda_context& context, const sort_buffers<std::uint64_t>& buffers, std::size_t count, int key_bits,
               workspace<cuda_context>& scratch, sort_values source) {
  return sort(context, buffers, count, key_bits, scratch, source);
}
void sort_pairs(const cuda_context& context, std::uint32_t* keys, std::uint32_t* values, std::size_t count,
                int key_bits, workspace<cuda_context>& scratch, sort_values source) {
  sort(context, keys, values, count, key_bits, scratch, source);
}
void sort_pairs(const cuda_context& context, std::uint64_t* keys, std::uint32_t* values, std::size_t count,
                int key_bits, workspace<cuda_context>& scratch, sort_values source) {
  sort(context, keys, values, count, key_bits, scratch, source);
}

}  // namespace quadrat

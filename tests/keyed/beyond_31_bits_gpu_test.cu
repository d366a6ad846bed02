// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "keyed/support.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::test {

namespace {

constexpr std::uint32_t prime_key_count = 1000003;

/// Index: element.
struct write_keys {
  std::uint32_t* keys;
  std::size_t count;
  bool in_order;

  __device__ void operator()(std::size_t i) const {
    keys[i] = static_cast<std::uint32_t>(in_order ? i / ((count + prime_key_count - 1) / prime_key_count)
                                                  : i % prime_key_count);
  }
};

class keyed_beyond_31_bits : public backend_test {
 protected:
  /// Elements whose counts do not fit in 31 bits, if the device has room for their keys.
  void expect_counts(std::string_view method, bool in_order) {
    SCOPED_TRACE(std::string(method));
    const cuda_context context;
    const std::size_t count = size_or((std::size_t{1} << 31) + 12345, 50000);
    const std::size_t element_bytes = method == "linked_lists" ? 9 : 5;
    if (context.memory().available_bytes() < element_bytes * count) GTEST_SKIP() << "the device has too little memory";
    array<std::uint32_t, cuda_context> keys(context, count);
    for_each(context, "write_keys", count, write_keys{keys.data(), count, in_order});
    array<std::uint64_t, cuda_context> results(context, prime_key_count);
    key_reducer<cuda_context> counter(context, prime_key_count, options_of(method));
    counter.set_keys(keys.data(), count);
    counter.count(results.data());
    counter.check();
    const std::vector<std::uint64_t> found = to_host(context, results);
    const std::uint64_t each = (count + prime_key_count - 1) / prime_key_count;
    std::size_t wrong = 0;
    for (std::uint64_t key = 0; key < prime_key_count; ++key) {
      const std::uint64_t ordered = key * each >= count ? 0 : std::min<std::uint64_t>(each, count - key * each);
      wrong += found[key] != (in_order ? ordered : count / prime_key_count + (key < count % prime_key_count ? 1 : 0));
    }
    EXPECT_EQ(wrong, 0u);
  }
};

TEST_F(keyed_beyond_31_bits, elements_are_counted_by_every_method_that_takes_as_many) {
  for (const key_method& method : key_methods_here()) {
    if (method.name != "sort_reduce") expect_counts(method.name, !method.any_order);
  }
}

TEST_F(keyed_beyond_31_bits, runs_in_order_are_counted) { expect_counts("runs", true); }

}  // namespace

}  // namespace quadrat::test

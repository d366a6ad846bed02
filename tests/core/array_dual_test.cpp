// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/array.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <utility>

#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/sort.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

using words = array<std::uint32_t, backend_context>;

/// Allocates from the backend's own memory and keeps account.
class counting_memory final : public memory_resource {
 public:
  void* allocate(std::size_t bytes, cuda_stream stream) override {
    if (held_bytes() + bytes > limit) throw std::bad_alloc();
    void* memory = source_.memory().allocate(bytes, stream);
    held_[memory] = bytes;
    ++allocations;
    return memory;
  }
  void deallocate(void* memory, std::size_t bytes, cuda_stream stream) noexcept override {
    const auto entry = held_.find(memory);
    if (entry == held_.end() || entry->second != bytes) {
      ++mistakes;
      return;
    }
    held_.erase(entry);
    source_.memory().deallocate(memory, bytes, stream);
  }
  [[nodiscard]] std::size_t held_bytes() const {
    std::size_t sum = 0;
    for (const auto& [memory, bytes] : held_) sum += bytes;
    return sum;
  }

  int allocations = 0;
  int mistakes = 0;
  std::size_t limit = std::size_t{1} << 30;

 private:
  backend_context source_;
  std::map<void*, std::size_t> held_;
};

backend_context context_with(memory_resource& memory) {
  backend_context::options chosen;
  chosen.memory = &memory;
  return backend_context(chosen);
}

class array_test : public backend_test {};

TEST_F(array_test, brings_elements_to_the_device_and_back) {
  for (const backend_context& context : all_contexts()) {
    for (const std::size_t size : interesting_sizes()) {
      const auto elements = random_words<std::uint32_t>(size, size);
      const words copy = to_device(context, elements);
      EXPECT_EQ(copy.size(), size);
      EXPECT_EQ(to_host(context, copy), elements);
      EXPECT_EQ(to_host(context, copy.data(), size / 2),
                std::vector<std::uint32_t>(elements.begin(), elements.begin() + static_cast<std::ptrdiff_t>(size / 2)));
    }
  }
}

TEST_F(array_test, is_filled_by_bytes) {
  const backend_context context;
  words data(context, 1000);
  fill_bytes(context, data.data(), 0xff, data.bytes());
  EXPECT_EQ(to_host(context, data), std::vector<std::uint32_t>(1000, 0xffffffffu));
  fill_bytes(context, data.data(), 0, data.bytes() / 2);
  EXPECT_EQ(to_host(context, data)[499], 0u);
  EXPECT_EQ(to_host(context, data)[500], 0xffffffffu);
}

TEST_F(array_test, moves_its_memory_and_leaves_nothing_behind) {
  const backend_context context;
  words first = to_device(context, std::vector<std::uint32_t>{1, 2, 3});
  const std::uint32_t* memory = first.data();
  words second = std::move(first);
  EXPECT_EQ(second.data(), memory);
  words third = to_device(context, std::vector<std::uint32_t>{9});
  third = std::move(second);
  EXPECT_EQ(third.data(), memory);
  EXPECT_EQ(to_host(context, third), (std::vector<std::uint32_t>{1, 2, 3}));
  third.swap(first);
  EXPECT_EQ(first.size(), 3u);
  EXPECT_EQ(third.size(), 0u);
  EXPECT_EQ(third.data(), nullptr);
}

TEST_F(array_test, allocates_when_it_grows_only) {
  counting_memory memory;
  const backend_context context = context_with(memory);
  words data;
  EXPECT_EQ(data.size(), 0u);
  data.resize_discarding(context, 100);
  EXPECT_EQ(memory.allocations, 1);
  data.resize_discarding(context, 10);
  EXPECT_EQ(data.size(), 10u);
  EXPECT_EQ(data.bytes(), 400u);
  data.resize_discarding(context, 100);
  EXPECT_EQ(memory.allocations, 1);
  data.resize_discarding(context, 101);
  EXPECT_EQ(memory.allocations, 2);
  EXPECT_EQ(memory.held_bytes(), 404u) << "the old memory was given back";
}

TEST_F(array_test, takes_no_memory_when_empty) {
  counting_memory memory;
  const backend_context context = context_with(memory);
  words empty(context, 0);
  empty.resize_discarding(context, 0);
  EXPECT_EQ(to_host(context, empty), std::vector<std::uint32_t>{});
  EXPECT_EQ(memory.allocations, 0);
}

TEST_F(array_test, uses_the_memory_of_the_caller_for_everything_and_gives_it_all_back) {
  counting_memory memory;
  {
    const backend_context context = context_with(memory);
    workspace<backend_context> scratch;
    words keys = to_device(context, random_words<std::uint32_t>(30'000, 1, 1000));
    words values(context, 30'000);
    sort_pairs(context, keys.data(), values.data(), keys.size(), 10, scratch, sort_values::index);
    exclusive_scan(context, keys.data(), keys.data(), keys.size(), scratch);
    const int allocations = memory.allocations;
    EXPECT_EQ(allocations, 3);
    sort_pairs(context, keys.data(), values.data(), keys.size(), 10, scratch, sort_values::index);
    exclusive_scan(context, keys.data(), keys.data(), keys.size(), scratch);
    EXPECT_EQ(memory.allocations, allocations) << "repeating allocates nothing";
    context.synchronize();
  }
  EXPECT_EQ(memory.held_bytes(), 0u);
  EXPECT_EQ(memory.mistakes, 0);
}

TEST_F(array_test, passes_on_what_the_memory_throws_and_stays_empty) {
  counting_memory memory;
  memory.limit = 1000;
  const backend_context context = context_with(memory);
  words data(context, 100);
  EXPECT_THROW(data.resize_discarding(context, 1000), std::bad_alloc);
  EXPECT_EQ(data.size(), 0u);
  EXPECT_EQ(data.data(), nullptr);
  EXPECT_EQ(memory.held_bytes(), 0u);
  data.resize_discarding(context, 200);
  EXPECT_EQ(data.size(), 200u);
}

TEST_F(array_test, outlives_the_context_object_it_was_made_with) {
  words data;
  {
    const backend_context context;
    data = to_device(context, std::vector<std::uint32_t>{4, 5});
  }
  const backend_context other;
  EXPECT_EQ(to_host(other, data), (std::vector<std::uint32_t>{4, 5}));
}

TEST_F(array_test, is_aligned_to_64_bytes) {
  const backend_context context;
  for (const std::size_t size : {1u, 3u, 17u, 1000u}) {
    const words data(context, size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data.data()) % 64, 0u);
  }
}

}  // namespace

}  // namespace quadrat::test

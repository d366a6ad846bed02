// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/parallel/scan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "quadrat/core/error.hpp"
#include "reference/parallel.hpp"
#include "support/backend.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

class exclusive_scan_test : public backend_test {};

template <typename In, typename Out>
void expect_scans_agree(const backend_context& context, const std::vector<In>& input,
                        workspace<backend_context>& scratch) {
  const std::vector<Out> expected = reference::exclusive_scan_with_total<Out>(input);
  const auto in = to_device(context, input);

  auto out = to_device(context, std::vector<Out>(input.size() + 2, Out{77}));
  exclusive_scan(context, in.data(), out.data(), input.size(), scratch);
  std::vector<Out> found = to_host(context, out);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end() - 1, found.begin())) << "size " << input.size();
  EXPECT_EQ(found[input.size()], Out{77}) << "wrote past its end";

  exclusive_scan_with_total(context, in.data(), out.data(), input.size(), scratch);
  found = to_host(context, out);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found.begin())) << "size " << input.size();
  EXPECT_EQ(found[input.size() + 1], Out{77}) << "wrote past its end";
}

TEST_F(exclusive_scan_test, agrees_with_the_reference_for_every_size_and_type) {
  for (const backend_context& context : all_contexts()) {
    workspace<backend_context> scratch;
    for (const std::size_t size : interesting_sizes()) {
      expect_scans_agree<std::uint32_t, std::uint32_t>(context, random_words<std::uint32_t>(size, size, 5000), scratch);
      expect_scans_agree<std::uint32_t, std::uint64_t>(context, random_words<std::uint32_t>(size, size), scratch);
      expect_scans_agree<std::uint64_t, std::uint64_t>(context, random_words<std::uint64_t>(size, size), scratch);
    }
  }
}

TEST_F(exclusive_scan_test, adds_words_of_32_bits_in_64_where_the_output_has_them) {
  const backend_context context;
  workspace<backend_context> scratch;
  const std::vector<std::uint32_t> input(5000, 0xffffffffu);
  expect_scans_agree<std::uint32_t, std::uint64_t>(context, input, scratch);
  expect_scans_agree<std::uint32_t, std::uint32_t>(context, input, scratch);
}

TEST_F(exclusive_scan_test, works_in_place) {
  for (const backend_context& context : all_contexts()) {
    workspace<backend_context> scratch;
    for (const std::size_t size : interesting_sizes()) {
      std::vector<std::uint32_t> input = random_words<std::uint32_t>(size, size + 1, 3000);
      const std::vector<std::uint32_t> expected = reference::exclusive_scan_with_total<std::uint32_t>(input);
      input.push_back(12345u);  // the entry of the total, which is not input
      auto data = to_device(context, input);
      exclusive_scan_with_total(context, data.data(), data.data(), size, scratch);
      EXPECT_EQ(to_host(context, data), expected);

      data = to_device(context, input);
      exclusive_scan(context, data.data(), data.data(), size, scratch);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end() - 1, to_host(context, data).begin()));
    }
  }
}

TEST_F(exclusive_scan_test, allocates_nothing_when_repeated) {
  const backend_context context;
  workspace<backend_context> scratch;
  const std::vector<std::uint32_t> input = random_words<std::uint32_t>(100'000, 1, 9);
  expect_scans_agree<std::uint32_t, std::uint32_t>(context, input, scratch);
  const std::size_t held = scratch.bytes();
  expect_scans_agree<std::uint32_t, std::uint32_t>(context, input, scratch);
  EXPECT_EQ(scratch.bytes(), held);
}

TEST_F(exclusive_scan_test, refuses_more_elements_than_ids_can_count) {
  const backend_context context;
  workspace<backend_context> scratch;
  std::uint32_t* nothing = nullptr;
  EXPECT_THROW(exclusive_scan(context, nothing, nothing, std::size_t{1} << 31, scratch), argument_error);
}

}  // namespace

}  // namespace quadrat::test

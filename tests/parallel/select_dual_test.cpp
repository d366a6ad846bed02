// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/select.hpp"

#include <gtest/gtest.h>

#include "quadrat/core/error.hpp"
#include "support/backend.hpp"
#include "support/errors.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

class select_test : public backend_test {};

/// values[i] is below `kinds`.
void expect_selected(const backend_context& context, std::size_t size, std::uint32_t kinds,
                     workspace<backend_context>& scratch) {
  const auto values = random_words<std::uint32_t>(size, size + kinds, kinds);
  std::vector<std::uint32_t> expected;
  for (std::size_t i = 0; i < size; ++i) {
    if (values[i] != 0) expected.push_back(static_cast<std::uint32_t>(i));
  }
  const auto in = to_device(context, values);
  auto out = to_device(context, std::vector<std::uint32_t>(size + 1, 77));
  auto number = to_device(context, std::vector<std::uint32_t>(1, 77));
  detail::select_others(context, in.data(), 0, size, out.data(), number.data(), scratch);
  ASSERT_EQ(to_host(context, number)[0], expected.size()) << "of " << size;
  EXPECT_EQ(to_host(context, out.data(), expected.size()), expected) << "of " << size;
  EXPECT_EQ(to_host(context, out)[size], 77u) << "wrote past its end";
}

TEST_F(select_test, lists_the_indices_of_other_values_in_order) {
  for (const backend_context& context : all_contexts()) {
    workspace<backend_context> scratch;
    for (const std::size_t size : interesting_sizes()) {
      expect_selected(context, size, 1, scratch);  // none
      expect_selected(context, size, 2, scratch);
      expect_selected(context, size, 100, scratch);
    }
  }
}

TEST_F(select_test, refuses_more_elements_than_can_be_numbered) {
  const backend_context context;
  workspace<backend_context> scratch;
  EXPECT_NE(error_of<argument_error>([&] {
              detail::select_others(context, nullptr, 0, std::size_t{1} << 31, nullptr, nullptr, scratch);
            }).find("at most"),
            std::string::npos);
}

}  // namespace

}  // namespace quadrat::test

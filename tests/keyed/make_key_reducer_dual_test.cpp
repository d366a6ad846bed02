// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/keyed/make_key_reducer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "quadrat/core/array.hpp"
#include "support/backend.hpp"

namespace quadrat::test {

namespace {

class make_key_reducer_test : public backend_test {};

TEST_F(make_key_reducer_test, deduces_the_context) {
  const backend_context context;
  auto reducer = make_key_reducer(context, 2, {.uses = 3});
  const auto keys = to_device(context, std::vector<std::uint32_t>{1, 0, 1});
  array<std::uint64_t, backend_context> counts(context, 2);
  reducer.set_keys(keys.data(), 3);
  reducer.count(counts.data());
  reducer.check();
  EXPECT_EQ(to_host(context, counts), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_NO_THROW(make_functor_reducer(context).check());
}

}  // namespace

}  // namespace quadrat::test

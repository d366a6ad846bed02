// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/parallel/fault.hpp"

#include <gtest/gtest.h>

#include "quadrat/parallel/for_each.hpp"
#include "support/backend.hpp"

namespace quadrat::test {

namespace {

/// Every index from `from` on is an offender; one that overflows would need its index as capacity.
struct offend {
  fault_flag flag;
  std::size_t from;
  fault_kind kind;
  QUADRAT_HD void operator()(std::size_t i) const {
    if (i < from) return;
    if (kind == fault_kind::overflow) {
      flag.raise_overflow(i, i);
    } else {
      flag.raise(kind, i);
    }
  }
};

class fault_state_test : public backend_test {};

TEST_F(fault_state_test, has_nothing_to_report_while_data_are_good) {
  const backend_context context;
  fault_state<backend_context> state(context);
  EXPECT_EQ(state.read(context).kind, fault_kind::none);
  for_each(context, "test offend", 1000, offend{state.flag(), 1000, fault_kind::outside});
  EXPECT_EQ(state.read(context).kind, fault_kind::none);
}

TEST_F(fault_state_test, names_the_first_offender_whoever_came_first) {
  for (const backend_context& context : all_contexts()) {
    fault_state<backend_context> state(context);
    for (const fault_kind kind : {fault_kind::not_finite, fault_kind::outside, fault_kind::key_range}) {
      for_each(context, "test offend", 100'000, offend{state.flag(), 777, kind});
      const fault_report report = state.read(context);
      EXPECT_EQ(report.kind, kind);
      EXPECT_EQ(report.index, 777u);
      state.clear(context);
      EXPECT_EQ(state.read(context).kind, fault_kind::none);
    }
  }
}

TEST_F(fault_state_test, keeps_the_capacity_that_would_have_sufficed_for_all) {
  for (const backend_context& context : all_contexts()) {
    fault_state<backend_context> state(context);
    for_each(context, "test offend", 100'000, offend{state.flag(), 5, fault_kind::overflow});
    const fault_report report = state.read(context);
    EXPECT_EQ(report.kind, fault_kind::overflow);
    EXPECT_EQ(report.index, 5u);
    EXPECT_EQ(report.needed, 99'999u);
  }
}

TEST_F(fault_state_test, stays_until_it_is_cleared) {
  const backend_context context;
  fault_state<backend_context> state(context);
  for_each(context, "test offend", 100, offend{state.flag(), 50, fault_kind::outside});
  EXPECT_EQ(state.read(context).index, 50u);
  EXPECT_EQ(state.read(context).index, 50u);
  for_each(context, "test offend", 100, offend{state.flag(), 20, fault_kind::not_finite});
  EXPECT_EQ(state.read(context).index, 20u);
  EXPECT_EQ(state.read(context).kind, fault_kind::not_finite);
}

}  // namespace

}  // namespace quadrat::test

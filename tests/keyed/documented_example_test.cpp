// SPDX-License-Identifier: BSD-3-Clause
// The example of docs/guides/keyed.md.
#include <gtest/gtest.h>
#include <quadrat/keyed/make_key_reducer.hpp>
#include <quadrat/keyed/reduce_with.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace quadrat::test {

namespace {

struct candidate {
  float energy;
  std::uint32_t element;
};
struct lower {
  QUADRAT_HD candidate operator()(const candidate& a, const candidate& b) const { return b.energy < a.energy ? b : a; }
};

TEST(keyed_example, does_what_the_documentation_says) {
  const quadrat::cpu_context context;
  const std::vector<std::uint32_t> keys{2, 0, 2, 1};
  std::vector<float> masses{1, 2, 3, 4};
  auto reducer = quadrat::make_key_reducer(context, 4);

  reducer.set_keys(keys.data(), keys.size());
  std::vector<float> sums(4);
  reducer.reduce(quadrat::packed_values(masses.data(), 4), quadrat::packed_values(sums.data(), 4));
  std::vector<std::uint64_t> counts(4);
  reducer.count(counts.data());
  reducer.check();
  EXPECT_EQ(sums, (std::vector<float>{2, 4, 4, 0}));
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{1, 1, 2, 0}));

  std::vector<double> momenta{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
  std::vector<double> means(4 * 3);
  quadrat::reduce_by_key(context, keys.data(), quadrat::packed_values(momenta.data(), 4, 3),
                         quadrat::packed_values(means.data(), 4, 3), quadrat::key_operation::mean);
  EXPECT_EQ(std::vector<double>(means.begin(), means.begin() + 9),
            (std::vector<double>{0, 1, 0, 1, 1, 1, 0.5, 0, 0.5}));
  EXPECT_TRUE(std::isnan(means[9]));
}

TEST(keyed_example, a_functor_of_ones_own) {
  const quadrat::cpu_context context;
  const std::vector<std::uint32_t> keys{2, 0, 2, 0};
  const std::vector<candidate> candidates{{5, 0}, {1, 1}, {4, 2}, {1, 3}};

  quadrat::functor_reducer<quadrat::cpu_context> reduction(context);
  std::vector<candidate> best(3);
  reduction.reduce_any_order(keys.data(), candidates.data(), keys.size(), best.data(), 3, lower{},
                             candidate{HUGE_VALF, 0xffffffffu});
  reduction.check();
  EXPECT_EQ(best[0].element, 1u);
  EXPECT_EQ(best[1].element, 0xffffffffu);
  EXPECT_EQ(best[2].element, 2u);
}

}  // namespace

}  // namespace quadrat::test

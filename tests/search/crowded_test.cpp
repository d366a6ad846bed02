// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "quadrat/core/box.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/search/neighbor_list.hpp"
#include "support/errors.hpp"
#include "support/scarce_memory.hpp"

// Points that crowd together have more pairs than the memory holds. A list of them is refused after as many have been
// counted, and not after all: the time of counting all would be quadratic in the number of points.

namespace quadrat::test {

namespace {

constexpr std::size_t crowd = 100'000;
constexpr std::uint64_t crowd_pairs = std::uint64_t{crowd} * (crowd - 1);

/// The first number in the text.
[[nodiscard]] std::uint64_t number_in(const std::string& text) {
  const auto first = text.find_first_of("0123456789");
  return first == std::string::npos ? 0 : std::stoull(text.substr(first));
}

/// Points that are all in one place, and as many far apart.
[[nodiscard]] std::vector<vec<float, 2>> crowd_and_others() {
  std::vector<vec<float, 2>> points(crowd, vec<float, 2>{0.5F, 0.5F});
  for (std::size_t k = 0; k < crowd; ++k) {
    const std::size_t row = k / 300;
    points.push_back({static_cast<float>(k % 300), static_cast<float>(row) + 2});
  }
  return points;
}

}  // namespace

class crowded_list_test : public testing::TestWithParam<const char*> {
 protected:
  crowded_list_test() { options_.memory = &memory_; }

  [[nodiscard]] neighbor_options<float> chosen() const {
    neighbor_options<float> result;
    result.cutoff = 0.5F;
    result.method = GetParam();
    return result;
  }
  [[nodiscard]] neighbor_input<float, 2> input() const { return {points_of(points_), {&box_, 1}}; }

  scarce_memory memory_;
  cpu_context::options options_;
  std::vector<vec<float, 2>> points_ = crowd_and_others();
  lattice<float, 2> box_ = make_lattice(make_box<float, 2>({0, 0}, {300, 400}, {false, false}));
};

TEST_P(crowded_list_test, is_refused_before_all_pairs_are_counted) {
  const cpu_context context(options_);
  neighbor_list<cpu_context, float, 2> list(context, chosen());
  memory_.available = std::size_t{1} << 27;
  const std::string text = error_of<argument_error>([&] { list.build(input()); });
  EXPECT_NE(text.find("more than"), std::string::npos) << text;
  EXPECT_GT(number_in(text), memory_.available / sizeof(particle_id) / 2) << text;
  EXPECT_LT(number_in(text), crowd_pairs / 10) << text;
  EXPECT_THROW((void)list.view(), argument_error) << "the list that was refused is not there";
}

TEST_P(crowded_list_test, later_points_have_a_list) {
  const cpu_context context(options_);
  neighbor_list<cpu_context, float, 2> list(context, chosen());
  memory_.available = std::size_t{1} << 27;
  EXPECT_THROW(list.build(input()), argument_error);
  points_.erase(points_.begin(), points_.begin() + crowd - 3);
  list.build(input());
  EXPECT_EQ(list.size(), 6U) << "three points in one place";
}

INSTANTIATE_TEST_SUITE_P(methods, crowded_list_test, testing::Values("sweeps", "strips", "levels", "default"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace quadrat::test

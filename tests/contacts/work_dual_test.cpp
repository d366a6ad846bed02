// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>
#include <type_traits>
#include <vector>

#include "contacts/methods.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "support/backend.hpp"
#include "support/distributions.hpp"

// What a search for contacts tests follows the bodies and their contacts, wherever the bodies are: the pairs that the
// rows of each method meet are counted.

namespace quadrat::test {

namespace {

/// Index: row.
template <typename Search, typename T>
struct count_met {
  Search search;

  QUADRAT_HD std::uint64_t operator()(std::size_t row) const {
    std::uint64_t met = 0;
    search.visit(row, [&](const detail::placed_body<T>&, const detail::placed_body<T>&) {
      ++met;
      return true;
    });
    return met;
  }
};

/// Pairs that each method with cells meets, in units of the bodies.
using met_pairs = std::map<std::string_view, double>;

template <typename T>
[[nodiscard]] met_pairs pairs_met(const std::vector<vec<T, 3>>& centers, T radius, bool periodic) {
  const backend_context context;
  std::vector<detail::placed_body<T>> bodies;
  for (const vec<T, 3>& center : centers) {
    bodies.push_back({center, vec<T, 3>::filled(radius), static_cast<particle_id>(bodies.size()), 0});
  }
  const auto there = to_device(context, bodies);
  detail::size_histogram<T> sizes{};
  sizes.counts[static_cast<std::size_t>(detail::size_class(radius))] = bodies.size();
  sizes.largest = radius;
  detail::search_control<backend_context> control(context);
  control.begin(true);
  const auto domain = make_box<T, 3>({}, {1, 1, 1}, vec<bool, 3>::filled(periodic));
  const detail::placed_bodies<backend_context, T> placed{there.data(), bodies.size(), &sizes, domain, &control};
  met_pairs result;
  detail::contact_method_list::for_each([&](auto descriptor) {
    using method = decltype(descriptor);
    if constexpr (!method::quadratic || method::bins) {
      typename method::template engine<backend_context, T> engine(context);
      static_cast<void>(engine.plan(placed, {T(0), true}));
      engine.insert(placed);
      const auto search = engine.search();
      workspace<backend_context> scratch;
      const std::uint64_t met = reduce_sum(context, "test.met", engine.rows(),
                                           count_met<std::remove_cv_t<decltype(search)>, T>{search}, scratch);
      result[method::name] = static_cast<double>(met) / static_cast<double>(bodies.size());
    }
  });
  return result;
}

/// How many times the pairs of as many contacts of uniform bodies a method may meet.
[[nodiscard]] double most_pairs(std::string_view method, distribution which) {
  if (method == detail::levels_method::name || method == detail::hashed_method::name) return 2;
  // The others have cells for the domain: what crowds in a small part of it is in few of them.
  const distribution crowds[] = {distribution::crowd_in_gas, distribution::two_scales, distribution::log_uniform_radii,
                                 distribution::stray_point};
  return std::ranges::find(crowds, which) == std::end(crowds) ? 10 : 300;
}

}  // namespace

template <typename T>
class contacts_work : public backend_test {};
using contacts_work_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(contacts_work, contacts_work_precisions);

TYPED_TEST(contacts_work, is_about_that_of_uniform_bodies_for_every_distribution) {
  using T = TypeParam;
  constexpr double contacts = 6;  // of a body
  const std::size_t count = size_or(4000, 2000);
  for (const bool periodic : {false, true}) {
    met_pairs usual;
    for (const auto& [which, name] : all_distributions) {
      const auto centers = points_of<T, 3>(which, count, 1);
      const T distance = std::fmax(distance_of_neighbors(centers, contacts), T(1e-9));
      // Positions that round by a good part of a body have more bodies in reach.
      if (32 * std::numeric_limits<T>::epsilon() > distance) continue;
      const double found = std::fmax(mean_neighbors(centers, distance), contacts);
      const met_pairs met = pairs_met(centers, distance / 2, periodic);
      if (which == distribution::uniform) usual = met;
      for (const auto& [method, pairs] : met) {
        EXPECT_LT(pairs / (usual[method] * found / contacts), most_pairs(method, which))
            << method << ", " << name << (periodic ? ", periodic" : "");
      }
    }
    EXPECT_EQ(usual.size(), 5u);
  }
}

}  // namespace quadrat::test

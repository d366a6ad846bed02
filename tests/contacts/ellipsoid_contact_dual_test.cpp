// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "contacts/random_ellipsoids.hpp"
#include "quadrat/contacts/ellipsoid_contact.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "reference/ellipsoids.hpp"
#include "support/backend.hpp"

// Contacts of ellipsoids on the backend, compared with the host.

namespace quadrat::test {

namespace {

template <typename T>
struct ellipsoids_met {
  bool touch, contact;
  contact_point<T> point;
};

template <typename T>
struct meet_ellipsoids {
  const ellipsoid_case<T>* cases;
  ellipsoids_met<T>* results;

  QUADRAT_HD void operator()(std::size_t k) const {
    const ellipsoid_case<T>& c = cases[k];
    results[k].touch = ellipsoids_touch(c.a, c.b, c.offset);
    results[k].contact = ellipsoids_contact(c.a, c.b, c.offset, results[k].point);
  }
};

template <typename T>
void compare_with_host(const ellipsoid_mix& mix, double accuracy) {
  const std::vector<ellipsoid_case<T>> cases = random_ellipsoids<T>(mix, size_or(20'000, 1'000), 8);
  const backend_context context;
  const auto inputs = to_device(context, cases);
  array<ellipsoids_met<T>, backend_context> outputs(context, cases.size());
  for_each(context, "test.ellipsoids", cases.size(), meet_ellipsoids<T>{inputs.data(), outputs.data()});
  const std::vector<ellipsoids_met<T>> results = to_host(context, outputs);
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const ellipsoid_case<T>& c = cases[k];
    const double tolerance = accuracy * std::fmax(reference::solid(c.a).longest(), reference::solid(c.b).longest());
    contact_point<T> point{};
    const bool contact = ellipsoids_contact(c.a, c.b, c.offset, point);
    ASSERT_EQ(results[k].touch, results[k].contact);
    if (results[k].contact != contact) {  // only due to rounding
      ASSERT_LT(contact ? point.depth : results[k].point.depth, tolerance);
    } else if (contact) {
      ASSERT_GT(results[k].point.depth, T(0));
      ASSERT_NEAR(results[k].point.depth, point.depth, tolerance);
    }
  }
}

}  // namespace

class ellipsoid_contact_backend : public backend_test {};

TEST_F(ellipsoid_contact_backend, agrees_with_the_host_and_touch_with_contact) {
  compare_with_host<float>({3, 1, 0.8, 1.1}, 4e-6);
  compare_with_host<float>({3, 1000, 0.8, 1.1}, 4e-6);
  compare_with_host<float>({100, 1, 0.5, 1.1}, 4e-6);
  compare_with_host<double>({3, 1, 0.8, 1.1}, 4e-14);
  compare_with_host<double>({100, 1, 0.5, 1.1}, 4e-14);
}

}  // namespace quadrat::test

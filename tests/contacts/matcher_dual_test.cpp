// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/contacts/contact_matcher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/error.hpp"
#include "support/backend.hpp"
#include "support/counting_memory.hpp"
#include "support/errors.hpp"

// Contacts are found again by their bodies and feature.

namespace quadrat::test {

namespace {

using key = std::tuple<particle_id, particle_id, std::uint32_t>;

class contact_matcher_test : public backend_test {};

/// Keys in device memory: records of three words, as in an array of structures.
class keys_on_device {
 public:
  keys_on_device(const backend_context& context, const std::vector<key>& keys, bool features)
      : count_(keys.size()), has_features_(features) {
    std::vector<std::uint32_t> words;
    for (const auto& [a, b, feature] : keys) {
      words.insert(words.end(), {a, feature, b});
    }
    words_ = to_device(context, words);
  }
  [[nodiscard]] contact_keys_view view() const {
    if (count_ == 0) return {nullptr, nullptr, nullptr, 3, 0};
    return {words_.data(), words_.data() + 2, has_features_ ? words_.data() + 1 : nullptr, 3, count_};
  }

 private:
  std::size_t count_;
  bool has_features_;
  array<std::uint32_t, backend_context> words_;
};

/// The expected results.
class reference_matcher {
 public:
  std::vector<std::uint32_t> match(const std::vector<key>& keys) {
    std::vector<std::uint32_t> previous;
    for (const key& k : keys) previous.push_back(places_.contains(k) ? places_[k] : no_contact);
    places_.clear();
    for (std::size_t k = 0; k < keys.size(); ++k) places_[keys[k]] = static_cast<std::uint32_t>(k);
    return previous;
  }

 private:
  std::map<key, std::uint32_t> places_;
};

/// Different keys in random order; few bodies, so that many have several features.
std::vector<key> random_keys(std::size_t count, std::uint32_t bodies, std::uint32_t features, std::mt19937_64& random) {
  std::set<key> chosen;
  while (chosen.size() < count) {
    chosen.insert({static_cast<particle_id>(random() % bodies), static_cast<particle_id>(random() % bodies),
                   static_cast<std::uint32_t>(random() % features)});
  }
  std::vector<key> keys(chosen.begin(), chosen.end());
  std::shuffle(keys.begin(), keys.end(), random);
  return keys;
}

/// Matches a sequence of key sets and compares each answer.
void expect_matches(const backend_context& context, const std::vector<std::vector<key>>& steps, bool features) {
  contact_matcher<backend_context> matcher(context);
  reference_matcher reference;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const keys_on_device keys(context, steps[step], features);
    matcher.match(keys.view());
    ASSERT_EQ(matcher.size(), steps[step].size());
    EXPECT_EQ(to_host(context, matcher.previous(), matcher.size()), reference.match(steps[step])) << "step " << step;
  }
}

TEST_F(contact_matcher_test, finds_what_a_map_finds) {
  std::mt19937_64 random(1);
  for (const backend_context& context : all_contexts()) {
    std::vector<std::vector<key>> steps;
    for (const std::size_t count : {1u, 50u, 3000u, 2000u, 0u, 700u, 5000u}) {
      steps.push_back(random_keys(count, 80, 1, random));
    }
    expect_matches(context, steps, false);
  }
}

TEST_F(contact_matcher_test, contacts_of_one_pair_are_told_apart_by_their_features) {
  std::mt19937_64 random(2);
  const backend_context context;
  expect_matches(context,
                 {random_keys(900, 12, 9, random),
                  random_keys(900, 12, 9, random),
                  {},
                  random_keys(1000, 12, 9, random),
                  random_keys(1000, 12, 9, random)},
                 true);
  expect_matches(context, {{{3, 4, 0}, {3, 4, 1}, {4, 3, 0}}, {{4, 3, 0}, {3, 4, 2}, {3, 4, 1}}}, true);
}

template <typename T>
void expect_records_matched(const backend_context& context) {
  std::vector<contact<T>> records(40);
  for (std::uint32_t k = 0; k < 40; ++k) {
    records[k].a = k / 8;
    records[k].b = 9;
    records[k].feature = 100 + k % 8;
  }
  contact_matcher<backend_context> matcher(context);
  std::vector<std::uint32_t> expected(40, no_contact);
  for (int step = 0; step < 2; ++step) {
    const auto stored = to_device(context, records);
    matcher.match(keys_of(contacts_view<T>{records.size(), stored.data()}));
    EXPECT_EQ(to_host(context, matcher.previous(), 40), expected);
    for (std::uint32_t k = 0; k < 40; ++k) expected[k] = 39 - k;
    expected[3] = no_contact;
    std::reverse(records.begin(), records.end());
    records[3].feature = 7;
  }
}

TEST_F(contact_matcher_test, records_are_matched_by_the_features_in_them) {
  expect_records_matched<float>(backend_context());
  expect_records_matched<double>(backend_context());
}

TEST_F(contact_matcher_test, features_may_come_and_go) {
  const backend_context context;
  contact_matcher<backend_context> matcher(context);
  const std::vector<key> plain{{1, 2, 0}, {5, 9, 0}};
  const std::vector<key> numbered{{5, 9, 1}, {1, 2, 0}};
  matcher.match(keys_on_device(context, plain, false).view());
  matcher.match(keys_on_device(context, numbered, true).view());
  EXPECT_EQ(to_host(context, matcher.previous(), 2), (std::vector<std::uint32_t>{no_contact, 0}));
  matcher.match(keys_on_device(context, plain, false).view());
  EXPECT_EQ(to_host(context, matcher.previous(), 2), (std::vector<std::uint32_t>{1, no_contact}));
}

TEST_F(contact_matcher_test, the_same_contacts_are_all_found_and_other_ones_are_not) {
  std::mt19937_64 random(3);
  const std::vector<key> keys = random_keys(4097, 1000, 1, random);
  std::vector<key> swapped = keys;
  for (auto& [a, b, feature] : swapped) std::swap(a, b);
  std::vector<key> shifted = keys;
  for (auto& [a, b, feature] : shifted) a += 1000;
  for (const backend_context& context : all_contexts()) {
    expect_matches(context, {keys, keys, swapped, shifted, shifted, keys}, false);
  }
}

TEST_F(contact_matcher_test, large_ids_and_many_contacts) {
  const std::size_t count = size_or(300'000, 3000);
  std::vector<key> keys;
  for (std::size_t k = 0; k < count; ++k) {
    keys.push_back({0xfffffffeu - static_cast<particle_id>(k / 8), static_cast<particle_id>(k % 8), 0});
  }
  std::vector<key> turned(keys.rbegin(), keys.rend());
  turned.resize(count / 2);
  expect_matches(backend_context(), {keys, turned, keys}, false);
}

TEST_F(contact_matcher_test, state_is_carried_along_and_new_contacts_start_afresh) {
  const backend_context context;
  contact_matcher<backend_context> matcher(context);
  matcher.match(keys_on_device(context, {{0, 1, 0}, {0, 2, 0}, {1, 2, 0}}, false).view());
  const auto from = to_device(context, std::vector<double>{0.5, 1.5, 2.5});
  matcher.match(keys_on_device(context, {{1, 2, 0}, {1, 3, 0}, {0, 1, 0}, {2, 3, 0}}, false).view());
  array<double, backend_context> to(context, 4);
  matcher.carry(from.data(), to.data(), -1.0);
  EXPECT_EQ(to_host(context, to), (std::vector<double>{2.5, -1, 0.5, -1}));
  matcher.clear();
  matcher.match(keys_on_device(context, {{0, 1, 0}}, false).view());
  EXPECT_EQ(to_host(context, matcher.previous(), 1), std::vector<std::uint32_t>{no_contact}) << "after clear";
}

TEST_F(contact_matcher_test, counts_that_have_been_met_allocate_nothing) {
  counting_memory memory;
  {
    const backend_context context = memory.context(determinism::none);
    std::mt19937_64 random(4);
    const keys_on_device many(context, random_keys(3000, 100, 2, random), true);
    const keys_on_device few(context, random_keys(40, 100, 2, random), true);
    contact_matcher<backend_context> matcher(context);
    matcher.match(many.view());
    const std::size_t before = memory.allocations();
    for (int repeat = 0; repeat < 3; ++repeat) {
      matcher.match(few.view());
      matcher.match(many.view());
    }
    context.synchronize();
    EXPECT_EQ(memory.allocations(), before);
    EXPECT_GE(matcher.bytes(), 3000 * 24u);
  }
  EXPECT_EQ(memory.live_bytes(), 0u);
}

TEST_F(contact_matcher_test, bodies_are_known_by_their_ids_and_planes_by_themselves) {
  const backend_context context;
  contact_matcher<backend_context> matcher(context);
  const auto match = [&](const std::vector<key>& contacts, const std::vector<particle_id>& ids) {
    const keys_on_device keys(context, contacts, true);
    const auto stored = to_device(context, ids);
    contact_keys_view view = keys.view();
    view.ids = stored.data();
    matcher.match(view);
    return to_host(context, matcher.previous(), matcher.size());
  };
  match({{0, 1, 5}, {1, 2, 0}, {2, first_plane, 0}, {0, first_plane + 1, 3}}, {10, 20, 30});
  // Body 20 has gone, 25 has come, and the others have changed places.
  EXPECT_EQ(match({{0, first_plane, 0}, {2, first_plane + 1, 3}, {1, 0, 0}, {2, 1, 5}}, {30, 25, 10}),
            (std::vector<std::uint32_t>{2, 3, no_contact, no_contact}));
}

TEST_F(contact_matcher_test, contacts_with_the_same_key_are_refused) {
  const backend_context context;
  contact_matcher<backend_context> matcher(context);
  matcher.check();
  const keys_on_device twice(context, {{3, 4, 1}, {3, 4, 0}, {4, 3, 1}, {3, 4, 1}}, true);
  try {
    matcher.match(twice.view());
    FAIL() << "no error";
  } catch (const data_error& problem) {
    EXPECT_STREQ(problem.what(),
                 "contact 3, of bodies 3 and 4 with the feature 1, is also given before; each must have "
                 "another pair or feature");
    EXPECT_EQ(problem.index(), 3u);
  }
  std::mt19937_64 random(5);
  const keys_on_device once(context, random_keys(3000, 100, 4, random), true);
  EXPECT_NO_THROW(matcher.match(once.view()));
  matcher.match_async(twice.view());
  for (int call = 0; call < 2; ++call) EXPECT_THROW(matcher.check(), data_error);
  matcher.match_async(once.view());
  EXPECT_NO_THROW(matcher.check());
}

TEST_F(contact_matcher_test, a_call_that_does_not_wait_allocates_nothing) {
  counting_memory memory;
  const backend_context usual, context = memory.context(determinism::none);
  const std::vector<key> keys{{1, 2, 0}, {5, 9, 0}, {2, 2, 0}}, more{{2, 2, 0}, {7, 7, 0}, {1, 2, 0}, {5, 9, 0}};
  const keys_on_device first(usual, keys, false), second(usual, more, false), numbered(usual, keys, true);
  contact_matcher<backend_context> matcher(context);
  const auto refusal = [&](const keys_on_device& given) {
    return error_of<argument_error>([&] { matcher.match_async(given.view()); });
  };
  expect_words(refusal(first), {"room for 0 contacts", "given 3", "reserve(3)"});
  matcher.match(first.view());
  expect_words(refusal(second), {"room for 3 contacts", "given 4"});
  matcher.reserve(4, false);
  expect_words(refusal(numbered), {"room for 0 contacts"});
  const std::size_t before = memory.allocations();
  matcher.match_async(second.view());
  EXPECT_EQ(to_host(context, matcher.previous(), 4), (std::vector<std::uint32_t>{2, no_contact, 0, 1}))
      << "more room keeps what is stored";
  EXPECT_EQ(memory.allocations(), before);
}

TEST_F(contact_matcher_test, too_many_contacts_are_refused) {
  contact_matcher<backend_context> matcher{backend_context()};
  EXPECT_THROW(matcher.match({nullptr, nullptr, nullptr, 1, std::size_t{1} << 31}), argument_error);
}

}  // namespace

}  // namespace quadrat::test

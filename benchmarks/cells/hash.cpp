// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cells/hash_subject.hpp"
#include "cells/operations.hpp"
#include "harness/points.hpp"
#include "harness/stopwatch.hpp"
#include "quadrat/core/array.hpp"

namespace quadrat::bench {

namespace {

/// Distinct keys on the device, and memory for the result of each.
template <typename Context>
class hash_case {
 public:
  hash_case(const Context& context, std::size_t n)
      : context_(context), keys_(to_device(context, different_keys(n))), found_(context, n) {}

  [[nodiscard]] row describe(std::string_view operation, std::string_view buckets) const {
    row result = identify(operation, buckets, "uint64", keys_.size(), keys_.size(), "uniform");
    result["order"] = "random";
    return result;
  }

  void time_insert(const session& s, std::string_view buckets, row& out) {
    const auto table = verified(buckets);
    const timing measured = time_repeated(context_, s.plan(), [&] { table->build(keys_.data(), keys_.size()); });
    table->check();
    add_timing(out, measured, "inserts_per_s", static_cast<double>(keys_.size()));
    out["bytes"] = table->bytes();
  }
  void time_find(const session& s, std::string_view buckets, row& out) {
    const auto table = verified(buckets);
    const timing measured =
        time_repeated(context_, s.plan(), [&] { table->find(keys_.data(), keys_.size(), found_.data()); });
    add_timing(out, measured, "finds_per_s", static_cast<double>(keys_.size()));
  }

 private:
  static std::vector<std::uint64_t> different_keys(std::size_t n) {
    std::vector<std::uint64_t> keys(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = random_word(3, i);  // a bijection of i
    return keys;
  }

  /// Builds a table, and checks that the right element is found for every key.
  std::unique_ptr<hash_subject<Context>> verified(std::string_view buckets) {
    auto table = make_hash_subject(buckets, context_);
    table->build(keys_.data(), keys_.size());
    table->check();
    table->find(keys_.data(), keys_.size(), found_.data());
    const auto found = to_host(context_, found_);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i] != i + 1) throw disagreement(message(buckets, ": key ", i, " does not give its element"));
    }
    return table;
  }

  Context context_;
  array<std::uint64_t, Context> keys_;
  array<std::uint64_t, Context> found_;
};

}  // namespace

void run_hash(const session& s) {
  with_context(s, [&](const auto& context) {
    for (const std::size_t n : s.full() ? powers_of_two(20, s.on_cuda() ? 24 : 20, 4) : powers_of_two(14, 14)) {
      hash_case keys(context, n);
      for (const std::string_view buckets : hash_bucket_names) {
        if (!s.wants_method(buckets)) continue;
        s.attempt(keys.describe("hash_insert", buckets), [&](row& out) { keys.time_insert(s, buckets, out); });
        s.attempt(keys.describe("hash_find", buckets), [&](row& out) { keys.time_find(s, buckets, out); });
      }
    }
  });
}

}  // namespace quadrat::bench

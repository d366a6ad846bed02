// SPDX-License-Identifier: BSD-3-Clause
#include "cells/hash_subject.hpp"
#include "core/backend.hpp"
#include "quadrat/cells/buckets.hpp"
#include "quadrat/core/method_list.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::bench {

namespace {

template <typename View>
struct find_key {
  View view;
  const std::uint64_t* keys;
  std::uint64_t* results;

  QUADRAT_HD void operator()(std::size_t i) const {
    std::uint64_t sum = 0;
    view.for_each_with_key(keys[i], [&](particle_id element) { sum += std::uint64_t{1} + element; });
    results[i] = sum;
  }
};

template <typename Context, typename Buckets>
class hash_subject_of final : public hash_subject<Context> {
 public:
  explicit hash_subject_of(const Context& context) : context_(context), table_(context) {}

  void build(const std::uint64_t* keys, std::size_t count) override {
    table_.reserve(count);
    table_.build_async(keys, count);
  }
  void check() override { table_.check(); }
  [[nodiscard]] std::size_t bytes() const override { return table_.bytes(); }
  void find(const std::uint64_t* keys, std::size_t count, std::uint64_t* results) override {
    using view_type = typename hash_table<Context, Buckets>::view_type;
    for_each(context_, "bench: find", count, find_key<view_type>{table_.view(), keys, results});
  }

 private:
  Context context_;
  hash_table<Context, Buckets> table_;
};

}  // namespace

template <typename Context>
std::unique_ptr<hash_subject<Context>> make_hash_subject(std::string_view buckets, const Context& context) {
  const auto make = [&]<typename Buckets>(std::type_identity<Buckets>) -> std::unique_ptr<hash_subject<Context>> {
    return std::make_unique<hash_subject_of<Context, Buckets>>(context);
  };
  if (buckets == "fixed") return make(std::type_identity<fixed_buckets<Context, column_major_layout>>{});
  if (buckets == "fixed_row_major") return make(std::type_identity<fixed_buckets<Context, row_major_layout>>{});
  if (buckets == "counting") return make(std::type_identity<counting_buckets<Context>>{});
  if (buckets == "sorted") return make(std::type_identity<sorted_buckets<Context>>{});
  if (buckets == "linked_loose") return make(std::type_identity<linked_buckets<Context>>{});
  detail::throw_unknown_method("kind of buckets", buckets, hash_bucket_names);
}

template std::unique_ptr<hash_subject<backend_context>> make_hash_subject(std::string_view, const backend_context&);

}  // namespace quadrat::bench

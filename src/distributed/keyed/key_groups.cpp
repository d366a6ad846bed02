// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/keyed/key_groups.hpp"

#include "core/backend.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat::detail {

namespace {

/// Marks with 1 the last element of each group, in order of keys, except that of the last group.
struct mark_group_ends {
  const std::uint64_t* keys;
  std::size_t count;
  std::uint32_t* marks;

  QUADRAT_HD void operator()(std::size_t k) const { marks[k] = k + 1 < count && keys[k + 1] != keys[k] ? 1 : 0; }
};

struct name_groups {
  const std::uint64_t* keys;
  const std::uint32_t* order;
  const std::uint32_t* group_of_place;
  std::uint32_t* groups;
  std::uint64_t* keys_of_groups;

  QUADRAT_HD void operator()(std::size_t k) const {
    groups[order[k]] = group_of_place[k];
    if (k == 0 || keys[k - 1] != keys[k]) keys_of_groups[group_of_place[k]] = keys[k];
  }
};

}  // namespace

template <typename Context>
std::uint64_t* key_groups<Context>::room(std::size_t count) {
  count_ = count;
  for (int copy = 0; copy < 2; ++copy) {
    keys_[copy].resize_discarding(context_, count);
    order_[copy].resize_discarding(context_, count);
  }
  groups_.resize_discarding(context_, count);
  return keys_[0].data();
}

template <typename Context>
void key_groups<Context>::build(std::uint64_t key_count) {
  size_ = 0;
  if (count_ == 0) return;
  const sort_buffers<std::uint64_t> buffers{{keys_[0].data(), keys_[1].data()}, {order_[0].data(), order_[1].data()}};
  sorted_ = sort_pairs(context_, buffers, count_, key_bits_for(key_count), scratch_, sort_values::index);
  std::uint32_t* const places = order_[1 - sorted_].data();
  const std::uint64_t* const keys = keys_[sorted_].data();
  for_each(context_, "keys.group ends", count_, mark_group_ends{keys, count_, places});
  exclusive_scan(context_, places, places, count_, scratch_);
  for_each(context_, "keys.groups", count_,
           name_groups{keys, order_[sorted_].data(), places, groups_.data(), keys_[1 - sorted_].data()});
  size_ = to_host(context_, places + count_ - 1, 1)[0] + std::size_t{1};
}

template <typename Context>
std::size_t key_groups<Context>::bytes() const {
  return keys_[0].bytes() + keys_[1].bytes() + order_[0].bytes() + order_[1].bytes() + groups_.bytes() +
         scratch_.bytes();
}

template class key_groups<backend_context>;

}  // namespace quadrat::detail

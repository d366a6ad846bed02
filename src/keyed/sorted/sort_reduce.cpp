// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/sorted/sort_reduce.hpp"

#include "core/backend.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat::detail {

namespace {

/// Index: element. Keys out of range come last.
struct take_keys {
  key_source keys;
  std::uint32_t* taken;
  QUADRAT_HD void operator()(std::size_t i) const {
    const std::uint32_t key = keys[i];
    taken[i] = key == no_key ? keys.key_count : key;
  }
};

}  // namespace

template <typename Context>
std::size_t sort_reduce_engine<Context>::bytes_needed(std::size_t count) const {
  return 4 * count * sizeof(std::uint32_t) + ordered_bytes(context_, count);
}

template <typename Context>
std::size_t sort_reduce_engine<Context>::bytes() const {
  return keys_[0].bytes() + keys_[1].bytes() + order_[0].bytes() + order_[1].bytes() + scratch_.bytes();
}

template <typename Context>
void sort_reduce_engine<Context>::set_keys(const key_source& keys) {
  if (!unread_) unread_.emplace(context_);
  for (auto* words : {&keys_[0], &keys_[1], &order_[0], &order_[1]}) words->resize_discarding(context_, keys.count);
  for_each(context_, "keyed.take_keys", keys.count, take_keys{keys, keys_[0].data()});
  const sort_buffers<std::uint32_t> buffers{{keys_[0].data(), keys_[1].data()}, {order_[0].data(), order_[1].data()}};
  const int bits = key_bits_for(std::uint64_t{keys.key_count} + 1);
  const int sorted = sort_pairs(context_, buffers, keys.count, bits, scratch_, sort_values::index);
  static_cast<void>(scratch_.request(context_, ordered_bytes(context_, keys.count)));
  elements_ = {{keys_[sorted].data(), keys.count, keys.key_count, false, unread_->flag()}, order_[sorted].data()};
}

template class sort_reduce_engine<backend_context>;

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/candidate_pairs.hpp"

#include "core/backend.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat::detail {

namespace {

/// Index: pair. Packs a pair into one number; the second id takes `bits` bits. Unused room sorts last.
struct pack_pair {
  const particle_id* first;
  const particle_id* second;
  const std::uint64_t* count;
  std::uint64_t* keys;
  int bits;

  QUADRAT_HD void operator()(std::size_t k) const {
    keys[k] = k < *count ? static_cast<std::uint64_t>(first[k]) << bits | second[k] : ~std::uint64_t{0};
  }
};

struct unpack_pair {
  const std::uint64_t* keys;
  particle_id* first;
  particle_id* second;
  int bits;

  QUADRAT_HD void operator()(std::size_t k) const {
    first[k] = static_cast<particle_id>(keys[k] >> bits);
    second[k] = static_cast<particle_id>(keys[k] & ((std::uint64_t{1} << bits) - 1));
  }
};

}  // namespace

template <typename Context, typename T>
void candidate_pairs<Context, T>::find(const Context& context, search_control<Context>& control,
                                       const row_passes<pair_sink>& rows) {
  std::uint32_t* counts =
      rows_.counts(context, rows.rows(), 2 * sizeof(particle_id), first_.bytes() + second_.bytes(), control.waits());
  rows.count(counts, rows_.limit());
  size_ = control.settle(
      search_control<Context>::pairs_word, rows_.sum(context), [&] { return room(); },
      [&](std::uint64_t pairs) { reserve(context, roomy(pairs)); });
  rows.fill({first_.data(), second_.data(), room()}, rows_.offsets());
}

template <typename Context, typename T>
void candidate_pairs<Context, T>::reserve(const Context& context, std::uint64_t pairs) {
  // The sizes differ if an allocation failed between the two.
  if (pairs <= room()) return;
  first_.resize_discarding(context, pairs);
  second_.resize_discarding(context, pairs);
}

template <typename Context, typename T>
void candidate_pairs<Context, T>::sort(const Context& context, std::size_t bodies) {
  const int bits = key_bits_for(bodies);
  keys_.resize_discarding(context, first_.size());
  values_.resize_discarding(context, first_.size());
  for_each(context, "contacts.pairs.pack", size_.most,
           pack_pair{first_.data(), second_.data(), size_.value, keys_.data(), bits});
  sort_pairs(context, keys_.data(), values_.data(), size_.most, 2 * bits, scratch_, sort_values::index);
  for_each(context, "contacts.pairs.unpack", size_.most,
           unpack_pair{keys_.data(), first_.data(), second_.data(), bits});
}

template <typename Context, typename T>
std::size_t candidate_pairs<Context, T>::bytes() const {
  return rows_.bytes() + first_.bytes() + second_.bytes() + keys_.bytes() + values_.bytes() + scratch_.bytes();
}

template class candidate_pairs<backend_context, float>;
template class candidate_pairs<backend_context, double>;

}  // namespace quadrat::detail

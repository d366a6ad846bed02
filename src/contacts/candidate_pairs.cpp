// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/candidate_pairs.hpp"

#include <algorithm>

#include "core/backend.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat::detail {

namespace {

/// Index: pair. Packs a pair into one number; the second id takes `bits` bits.
struct pack_pair {
  const particle_id* first;
  const particle_id* second;
  std::uint64_t* keys;
  int bits;

  QUADRAT_HD void operator()(std::size_t k) const {
    keys[k] = static_cast<std::uint64_t>(first[k]) << bits | second[k];
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
void candidate_pairs<Context, T>::find(const Context& context, std::size_t rows, const box_passes<T>& passes,
                                       const box_family<T>& family) {
  size_ = 0;
  if (rows == 0) return;  // the engine still has the rows of an earlier build
  std::uint32_t* counts = rows_.counts(context, rows, 2 * sizeof(particle_id), first_.bytes() + second_.bytes());
  passes.count(family, counts, rows_.limit());
  const std::uint64_t total = rows_.total(context);
  // If memory ran out between the two, their sizes differ.
  if (total > std::min(first_.size(), second_.size())) {
    first_.resize_discarding(context, roomy(total));
    second_.resize_discarding(context, roomy(total));
  }
  passes.fill(family, {first_.data(), second_.data()}, rows_.offsets());
  size_ = total;
}

template <typename Context, typename T>
void candidate_pairs<Context, T>::sort(const Context& context, std::size_t bodies) {
  const int bits = key_bits_for(bodies);
  keys_.resize_discarding(context, first_.size());
  values_.resize_discarding(context, first_.size());
  for_each(context, "contacts.pairs.pack", size_, pack_pair{first_.data(), second_.data(), keys_.data(), bits});
  sort_pairs(context, keys_.data(), values_.data(), size_, 2 * bits, scratch_, sort_values::index);
  for_each(context, "contacts.pairs.unpack", size_, unpack_pair{keys_.data(), first_.data(), second_.data(), bits});
}

template <typename Context, typename T>
std::size_t candidate_pairs<Context, T>::bytes() const {
  return rows_.bytes() + first_.bytes() + second_.bytes() + keys_.bytes() + values_.bytes() + scratch_.bytes();
}

template class candidate_pairs<backend_context, float>;
template class candidate_pairs<backend_context, double>;

}  // namespace quadrat::detail

// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/contacts/contact_matcher.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/fault.hpp"

namespace quadrat {

namespace {

struct contact_key {
  std::uint64_t pair;  ///< first << 32 | second
  std::uint32_t feature;

  friend QUADRAT_HD bool operator==(const contact_key& a, const contact_key& b) {
    return a.pair == b.pair && a.feature == b.feature;
  }
};

[[nodiscard]] QUADRAT_HD particle_id id_of(const contact_keys_view& keys, particle_id body) {
  return keys.ids == nullptr || body >= first_plane ? body : keys.ids[body];
}

[[nodiscard]] QUADRAT_HD contact_key read_key(const contact_keys_view& keys, std::size_t k) {
  const std::uint64_t first = id_of(keys, keys.first[k * keys.stride]);
  return {first << 32 | id_of(keys, keys.second[k * keys.stride]),
          keys.features == nullptr ? 0u : keys.features[k * keys.stride]};
}

/// SplitMix64's output function (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
[[nodiscard]] QUADRAT_HD std::uint64_t mixed_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// The slot where the search for a key begins.
[[nodiscard]] QUADRAT_HD std::uint64_t home_slot(const contact_key& key, std::uint64_t mask) {
  return mixed_bits(key.pair ^ (static_cast<std::uint64_t>(key.feature) * 0xd6e8feb86659fd93u)) & mask;
}

/// The number of slots: a power of two, at least twice the number of contacts.
[[nodiscard]] std::size_t slots_for(std::size_t count) {
  std::size_t slots = 2;
  while (slots < 2 * count) slots *= 2;
  return slots;
}

/// Contacts of the last call, and their hash table.
struct remembered_contacts {
  const std::uint64_t* pairs;
  const std::uint32_t* features;  ///< nullptr: all 0
  const std::uint32_t* table;
  std::uint64_t mask;

  [[nodiscard]] QUADRAT_HD std::uint32_t find(const contact_key& key) const {
    for (std::uint64_t slot = home_slot(key, mask);; slot = (slot + 1) & mask) {
      const std::uint32_t candidate = table[slot];
      if (candidate == no_contact) return no_contact;
      if (contact_key{pairs[candidate], features == nullptr ? 0u : features[candidate]} == key) return candidate;
    }
  }
};

struct find_contact {
  contact_keys_view keys;
  remembered_contacts remembered;
  std::uint32_t* previous;

  QUADRAT_HD void operator()(std::size_t k) const { previous[k] = remembered.find(read_key(keys, k)); }
};

/// Each key takes the first free slot. Equal keys find each other on the way, which is a fault.
struct remember_contact {
  contact_keys_view keys;
  std::uint64_t* pairs;
  std::uint32_t* features;
  std::uint32_t* table;
  std::uint64_t mask;
  fault_flag faults;

  QUADRAT_HD void operator()(std::size_t k) const {
    const contact_key key = read_key(keys, k);
    pairs[k] = key.pair;
    if (features != nullptr) features[k] = key.feature;
    for (std::uint64_t slot = home_slot(key, mask);; slot = (slot + 1) & mask) {
      const std::uint32_t met = atomic_compare_exchange(table + slot, no_contact, static_cast<std::uint32_t>(k));
      if (met == no_contact) return;
      if (read_key(keys, met) == key) return faults.raise(fault_kind::value_range, k > met ? k : met);
    }
  }
};

}  // namespace

template <typename Context>
contact_matcher<Context>::contact_matcher(const Context& context) : context_(context) {}

template <typename Context>
void contact_matcher<Context>::reserve(std::size_t contacts, bool features) {
  detail::require_count(contacts, "contacts");
  const auto grow = [&](auto& words, std::size_t size, std::size_t kept) {
    if (size <= words.size()) return;
    std::remove_reference_t<decltype(words)> more(context_, size);
    if (kept > 0) copy_bytes(context_, words.data(), more.data(), kept * sizeof(*words.data()));
    words = std::move(more);
  };
  grow(previous_, contacts, size_);
  if (features) grow(features_, contacts, has_features_ ? size_ : 0);
  grow(table_, slots_for(contacts), size_ > 0 ? slots_for(size_) : 0);
  grow(fault_, 1, 0);
  grow(pairs_, contacts, size_);
}

template <typename Context>
void contact_matcher<Context>::match(const contact_keys_view& keys) {
  reserve(keys.count, keys.features != nullptr);
  match_async(keys);
  check();
}

template <typename Context>
void contact_matcher<Context>::match_async(const contact_keys_view& keys) {
  const std::size_t room = keys.features == nullptr ? pairs_.size() : std::min(pairs_.size(), features_.size());
  require(keys.count <= room, "match_async has room for ", room, " contacts, but was given ", keys.count,
          "; call reserve(", keys.count, ") or match first");
  if (size_ == 0) {
    fill_bytes(context_, previous_.data(), 0xff, keys.count * sizeof(std::uint32_t));
  } else {
    const remembered_contacts remembered{pairs_.data(), has_features_ ? features_.data() : nullptr, table_.data(),
                                         slots_for(size_) - 1};
    for_each(context_, "contacts.match", keys.count, find_contact{keys, remembered, previous_.data()});
  }
  has_features_ = keys.features != nullptr;
  size_ = keys.count;
  if (size_ == 0) return;
  const std::size_t slots = slots_for(size_);
  fill_bytes(context_, table_.data(), 0xff, slots * sizeof(std::uint32_t));
  fill_bytes(context_, fault_.data(), 0xff, fault_.bytes());
  for_each(context_, "contacts.remember", size_,
           remember_contact{keys,
                            pairs_.data(),
                            has_features_ ? features_.data() : nullptr,
                            table_.data(),
                            slots - 1,
                            {fault_.data(), nullptr}});
}

template <typename Context>
void contact_matcher<Context>::check() const {
  if (size_ == 0) return;
  const std::uint64_t word = to_host(context_, fault_)[0];
  if (word == ~std::uint64_t{0}) return;
  const std::uint64_t k = word >> 8, pair = to_host(context_, pairs_.data() + k, 1)[0];
  const std::uint32_t feature = has_features_ ? to_host(context_, features_.data() + k, 1)[0] : 0;
  throw data_error(message("contact ", k, ", of bodies ", pair >> 32, " and ", pair & 0xffffffffu, " with the feature ",
                           feature, ", is also given before; each must have another pair or feature"),
                   k);
}

template <typename Context>
std::size_t contact_matcher<Context>::bytes() const {
  return previous_.bytes() + pairs_.bytes() + features_.bytes() + table_.bytes() + fault_.bytes();
}

template class contact_matcher<backend_context>;

}  // namespace quadrat

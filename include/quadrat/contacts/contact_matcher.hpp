// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/contacts/contact.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat {

/// The keys that identify contacts from step to step: the two bodies, in this order, and the feature. Key k is first[k
/// * stride], second[k * stride] and features[k * stride]; keys must be unique. With `ids`, first and second are
/// indices of bodies and mean ids[first] and ids[second]; numbers from first_plane on are used directly.
struct contact_keys_view {
  const particle_id* first;
  const particle_id* second;
  const std::uint32_t* features;  ///< nullptr: all 0
  std::size_t stride;
  std::size_t count;
  const particle_id* ids = nullptr;
};

/// The keys of contacts, by the ids of their bodies.
template <typename T>
[[nodiscard]] contact_keys_view keys_of(const contacts_view<T>& contacts) {
  if (contacts.count == 0) return {nullptr, nullptr, nullptr, 1, 0};
  return {&contacts.records->a,
          &contacts.records->b,
          &contacts.records->feature,
          sizeof(contact<T>) / sizeof(particle_id),
          static_cast<std::size_t>(contacts.count),
          contacts.ids};
}

/// Marks a contact that is new.
inline constexpr std::uint32_t no_contact = 0xffffffffu;

namespace detail {

template <typename State>
struct carry_contact_state {
  const std::uint32_t* previous;
  const State* from;
  State* to;
  State fresh;

  QUADRAT_HD void operator()(std::size_t k) const {
    const std::uint32_t before = previous[k];
    to[k] = before == no_contact ? fresh : from[before];
  }
};

}  // namespace detail

/// Finds the previous index of each contact, so that its data (tangential displacement, say) can be carried along.
/// Move-only. Deterministic: the result is unique. Memory: 16 to 24 bytes per contact for the table, 4 more for
/// features, and 4 for the result.
///
/// Implementation: an open-addressing hash table of contact numbers, at least half of it empty. It is probed for the
/// new contacts, cleared, and filled with them.
template <typename Context>
class contact_matcher {
  static_assert(detail::instance<Context>::exists);

 public:
  explicit contact_matcher(const Context& context);

  /// Looks up these contacts among those of the last call, then stores these. Waits. May allocate. Throws
  /// argument_error for more than 2^31 - 1 contacts, and data_error, naming one, if contacts have the same key; they
  /// are stored, and a later call finds an arbitrary one of them. Keys of contact_detector are unique.
  void match(const contact_keys_view& keys);
  /// The same, but does not wait. Allocates nothing. Throws argument_error if there is no room. `check` reports equal
  /// keys. Can be captured after a call with as many contacts, and with features if these have them. Each launch then
  /// looks up the contacts of the previous launch.
  void match_async(const contact_keys_view& keys);
  /// Makes room for as many contacts, with features or without. The stored ones stay. Does not wait. May allocate.
  /// Throws argument_error for more than 2^31 - 1 contacts.
  void reserve(std::size_t contacts, bool features = true);

  /// Waits. Allocates nothing. Throws the data_error of the last call, at every call until the next one.
  void check() const;

  /// By contact of the last call: its index in the previous call, or no_contact. Valid until the next call.
  [[nodiscard]] const std::uint32_t* previous() const { return previous_.data(); }
  /// The number of stored contacts.
  [[nodiscard]] std::size_t size() const { return size_; }

  /// to[k] = from[previous()[k]], or `fresh` if the contact is new. Waits. Allocates nothing. For CUDA, only in sources
  /// compiled by nvcc.
  template <typename State>
  void carry(const State* from, State* to, const State& fresh) const {
    carry_async(from, to, fresh);
    context_.synchronize();
  }
  /// The same, but does not wait. Allocates nothing. Can be captured.
  template <typename State>
  void carry_async(const State* from, State* to, const State& fresh) const {
    for_each(context_, "contacts.carry", size_, detail::carry_contact_state<State>{previous_.data(), from, to, fresh});
  }

  /// Forgets all contacts. Does not wait. Allocates nothing.
  void clear() { size_ = 0; }
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

 private:
  Context context_;
  std::size_t size_ = 0;
  array<std::uint32_t, Context> previous_;
  array<std::uint64_t, Context> pairs_;  // of the remembered contacts: first << 32 | second
  array<std::uint32_t, Context> features_;
  bool has_features_ = false;
  array<std::uint32_t, Context> table_;  // numbers of contacts; no_contact: empty
  array<std::uint64_t, Context> fault_;  // the word of a fault_flag
};

}  // namespace quadrat

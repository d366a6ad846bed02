// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contacts/bodies/place.hpp"
#include "contacts/bodies/placement.hpp"
#include "contacts/candidate_pairs.hpp"
#include "contacts/control.hpp"
#include "contacts/counted_rows.hpp"
#include "contacts/families.hpp"
#include "contacts/rows.hpp"
#include "quadrat/contacts/contact.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/array.hpp"

namespace quadrat::detail {

template <typename T>
[[nodiscard]] bool same_planes(const plane<T>& a, const plane<T>& b) {
  return a.normal == b.normal && a.offset == b.offset && a.group == b.group;
}

/// A search for contacts, as passed to engines: the bodies and the destination of contacts.
template <typename Context, typename T>
class contact_task {
 public:
  explicit contact_task(const Context& context) : context_(context) {}

  /// Begins a search. `domain`: given by the caller, or any open box; bodies are wrapped into it, or into that of their
  /// system, in a search that waits and in those that follow.
  void begin(body_placement<Context, T>& placement, const bodies_view<T>& bodies, const box<T, 3>& domain,
             std::span<const box<T, 3>> of_systems, const pair_masks& masks);
  /// The domain for which bins were planned.
  void set_domain(const box<T, 3>& domain) { domain_ = domain; }

  // For engines:
  /// The bodies in order of ids. Planes are in `planes`.
  [[nodiscard]] const bodies_view<T>& bodies() const { return place_functor_.bodies; }
  [[nodiscard]] const box<T, 3>& domain() const { return domain_; }
  /// The same, for engines that serve several systems.
  [[nodiscard]] system_domains<T> domains() const {
    system_domains<T> result = place_functor_.domains;
    result.all = domain_;
    return result;
  }
  [[nodiscard]] const group_filter& groups() const { return groups_; }
  [[nodiscard]] const array<plane<T>, Context>& planes() const { return planes_; }
  [[nodiscard]] search_control<Context>& control() { return placement_->control(); }
  [[nodiscard]] plan_limits<T> limits() const { return placement_->limits(); }
  /// Places the bodies, for engines that search boxes. Asynchronous.
  [[nodiscard]] placed_bodies<Context, T> place();
  /// Finds the contacts of these rows, and those of planes. `domain`: domain() or domains().
  template <typename Domain>
  void find_in_rows(const row_passes<contact_sink<T, Domain>>& rows, const Domain& domain);
  /// Finds contacts among the pairs of boxes of these rows, and those of planes.
  template <typename Domain>
  void find_in_pairs(const row_passes<pair_sink>& rows, const Domain& domain);
  /// For engines that write the contacts themselves. `found`: their number, in the memory of the context. Waits and
  /// makes room like search_control::settle.
  void settle(const std::uint64_t* found);
  [[nodiscard]] array<contact<T>, Context>& records() { return records_; }

  // For the detector:
  [[nodiscard]] const array<contact<T>, Context>& records() const { return records_; }
  /// Checks and places bodies (place_body).
  [[nodiscard]] const place_body<T>& place_functor() const { return place_functor_; }
  [[nodiscard]] const device_count& size() const { return size_; }
  /// Whether these are the planes of the last search.
  [[nodiscard]] bool has_planes(std::span<const plane<T>> planes) const {
    return std::equal(planes.begin(), planes.end(), given_planes_.begin(), given_planes_.end(), same_planes<T>);
  }
  [[nodiscard]] std::size_t room_of_pairs() const { return candidates_.room(); }
  /// Makes room for this many contacts, and for as many pairs of boxes if pairs have been searched.
  void reserve(std::size_t contacts);
  [[nodiscard]] std::size_t bytes() const;

 private:
  void set_planes(std::span<const plane<T>> planes);
  void set_boxes(std::span<const box<T, 3>> of_systems);
  [[nodiscard]] plane_search<T> walls() const;

  Context context_;
  body_placement<Context, T>* placement_ = nullptr;
  place_body<T> place_functor_{};
  box<T, 3> domain_{};
  group_filter groups_{all_groups_meet()};
  std::vector<plane<T>> given_planes_;
  array<plane<T>, Context> planes_;
  array<box<T, 3>, Context> boxes_;  ///< of systems
  candidate_pairs<Context, T> candidates_;
  counted_rows<Context> rows_;
  array<contact<T>, Context> records_;
  device_count size_;
  std::size_t reserved_ = 0;
};

}  // namespace quadrat::detail

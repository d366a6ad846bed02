// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "contacts/control.hpp"
#include "quadrat/contacts/contact.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/sort.hpp"
#include "quadrat/parallel/workspace.hpp"

/// Bodies in the order of their ids. A search takes the first body of a pair as a. So a is the same body, however the
/// caller stores them.
namespace quadrat::detail {

/// Index: body. 0: 0: its id is above the previous one. 1: it is not. Larger: a plane has this id; the first such body
/// has the largest number.
struct judge_id {
  const particle_id* ids;
  std::size_t count;

  QUADRAT_HD std::uint64_t operator()(std::size_t i) const {
    if (ids[i] >= first_plane) return 1 + (count - i);
    return i > 0 && ids[i - 1] >= ids[i] ? 1 : 0;
  }
};

/// Index: place. 0: 0: the id differs from that of the place before. The first repeated place has the largest number.
struct find_repeated_id {
  const particle_id* sorted;
  std::size_t count;

  QUADRAT_HD std::uint64_t operator()(std::size_t k) const {
    return k > 0 && sorted[k - 1] == sorted[k] ? count - k : 0;
  }
};

/// Index: body. For a search that does not wait: a fault if judge_id says more than `most`.
struct refuse_ids {
  judge_id judge;
  std::uint64_t most;
  fault_flag faults;

  QUADRAT_HD void operator()(std::size_t i) const {
    if (judge(i) > most) faults.raise(fault_kind::value_range, id_fault_base + i);
  }
};

/// Index: place. The same for an id of two bodies.
struct refuse_repeated_ids {
  find_repeated_id judge;
  const std::uint32_t* order;
  fault_flag faults;

  QUADRAT_HD void operator()(std::size_t k) const {
    if (judge(k) > 0) faults.raise(fault_kind::value_range, id_fault_base + order[k]);
  }
};

/// Index: place.
template <typename From, typename E>
struct gather_by_id {
  From from;
  const std::uint32_t* order;
  E* to;

  QUADRAT_HD void operator()(std::size_t k) const { to[k] = from[order[k]]; }
};

/// Index: contact. Replaces places by bodies.
template <typename T>
struct name_bodies {
  const std::uint32_t* order;
  const std::uint64_t* count;
  contact<T>* records;

  QUADRAT_HD void operator()(std::size_t k) const {
    if (k >= *count) return;
    records[k].a = order[records[k].a];
    if (records[k].b < first_plane) records[k].b = order[records[k].b];
  }
};

template <typename Context, typename T>
class bodies_by_id {
 public:
  explicit bodies_by_id(const Context& context) : context_(context) {}

  /// The bodies in the order of their ids: the given ones if they have no ids or are in order. Throws data_error for an
  /// id that a plane or two bodies have. Synchronizes if there are ids and the search waits. Otherwise bodies are
  /// sorted if the last search sorted, and invalid ids raise faults.
  [[nodiscard]] bodies_view<T> arrange(const bodies_view<T>& bodies, search_control<Context>& control) {
    const std::size_t count = bodies.ids == nullptr ? 0 : bodies.size();
    if (control.waits()) order_ = nullptr;
    if (count == 0) return bodies;
    const judge_id judge{bodies.ids, count};
    if (control.waits()) {
      const std::uint64_t verdict = reduce_maximum(context_, "contacts.ids", count, judge, scratch_);
      if (verdict > 1) refuse_id(bodies, count + 1 - static_cast<std::size_t>(verdict));
      if (verdict == 0) return bodies;
    } else {
      const std::uint64_t most = order_ == nullptr ? 0 : 1;
      for_each(context_, "contacts.ids", count, refuse_ids{judge, most, control.faults()});
      if (order_ == nullptr) return bodies;
    }
    sort(bodies, control);
    bodies_view<T> result = bodies;
    result.centers = points_of(gather(bodies.centers, centers_, count), count);
    if (bodies.shapes != nullptr) result.shapes = gather(bodies.shapes, shapes_, count);
    if (bodies.radii != nullptr) result.radii = gather(bodies.radii, radii_, count);
    if (bodies.sizes != nullptr) result.sizes = gather(bodies.sizes, sizes_, count);
    if (bodies.orientations != nullptr) result.orientations = gather(bodies.orientations, orientations_, count);
    if (bodies.groups != nullptr) result.groups = gather(bodies.groups, groups_, count);
    if (bodies.system_of_body != nullptr) result.system_of_body = gather(bodies.system_of_body, systems_, count);
    return result;
  }

  /// The given body at a place. Synchronizes if they were not in order.
  [[nodiscard]] std::size_t body_at(std::size_t place) const {
    return order_ == nullptr ? place : to_host(context_, order_ + place, 1)[0];
  }
  /// Replaces places in contacts by the given bodies. Asynchronous.
  void name(contact<T>* records, const device_count& count) const {
    if (order_ != nullptr)
      for_each(context_, "contacts.name", count.most, name_bodies<T>{order_, count.value, records});
  }
  /// The error of an id in a search that did not wait, once the host knows of it.
  [[nodiscard]] data_error complaint(const bodies_view<T>& bodies, std::size_t i) const {
    const particle_id id = to_host(context_, bodies.ids + i, 1)[0];
    if (id >= first_plane) return impossible(i, id);
    return {message("body ", i, " has the id ", id,
                    order_ != nullptr ? " of another body; ids must differ"
                                      : ", which is not above the one before; where ids increased in the last build, "
                                        "build_async needs ids that do: call build"),
            i};
  }
  [[nodiscard]] std::size_t bytes() const {
    return sorted_[0].bytes() + sorted_[1].bytes() + places_[0].bytes() + places_[1].bytes() + centers_.bytes() +
           shapes_.bytes() + radii_.bytes() + sizes_.bytes() + orientations_.bytes() + groups_.bytes() +
           systems_.bytes() + scratch_.bytes();
  }

 private:
  void sort(const bodies_view<T>& bodies, search_control<Context>& control) {
    const std::size_t count = bodies.size();
    for (int copy = 0; copy < 2; ++copy) {
      sorted_[copy].resize_discarding(context_, count);
      places_[copy].resize_discarding(context_, count);
    }
    copy_bytes(context_, bodies.ids, sorted_[0].data(), count * sizeof(particle_id));
    const sort_buffers<particle_id> buffers{{sorted_[0].data(), sorted_[1].data()},
                                            {places_[0].data(), places_[1].data()}};
    const int last = sort_pairs(context_, buffers, count, key_bits_for(first_plane), scratch_, sort_values::index);
    order_ = places_[last].data();
    const find_repeated_id judge{sorted_[last].data(), count};
    if (!control.waits()) {
      for_each(context_, "contacts.ids", count, refuse_repeated_ids{judge, order_, control.faults()});
      return;
    }
    const std::uint64_t repeated = reduce_maximum(context_, "contacts.ids", count, judge, scratch_);
    if (repeated > 0) refuse_pair(bodies, count - static_cast<std::size_t>(repeated));
  }

  template <typename From, typename E>
  [[nodiscard]] const E* gather(const From& from, array<E, Context>& to, std::size_t count) {
    to.resize_discarding(context_, count);
    for_each(context_, "contacts.by_id", count, gather_by_id<From, E>{from, order_, to.data()});
    return to.data();
  }

  [[nodiscard]] static data_error impossible(std::size_t i, particle_id id) {
    return {message("body ", i, " has the id ", id, "; ids of bodies are below 2^31, from which planes count"), i};
  }
  [[noreturn]] void refuse_id(const bodies_view<T>& bodies, std::size_t i) const {
    const particle_id id = to_host(context_, bodies.ids + i, 1)[0];
    throw impossible(i, id);
  }
  [[noreturn]] void refuse_pair(const bodies_view<T>& bodies, std::size_t place) const {
    const auto two = to_host(context_, order_ + place - 1, 2);
    const particle_id id = to_host(context_, bodies.ids + two[0], 1)[0];
    throw data_error(message("bodies ", two[0], " and ", two[1], " both have the id ", id, "; ids must differ"),
                     two[1]);
  }

  Context context_;
  const std::uint32_t* order_ = nullptr;  ///< by place: the body there; nullptr: places are bodies
  array<particle_id, Context> sorted_[2];
  array<std::uint32_t, Context> places_[2];
  array<vec<T, 3>, Context> centers_;
  array<body_shape, Context> shapes_;
  array<T, Context> radii_;
  array<vec<T, 3>, Context> sizes_;
  array<quaternion<T>, Context> orientations_;
  array<std::uint32_t, Context> groups_;
  array<std::uint32_t, Context> systems_;
  workspace<Context> scratch_;
};

}  // namespace quadrat::detail

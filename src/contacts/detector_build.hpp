// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <new>
#include <utility>

#include "contacts/checks.hpp"
#include "contacts/detector_implementation.hpp"
#include "contacts/row_passes.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat {

namespace detail {

/// Index: contact. Packs its bodies into one number; the second takes `bits` bits. Planes come after the bodies.
template <typename T>
struct contact_key {
  const contact<T>* records;
  std::uint64_t* keys;
  std::uint32_t bodies;
  int bits;

  QUADRAT_HD void operator()(std::size_t k) const {
    const particle_id b = records[k].b;
    keys[k] = static_cast<std::uint64_t>(records[k].a) << bits | (b < first_plane ? b : bodies + (b - first_plane));
  }
};

/// Index: new place of a contact.
template <typename T>
struct gather_contact {
  const std::uint32_t* order;
  const contact<T>* from;
  contact<T>* to;

  QUADRAT_HD void operator()(std::size_t k) const { to[k] = from[order[k]]; }
};

/// Passes for bodies of any shapes, in rows of one candidate pair each.
template <typename Context, typename T>
class listed_passes final : public body_passes<T> {
 public:
  listed_passes(const Context& context, std::size_t pairs, const listed_search<T>& search)
      : context_(context), pairs_(pairs), search_(search) {}

  void count(const any_family<T>& family, std::uint32_t* counts, count_limit& limit) const override {
    count_rows(context_, "contacts.count", pairs_, search_, family, counts, limit);
  }
  void fill(const any_family<T>& family, const contact_sink<T>& sink, const std::uint64_t* offsets) const override {
    fill_rows(context_, "contacts.fill", pairs_, search_, family, sink, offsets);
  }

 private:
  const Context& context_;
  std::size_t pairs_;
  listed_search<T> search_;
};

}  // namespace detail

template <typename Context, typename T>
void contact_detector<Context, T>::implementation::build(const bodies_view<T>& given) {
  state = stage::failed;
  size = 0;
  current = 0;
  detail::check_bodies(given, options.domain);
  const bodies_view<T> bodies = by_id.arrange(given);
  detail::pair_request request{bodies.size()};
  request.spheres = bodies.spheres();
  request.number_bytes = sizeof(T);
  request.known_domain = options.domain.has_value();
  // Where runs must be repeatable a search does not depend on those before it.
  if (context.reproducibility() == determinism::none)
    request.found = contacts_of_a_body * static_cast<double>(bodies.size());
  search.choose(options.method, request);
  for (;;) {
    search.begin_round(bodies.size());
    try {
      find_contacts(bodies);
      break;
    } catch (const std::bad_alloc&) {
      if (!search.refuse_round()) throw;
    }
  }
  if (bodies.size() > 0) {
    search.end_round();
    contacts_of_a_body = static_cast<double>(size) / static_cast<double>(bodies.size());
  }
  if (size > 0 && sorted()) sort(bodies);
  by_id.name(records[current].data(), size);
  ids = given.ids;
  state = stage::built;
}

template <typename Context, typename T>
void contact_detector<Context, T>::implementation::find_contacts(const bodies_view<T>& bodies) {
  // The bins in `search` are those of the direct search only if the last build was direct and did not fail.
  const bool planned_directly = std::exchange(found_directly, false);
  found_directly = find_directly(bodies, planned_directly);
  if (found_directly) return;
  look_at(bodies);
  if (bodies.size() == 0) return;
  search.insert();
  find(bodies);
}

/// Checks the bodies, and chooses bins.
template <typename Context, typename T>
void contact_detector<Context, T>::implementation::look_at(const bodies_view<T>& bodies) {
  const fault_report fault = search.place(bodies.size(), placing(bodies));
  if (fault.kind != fault_kind::none) fail(bodies, fault.index);
  search.plan(options.domain, {options.bin_size, options.balance_bins});
}

/// Finds contacts by the engine's direct search, if it has one that serves; reuses the plan of the last direct build if
/// it still fits.
template <typename Context, typename T>
bool contact_detector<Context, T>::implementation::find_directly(const bodies_view<T>& bodies, bool planned_directly) {
  detail::direct_search<Context, T>* const direct = search.engine().direct();
  if (direct == nullptr || !direct->serves(bodies)) return false;
  // Plan again if the domain follows the bodies, or if a size is invalid or beyond the plan.
  bool planned = planned_directly && options.domain.has_value() && direct->planned_for(bodies);
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!planned) {
      look_at(bodies);
      search.take(direct->plan(bodies, search.domain(), options.bin_size));
    }
    if (const auto found = direct->find(bodies, options.masks, records[0])) {
      size = *found;
      return true;
    }
    planned = false;
  }
  return false;
}

template <typename Context, typename T>
void contact_detector<Context, T>::implementation::find(const bodies_view<T>& bodies) {
  const detail::group_filter groups(options.masks);
  const detail::pair_engine<Context, T>& engine = search.engine();
  if (bodies.spheres()) {
    const detail::sphere_family<T> family{search.domain(), groups};
    return find_in_rows(bodies, search.rows(), engine.spheres(), family);
  }
  const detail::any_family<T> family{search.domain(), groups, placing(bodies).bodies};
  if (engine.bodies() != nullptr) return find_in_rows(bodies, search.rows(), *engine.bodies(), family);
  find_in_candidates(bodies, family);
}

template <typename Context, typename T>
void contact_detector<Context, T>::implementation::find_in_candidates(const bodies_view<T>& bodies,
                                                                      const detail::any_family<T>& family) {
  candidates.find(context, search.rows(), *search.engine().boxes(), {family.domain, family.groups, {}});
  const detail::listed_search<T> listed{search.placed(), candidates.first(), candidates.second()};
  find_in_rows(bodies, candidates.size(), detail::listed_passes<Context, T>(context, candidates.size(), listed),
               family);
}

/// Rows of pairs, followed by a row per body for the planes that it touches.
template <typename Context, typename T>
template <typename Family>
void contact_detector<Context, T>::implementation::find_in_rows(
    const bodies_view<T>& bodies, std::size_t pair_rows,
    const detail::row_passes<Family, detail::contact_sink<T>>& passes, const Family& family) {
  const std::size_t plane_rows_count = bodies.planes.empty() ? 0 : bodies.size();
  std::uint32_t* counts = rows.counts(context, pair_rows + plane_rows_count, sizeof(contact<T>), records[0].bytes());
  passes.count(family, counts, rows.limit());
  const detail::plane_search<T> walls = plane_rows(bodies);
  for_each(context, "contacts.planes.count", plane_rows_count, detail::count_planes<T>{walls, counts + pair_rows});
  const std::uint64_t total = rows.total(context);
  grow(total);
  const detail::contact_sink<T> to{records[0].data(), bodies.centers, search.domain()};
  passes.fill(family, to, rows.offsets());
  for_each(context, "contacts.planes.fill", plane_rows_count,
           detail::fill_planes<T>{walls, to, rows.offsets() + pair_rows});
  size = total;
}

template <typename Context, typename T>
detail::plane_search<T> contact_detector<Context, T>::implementation::plane_rows(const bodies_view<T>& bodies) {
  planes.resize_discarding(context, bodies.planes.size());
  copy_bytes(context, bodies.planes.data(), planes.data(), bodies.planes.size_bytes());
  return {placing(bodies).bodies, search.placed(), planes.data(), static_cast<std::uint32_t>(bodies.planes.size()),
          detail::group_filter(options.masks)};
}

template <typename Context, typename T>
void contact_detector<Context, T>::implementation::grow(std::uint64_t contacts) {
  if (contacts > records[0].size()) records[0].resize_discarding(context, detail::roomy(contacts));
}

/// Sorts by (a, b). The sort is stable, and contacts of one pair were written in the order of features.
template <typename Context, typename T>
void contact_detector<Context, T>::implementation::sort(const bodies_view<T>& bodies) {
  const int bits = key_bits_for(bodies.size() + bodies.planes.size());
  keys.resize_discarding(context, records[0].size());
  order.resize_discarding(context, records[0].size());
  records[1].resize_discarding(context, records[0].size());
  for_each(context, "contacts.keys", size,
           detail::contact_key<T>{records[0].data(), keys.data(), static_cast<std::uint32_t>(bodies.size()), bits});
  sort_pairs(context, keys.data(), order.data(), size, 2 * bits, scratch, sort_values::index);
  for_each(context, "contacts.sort", size,
           detail::gather_contact<T>{order.data(), records[0].data(), records[1].data()});
  current = 1;
}

template <typename Context, typename T>
std::size_t contact_detector<Context, T>::implementation::bytes() const {
  return by_id.bytes() + search.bytes() + candidates.bytes() + rows.bytes() + planes.bytes() + records[0].bytes() +
         records[1].bytes() + keys.bytes() + order.bytes() + scratch.bytes();
}

}  // namespace quadrat

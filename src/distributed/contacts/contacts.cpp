// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/contacts.hpp"

#include <utility>
#include <vector>

#include "core/backend.hpp"
#include "distributed/contacts/traveling_bodies.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/halo.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat {

namespace {

template <typename T>
struct read_value {
  const T* values;
  QUADRAT_HD T operator()(std::size_t i) const { return values[i]; }
};

/// Whether this rank owns the contact.
template <typename T>
struct flag_own_contacts {
  const contact<T>* records;
  std::size_t own;
  std::uint32_t* flags;

  QUADRAT_HD void operator()(std::size_t k) const { flags[k] = records[k].a < own ? 1 : 0; }
};

/// Selects the contacts of this rank and replaces indices of bodies by their ids.
template <typename T>
struct keep_own_contacts {
  const contact<T>* records;
  const std::uint32_t* flags;
  const std::uint64_t* places;
  const std::uint32_t* ids;
  contact<T>* kept;

  QUADRAT_HD void operator()(std::size_t k) const {
    if (flags[k] == 0) return;
    contact<T> record = records[k];
    record.a = ids[record.a];
    if (record.b < first_plane) record.b = ids[record.b];
    kept[places[k]] = record;
  }
};

}  // namespace

template <typename Context, typename T>
struct distributed_contacts<Context, T>::implementation {
  implementation(const Context& chosen, communicator& group, const grid<T, 3>& grid_of_all,
                 const contact_options<T>& options)
      : context(chosen),
        ranks(group),
        space(grid_of_all),
        detector(chosen, with_domain(options, grid_of_all)),
        borders(chosen, group) {}

  [[nodiscard]] static contact_options<T> with_domain(contact_options<T> options, const grid<T, 3>& space) {
    require(!options.domain.has_value(), "the domain is given twice; leave it out of the options");
    options.domain = space.domain;
    return options;
  }

  void choose_ghosts(const decomposition_view<3>& shares, const bodies_view<T>& bodies);
  void bring(const bodies_view<T>& bodies);
  void detect(const bodies_view<T>& bodies);
  void keep();

  Context context;
  communicator& ranks;
  grid<T, 3> space;
  contact_detector<Context, T> detector;
  halo<Context, T, 3> borders;
  detail::local_bodies<Context, T> local;
  array<T, Context> radii;
  array<detail::traveling_body<T>, Context> records;
  array<std::uint32_t, Context> flags;
  array<std::uint64_t, Context> places;
  array<contact<T>, Context> kept;
  workspace<Context> scratch;
  std::uint64_t count = 0;
  bool built = false;
};

/// A body is copied to a rank if it can touch a body there. This depends on its radius and on the largest radius of
/// that rank.
template <typename Context, typename T>
void distributed_contacts<Context, T>::implementation::choose_ghosts(const decomposition_view<3>& shares,
                                                                     const bodies_view<T>& bodies) {
  T largest = 0;
  together(ranks, [&] {
    radii.resize_discarding(context, bodies.size());
    for_each(context, "contacts.radii", bodies.size(), detail::measure_bodies<T>{bodies, radii.data()});
    if (bodies.size() == 0) return;
    largest = reduce_maximum(context, "contacts.largest", bodies.size(), read_value<T>{radii.data()}, scratch);
  });
  const std::vector<T> of_rank = all_values(ranks, largest);
  borders.build(space, shares, bodies.centers, {.of_rank = of_rank, .of_point = radii.data()});
}

/// Collects own bodies and ghosts.
template <typename Context, typename T>
void distributed_contacts<Context, T>::implementation::bring(const bodies_view<T>& bodies) {
  const std::size_t all = bodies.size() + borders.ghosts();
  records.resize_discarding(context, all);
  for_each(context, "contacts.pack", bodies.size(), detail::pack_bodies<T>{bodies, records.data()});
  borders.forward(records.data());
  local.unpack(context, records.data(), all);
}

template <typename Context, typename T>
void distributed_contacts<Context, T>::implementation::detect(const bodies_view<T>& bodies) {
  try {
    detector.build(local.view(bodies));
  } catch (const data_error& problem) {
    if (!problem.index()) throw;
    const std::uint32_t id = to_host(context, local.ids() + *problem.index(), 1)[0];
    throw data_error(message("the body with id ", id, ": ", problem.what()), id);
  }
}

template <typename Context, typename T>
void distributed_contacts<Context, T>::implementation::keep() {
  const contacts_view<T> found = detector.view();
  flags.resize_discarding(context, found.count);
  places.resize_discarding(context, found.count + 1);
  for_each(context, "contacts.own", found.count, flag_own_contacts<T>{found.records, borders.own(), flags.data()});
  exclusive_scan_with_total(context, flags.data(), places.data(), found.count, scratch);
  count = to_host(context, places.data() + found.count, 1)[0];
  kept.resize_discarding(context, count);
  for_each(context, "contacts.keep", found.count,
           keep_own_contacts<T>{found.records, flags.data(), places.data(), local.ids(), kept.data()});
  context.synchronize();
}

template <typename Context, typename T>
distributed_contacts<Context, T>::distributed_contacts(const Context& context, communicator& ranks,
                                                       const grid<T, 3>& space, contact_options<T> options) {
  together(ranks, [&] { implementation_ = std::make_unique<implementation>(context, ranks, space, options); });
}

template <typename Context, typename T>
void distributed_contacts<Context, T>::build(const decomposition_view<3>& shares, const bodies_view<T>& bodies) {
  implementation& self = *implementation_;
  self.built = false;
  const bodies_view<T> same = detail::agreed_kinds(self.ranks, bodies);
  together(self.ranks, [&] {
    require_pointer(bodies.ids, bodies.size(), "ids of bodies");
    require(bodies.system_of_body == nullptr, "bodies are of several systems; contact_detector serves these");
  });
  self.choose_ghosts(shares, bodies);
  self.bring(bodies);
  together(self.ranks, [&] {
    self.detect(same);
    self.keep();
  });
  self.built = true;
}

template <typename Context, typename T>
contacts_view<T> distributed_contacts<Context, T>::view() const {
  require(implementation_->built, "no contacts have been built, or the last build failed");
  return {implementation_->count, implementation_->kept.data()};
}
template <typename Context, typename T>
std::uint64_t distributed_contacts<Context, T>::size() const {
  return view().count;
}
template <typename Context, typename T>
std::size_t distributed_contacts<Context, T>::ghosts() const {
  return implementation_->borders.ghosts();
}

template class distributed_contacts<backend_context, float>;
template class distributed_contacts<backend_context, double>;

}  // namespace quadrat

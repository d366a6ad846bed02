// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/contacts/contact_detector.hpp"

#include "contacts/bodies/by_id.hpp"
#include "contacts/checks.hpp"
#include "contacts/contact_task.hpp"
#include "contacts/search_plan.hpp"
#include "core/number_text.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat {

namespace detail {

/// Index: contact. Packs its bodies into one number; the second takes `bits` bits. Planes come after the bodies; unused
/// room sorts last.
template <typename T>
struct contact_key {
  const contact<T>* records;
  const std::uint64_t* count;
  std::uint64_t* keys;
  std::uint32_t bodies;
  int bits;

  QUADRAT_HD void operator()(std::size_t k) const {
    keys[k] = ~std::uint64_t{0};
    if (k >= *count) return;
    const particle_id b = records[k].b;
    keys[k] = static_cast<std::uint64_t>(records[k].a) << bits | (b < first_plane ? b : bodies + (b - first_plane));
  }
};

/// Index: new place of a contact.
template <typename T>
struct gather_contact {
  const std::uint32_t* order;
  const std::uint64_t* count;
  const contact<T>* from;
  contact<T>* to;

  QUADRAT_HD void operator()(std::size_t k) const {
    if (k < *count) to[k] = from[order[k]];
  }
};

/// The arrays that determine the memory of a build, besides the contacts.
struct body_arrays {
  std::size_t count = 0;
  bool spheres = true, shapes = false, radii = false, sizes = false, orientations = false, groups = false, ids = false,
       systems = false;
  body_shape shape = body_shape::sphere;

  friend bool operator==(const body_arrays&, const body_arrays&) = default;
};

template <typename T>
[[nodiscard]] body_arrays arrays_of(const bodies_view<T>& bodies) {
  return {bodies.size(),
          bodies.spheres(),
          bodies.shapes != nullptr,
          bodies.radii != nullptr,
          bodies.sizes != nullptr,
          bodies.orientations != nullptr,
          bodies.groups != nullptr,
          bodies.ids != nullptr,
          bodies.system_of_body != nullptr,
          bodies.shapes != nullptr ? body_shape::sphere : bodies.shape};
}

}  // namespace detail

/// The implementation of contact_detector: check the input, choose a method, plan bins, search, sort. Errors of the
/// data are in detector_check.hpp.
template <typename Context, typename T>
struct contact_detector<Context, T>::implementation {
  implementation(const Context& where, const contact_options<T>& chosen)
      : context(where), options(chosen), by_id(where), search(where), task(where) {}

  void build(const bodies_view<T>& given);
  void build_async(const bodies_view<T>& given);
  /// Throws the error of the last build that did not wait.
  void check();
  void reserve(std::size_t contacts);
  void require_built() const;
  [[nodiscard]] const contact<T>* records() const { return sorts() ? sorted.data() : task.records().data(); }
  [[nodiscard]] std::size_t bytes() const;

  Context context;
  contact_options<T> options;
  enum class stage { empty, built, enqueued, failed } state = stage::empty;
  bool prepared = false;       ///< the memory of a build exists
  detail::body_arrays arrays;  ///< of its bodies
  bodies_view<T> last;         ///< bodies of the last build, as given
  std::uint64_t size = 0;
  double contacts_of_a_body = -1;  ///< in the last complete search; below 0: there was none

  detail::bodies_by_id<Context, T> by_id;
  detail::search_plan<Context, T> search;
  detail::contact_task<Context, T> task;
  array<std::uint64_t, Context> keys;
  array<std::uint32_t, Context> order;
  array<contact<T>, Context> sorted;
  workspace<Context> scratch;

 private:
  [[nodiscard]] bool sorts() const { return options.sorted || context.reproducibility() == determinism::canonical; }
  [[nodiscard]] bool in_systems(const bodies_view<T>& bodies) const {
    return !options.domains.empty() || bodies.system_of_body != nullptr;
  }
  [[nodiscard]] box<T, 3> domain() const { return options.domain.value_or(detail::open_box<T>()); }
  void choose(const bodies_view<T>& bodies);
  void search_once(const bodies_view<T>& given);
  void begin(const bodies_view<T>& given, bool waits);
  void look_and_plan();
  void run_engine();
  void finish();
  void sort(const detail::device_count& count);
  void require_memory_for(const bodies_view<T>& given) const;
  [[noreturn]] void fail();
  [[nodiscard]] data_error complaint(std::size_t place) const;
};

template <typename Context, typename T>
void contact_detector<Context, T>::implementation::build(const bodies_view<T>& given) {
  state = stage::failed;
  prepared = false;
  detail::check_bodies(given, options);
  choose(given);
  search.with_method(given.size(), [&] { search_once(given); });
  context.synchronize();
  if (given.size() > 0) contacts_of_a_body = static_cast<double>(size) / static_cast<double>(given.size());
  arrays = detail::arrays_of(given);
  prepared = true;
  state = stage::built;
}

/// Builds with the method, the bins and the memory of the last build.
template <typename Context, typename T>
void contact_detector<Context, T>::implementation::build_async(const bodies_view<T>& given) {
  detail::check_bodies(given, options);
  require_memory_for(given);
  state = stage::failed;
  search.stop_tuning();
  begin(given, false);
  run_engine();
  finish();
  state = stage::enqueued;
}

template <typename Context, typename T>
void contact_detector<Context, T>::implementation::choose(const bodies_view<T>& bodies) {
  detail::pair_request request{bodies.size()};
  request.spheres = bodies.spheres();
  request.number_bytes = sizeof(T);
  request.systems = in_systems(bodies);
  request.known_domain = options.domain.has_value();
  // If runs must be repeatable, a search does not depend on earlier ones.
  if (context.reproducibility() == determinism::none)
    request.found = contacts_of_a_body * static_cast<double>(bodies.size());
  search.choose(options.method, request, options.autotune);
}

template <typename Context, typename T>
void contact_detector<Context, T>::implementation::search_once(const bodies_view<T>& given) {
  begin(given, true);
  search.with_bins(
      given.size(), options.domain.has_value(), [&] { look_and_plan(); }, [&] { run_engine(); });
  if (search.control().failed()) fail();
  size = given.size() > 0 ? search.control().last_read()[detail::search_control<Context>::contacts_word] : 0;
  finish();
}

template <typename Context, typename T>
void contact_detector<Context, T>::implementation::begin(const bodies_view<T>& given, bool waits) {
  last = given;
  search.begin(waits);
  task.begin(search.placement(), by_id.arrange(given, search.control()), domain(), options.domains, options.masks);
}

/// Checks the bodies, and chooses bins.
template <typename Context, typename T>
void contact_detector<Context, T>::implementation::look_and_plan() {
  const fault_report fault = search.look(task.bodies().size(), task.place_functor());
  if (fault.kind != fault_kind::none) throw complaint(fault.index);
  search.choose_bins(options.domain, {options.bin_size, options.balance_bins, task.bodies()});
}

template <typename Context, typename T>
void contact_detector<Context, T>::implementation::run_engine() {
  if (task.bodies().size() == 0) return;
  task.set_domain(search.domain());
  search.engine().find_contacts(task);
}

template <typename Context, typename T>
void contact_detector<Context, T>::implementation::finish() {
  if (sorts()) sort(task.size());
  by_id.name(sorts() ? sorted.data() : task.records().data(), task.size());
}

/// Sorts by (a, b). The sort is stable, and contacts of one pair were written in the order of features.
template <typename Context, typename T>
void contact_detector<Context, T>::implementation::sort(const detail::device_count& count) {
  const std::size_t room = task.records().size();
  const std::size_t bodies = task.bodies().size();
  const int bits = key_bits_for(bodies + task.planes().size());
  keys.resize_discarding(context, room);
  order.resize_discarding(context, room);
  sorted.resize_discarding(context, room);
  for_each(context, "contacts.keys", count.most,
           detail::contact_key<T>{task.records().data(), count.value, keys.data(), static_cast<std::uint32_t>(bodies),
                                  bits});
  sort_pairs(context, keys.data(), order.data(), count.most, 2 * bits, scratch, sort_values::index);
  for_each(context, "contacts.sort", count.most,
           detail::gather_contact<T>{order.data(), count.value, task.records().data(), sorted.data()});
}

template <typename Context, typename T>
void contact_detector<Context, T>::implementation::reserve(std::size_t contacts) {
  const bool grows = contacts > task.records().size();
  if (grows) state = stage::empty;
  task.reserve(contacts);
  if (grows && prepared && sorts()) sort({task.records().size(), task.size().value});  // allocates its memory
}

template <typename Context, typename T>
std::size_t contact_detector<Context, T>::implementation::bytes() const {
  return by_id.bytes() + search.bytes() + task.bytes() + keys.bytes() + order.bytes() + sorted.bytes() +
         scratch.bytes();
}

template <typename Context, typename T>
contact_detector<Context, T>::contact_detector(const Context& context, const contact_options<T>& options)
    : implementation_((detail::check_contact_options(detail::contact_demand(context), options),
                       std::make_unique<implementation>(context, options))) {}

template <typename Context, typename T>
void contact_detector<Context, T>::build(const bodies_view<T>& bodies) {
  implementation_->build(bodies);
}

template <typename Context, typename T>
void contact_detector<Context, T>::build_async(const bodies_view<T>& bodies) {
  implementation_->build_async(bodies);
}

template <typename Context, typename T>
void contact_detector<Context, T>::check() const {
  implementation_->check();
}

template <typename Context, typename T>
void contact_detector<Context, T>::reserve(std::size_t contacts) {
  implementation_->reserve(contacts);
}

template <typename Context, typename T>
contacts_view<T> contact_detector<Context, T>::view() const {
  implementation_->check();
  implementation_->require_built();
  return {implementation_->size, implementation_->records(), implementation_->last.ids};
}

template <typename Context, typename T>
contacts_view_async<T> contact_detector<Context, T>::view_async() const {
  implementation_->require_built();
  const implementation& found = *implementation_;
  return {found.task.size().value, found.task.records().size(), found.records(), found.last.ids};
}

template <typename Context, typename T>
std::uint64_t contact_detector<Context, T>::size() const {
  return view().count;
}

template <typename Context, typename T>
std::string_view contact_detector<Context, T>::method() const {
  return implementation_->search.method();
}

template <typename Context, typename T>
T contact_detector<Context, T>::bin_size() const {
  return implementation_->search.bin_size();
}

template <typename Context, typename T>
explanation contact_detector<Context, T>::explanation() const {
  return implementation_->search.explain();
}
template <typename Context, typename T>
std::string_view contact_detector<Context, T>::reason() const {
  return implementation_->search.reason();
}

template <typename Context, typename T>
std::size_t contact_detector<Context, T>::bytes() const {
  return implementation_->bytes();
}

template <typename Context, typename T>
const contact_options<T>& contact_detector<Context, T>::options() const {
  return implementation_->options;
}

}  // namespace quadrat

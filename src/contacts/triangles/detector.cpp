// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/contacts/mesh_contact_detector.hpp"

#include <memory>
#include <type_traits>

#include "contacts/bodies/complaint.hpp"
#include "contacts/checks.hpp"
#include "contacts/control.hpp"
#include "contacts/counted_rows.hpp"
#include "contacts/rows.hpp"
#include "contacts/triangles/device.hpp"
#include "contacts/triangles/rows.hpp"
#include "core/backend.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

template <typename T>
[[nodiscard]] box<T, 3> checked_domain(const mesh_contact_options<T>& options) {
  detail::check_masks(options.masks);
  if (!options.domain.has_value()) return detail::open_box<T>();
  return make_box_from_lengths(options.domain->lower, options.domain->length, options.domain->periodic);
}

template <typename T>
void check_spheres(const bodies_view<T>& bodies, const box<T, 3>& domain) {
  contact_options<T> options;
  options.domain = domain;
  detail::check_bodies(bodies, options);
  require(bodies.spheres(), "bodies are not all spheres; only spheres touch triangles");
  require(bodies.planes.empty(), "there are ", bodies.planes.size(),
          " planes among the bodies; contact_detector finds contacts with planes");
  require(bodies.system_of_body == nullptr, "spheres are of several systems; contact_detector serves these");
}

}  // namespace

template <typename Context, typename T>
struct mesh_contact_detector<Context, T>::implementation {
  implementation(const Context& where, const triangles_view& given, const mesh_contact_options<T>& options)
      : context(where),
        domain(checked_domain(options)),
        mesh(where, detail::make_triangle_tables(given, domain), domain),
        groups(options.masks),
        group(given.group),
        control(where) {}

  void build(const bodies_view<T>& spheres);
  void build_async(const bodies_view<T>& spheres);
  void search(const bodies_view<T>& spheres, bool waits);
  void check();
  void reserve(std::size_t contacts);
  void require_built() const;
  [[noreturn]] void fail() const;

  Context context;
  box<T, 3> domain;
  detail::triangles_on_device<Context, T> mesh;
  detail::group_filter groups;
  std::uint32_t group;
  enum class stage { empty, built, enqueued, failed } state = stage::empty;
  bool prepared = false;  ///< the memory of a build exists
  bodies_view<T> last;
  std::uint64_t size = 0;
  detail::search_control<Context> control;
  detail::counted_rows<Context> rows;
  detail::device_count found;
  array<contact<T>, Context> records;
};

template <typename Context, typename T>
void mesh_contact_detector<Context, T>::implementation::search(const bodies_view<T>& spheres, bool waits) {
  state = stage::failed;
  last = spheres;
  control.begin(waits);
  const detail::triangle_rows<T> search{{spheres, {domain}}, mesh.store(), groups, group};
  const std::size_t count = spheres.size();
  std::uint32_t* const counts = rows.counts(context, count, sizeof(contact<T>), records.bytes(), waits);
  const detail::count_on_mesh<T> counting{search, control.faults(), counts};
  if constexpr (std::is_same_v<Context, cpu_context>) {
    detail::for_each_row(context, count, count,
                         detail::limited_rows<detail::count_on_mesh<T>>{counting, &rows.limit()});
  } else {
    for_each(context, "contacts.mesh.count", count, counting);
  }
  found = control.settle(
      control.contacts_word, rows.sum(context), [&] { return records.size(); },
      [&](std::uint64_t contacts) { records.resize_discarding(context, detail::roomy(contacts)); });
  const detail::fill_on_mesh<T> filling{search, records.data(), records.size(), rows.offsets()};
  if constexpr (std::is_same_v<Context, cpu_context>) {
    detail::for_each_row(context, count, count, filling);
  } else {
    for_each(context, "contacts.mesh.fill", count, filling);
  }
}

template <typename Context, typename T>
void mesh_contact_detector<Context, T>::implementation::build(const bodies_view<T>& spheres) {
  prepared = false;
  state = stage::failed;
  check_spheres(spheres, domain);
  search(spheres, true);
  if (control.failed()) fail();
  context.synchronize();
  size = control.last_read()[control.contacts_word];
  prepared = true;
  state = stage::built;
}

template <typename Context, typename T>
void mesh_contact_detector<Context, T>::implementation::build_async(const bodies_view<T>& spheres) {
  check_spheres(spheres, domain);
  require(prepared, "build_async works in the memory of the last build, and there was none, or it failed; call build");
  require(spheres.size() == last.size(), "there are ", spheres.size(), " spheres, but the last build had ", last.size(),
          "; build_async works in the memory of that build: call build");
  search(spheres, false);
  state = stage::enqueued;
}

template <typename Context, typename T>
void mesh_contact_detector<Context, T>::implementation::check() {
  if (state != stage::enqueued) return;
  // A replayed graph may have searched again since the last check.
  size = control.read()[control.contacts_word];
  if (control.failed()) fail();
}

/// Throws the error recorded in the words of a search.
template <typename Context, typename T>
void mesh_contact_detector<Context, T>::implementation::fail() const {
  const std::uint64_t* words = control.last_read();
  const std::uint64_t number = words[control.fault_word] >> 8, needed = words[control.needed_word];
  if (number >= detail::id_fault_base) {
    throw overflow_error(message("there are ", needed, " contacts, and room for ", records.size(),
                                 "; call build, or reserve(", needed, ")"),
                         needed);
  }
  const detail::body_on_host<T> sphere = detail::bring_body(context, last, number);
  const detail::body_fault fault = detail::place_body<T>{sphere.view(), {domain}}.fault_of(0);
  throw data_error(message("sphere ", number, detail::complaint_about(sphere, fault, domain)), number);
}

template <typename Context, typename T>
void mesh_contact_detector<Context, T>::implementation::reserve(std::size_t contacts) {
  if (contacts <= records.size()) return;
  state = stage::empty;
  records.resize_discarding(context, contacts);
}

template <typename Context, typename T>
void mesh_contact_detector<Context, T>::implementation::require_built() const {
  require(state != stage::empty, "nothing has been built yet; call build first");
  require(state != stage::failed, "the last build has failed; build again before using the contacts");
}

template <typename Context, typename T>
mesh_contact_detector<Context, T>::mesh_contact_detector(const Context& context, const triangles_view& mesh,
                                                         const mesh_contact_options<T>& options)
    : implementation_(std::make_unique<implementation>(context, mesh, options)) {}

template <typename Context, typename T>
void mesh_contact_detector<Context, T>::build(const bodies_view<T>& spheres) {
  implementation_->build(spheres);
}

template <typename Context, typename T>
void mesh_contact_detector<Context, T>::build_async(const bodies_view<T>& spheres) {
  implementation_->build_async(spheres);
}

template <typename Context, typename T>
void mesh_contact_detector<Context, T>::check() const {
  implementation_->check();
}

template <typename Context, typename T>
void mesh_contact_detector<Context, T>::reserve(std::size_t contacts) {
  implementation_->reserve(contacts);
}

template <typename Context, typename T>
contacts_view<T> mesh_contact_detector<Context, T>::view() const {
  implementation_->check();
  implementation_->require_built();
  return {implementation_->size, implementation_->records.data(), implementation_->last.ids};
}

template <typename Context, typename T>
contacts_view_async<T> mesh_contact_detector<Context, T>::view_async() const {
  implementation_->require_built();
  const implementation& own = *implementation_;
  return {own.found.value, own.records.size(), own.records.data(), own.last.ids};
}

template <typename Context, typename T>
std::uint64_t mesh_contact_detector<Context, T>::size() const {
  return view().count;
}

template <typename Context, typename T>
std::size_t mesh_contact_detector<Context, T>::bytes() const {
  const implementation& own = *implementation_;
  return own.mesh.bytes() + own.control.bytes() + own.rows.bytes() + own.records.bytes();
}

template class mesh_contact_detector<backend_context, float>;
template class mesh_contact_detector<backend_context, double>;

}  // namespace quadrat

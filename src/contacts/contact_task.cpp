// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/contact_task.hpp"

#include <algorithm>

#include "core/backend.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
void contact_task<Context, T>::begin(body_placement<Context, T>& placement, const bodies_view<T>& bodies,
                                     const box<T, 3>& domain, std::span<const box<T, 3>> of_systems,
                                     const pair_masks& masks) {
  placement_ = &placement;
  if (placement.control().waits()) set_boxes(of_systems);
  const bool own = boxes_.size() > 0;  // domains of systems
  const auto systems = own ? static_cast<std::uint32_t>(boxes_.size()) : most_systems;
  place_functor_ = {bodies, {domain, own ? boxes_.data() : nullptr, bodies.system_of_body, systems}};
  place_functor_.bodies.planes = {};
  groups_ = group_filter(masks);
  size_ = {0, placement.control().data(search_control<Context>::contacts_word)};
  if (placement.control().waits()) set_planes(bodies.planes);
}

template <typename Context, typename T>
void contact_task<Context, T>::set_planes(std::span<const plane<T>> planes) {
  if (has_planes(planes)) return;
  given_planes_.clear();  // in case the rest fails
  planes_.resize_discarding(context_, planes.size());
  copy_bytes(context_, planes.data(), planes_.data(), planes.size_bytes());
  given_planes_.assign(planes.begin(), planes.end());
}

/// The options of a detector do not change: copied once.
template <typename Context, typename T>
void contact_task<Context, T>::set_boxes(std::span<const box<T, 3>> of_systems) {
  if (boxes_.size() == of_systems.size()) return;
  boxes_.resize_discarding(context_, of_systems.size());
  copy_bytes(context_, of_systems.data(), boxes_.data(), of_systems.size_bytes());
}

template <typename Context, typename T>
placed_bodies<Context, T> contact_task<Context, T>::place() {
  placement_->place(bodies().size(), place_functor_);
  placed_bodies<Context, T> placed = placement_->all(domain_);
  placed.domains = domains();
  return placed;
}

template <typename Context, typename T>
plane_search<T> contact_task<Context, T>::walls() const {
  return {bodies(), placement_->bodies(), planes_.data(), static_cast<std::uint32_t>(planes_.size()), groups_};
}

template <typename Context, typename T>
void contact_task<Context, T>::settle(const std::uint64_t* found) {
  size_ = control().settle(
      search_control<Context>::contacts_word, found, [&] { return records_.size(); },
      [&](std::uint64_t contacts) { records_.resize_discarding(context_, roomy(contacts)); });
}

/// Rows of pairs, followed by a row per body for the planes that it touches.
template <typename Context, typename T>
template <typename Domain>
void contact_task<Context, T>::find_in_rows(const row_passes<contact_sink<T, Domain>>& rows, const Domain& domain) {
  const std::size_t plane_rows = planes_.size() == 0 ? 0 : bodies().size();
  std::uint32_t* counts =
      rows_.counts(context_, rows.rows() + plane_rows, sizeof(contact<T>), records_.bytes(), control().waits());
  rows.count(counts, rows_.limit());
  for_each(context_, "contacts.planes.count", plane_rows, count_planes<T>{walls(), counts + rows.rows()});
  settle(rows_.sum(context_));
  const contact_sink<T, Domain> to{records_.data(), records_.size(), bodies().centers, domain};
  rows.fill(to, rows_.offsets());
  for_each(context_, "contacts.planes.fill", plane_rows,
           fill_planes<T, Domain>{walls(), to, rows_.offsets() + rows.rows()});
}

template <typename Context, typename T>
template <typename Domain>
void contact_task<Context, T>::find_in_pairs(const row_passes<pair_sink>& rows, const Domain& domain) {
  if (control().waits()) candidates_.reserve(context_, reserved_);
  candidates_.find(context_, control(), rows);
  const listed_search<T> listed{placement_->bodies(), candidates_.first(), candidates_.second(),
                                candidates_.size().value};
  using family = any_family<T, Domain>;
  find_in_rows(searched_rows<Context, listed_search<T>, family, contact_sink<T, Domain>>(
                   context_, candidates_.size().most, listed, family{domain, groups_, bodies()}),
               domain);
}

template <typename Context, typename T>
void contact_task<Context, T>::reserve(std::size_t contacts) {
  if (contacts > records_.size()) records_.resize_discarding(context_, contacts);
  reserved_ = std::max(reserved_, contacts);
  if (candidates_.room() >= contacts || candidates_.room() == 0) return;
  candidates_.reserve(context_, contacts);
  rows_.reserve(context_, contacts + bodies().size());
}

template <typename Context, typename T>
std::size_t contact_task<Context, T>::bytes() const {
  return planes_.bytes() + boxes_.bytes() + candidates_.bytes() + rows_.bytes() + records_.bytes();
}

template class contact_task<backend_context, float>;
template class contact_task<backend_context, double>;

template <typename T, typename Domain>
using task_passes = row_passes<contact_sink<T, Domain>>;

template void contact_task<backend_context, float>::find_in_rows(const task_passes<float, box<float, 3>>&,
                                                                 const box<float, 3>&);
template void contact_task<backend_context, float>::find_in_pairs(const row_passes<pair_sink>&, const box<float, 3>&);
template void contact_task<backend_context, float>::find_in_rows(const task_passes<float, system_domains<float>>&,
                                                                 const system_domains<float>&);
template void contact_task<backend_context, float>::find_in_pairs(const row_passes<pair_sink>&,
                                                                  const system_domains<float>&);
template void contact_task<backend_context, double>::find_in_rows(const task_passes<double, box<double, 3>>&,
                                                                  const box<double, 3>&);
template void contact_task<backend_context, double>::find_in_pairs(const row_passes<pair_sink>&, const box<double, 3>&);
template void contact_task<backend_context, double>::find_in_rows(const task_passes<double, system_domains<double>>&,
                                                                  const system_domains<double>&);
template void contact_task<backend_context, double>::find_in_pairs(const row_passes<pair_sink>&,
                                                                   const system_domains<double>&);

}  // namespace quadrat::detail

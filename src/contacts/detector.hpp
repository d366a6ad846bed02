// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/contacts/contact_detector.hpp"

#include "contacts/detector_build.hpp"
#include "contacts/detector_check.hpp"

namespace quadrat {

template <typename Context, typename T>
contact_detector<Context, T>::contact_detector(const Context& context, const contact_options<T>& options)
    : implementation_((detail::check_contact_options(detail::contact_demand(context), options),
                       std::make_unique<implementation>(context, options))) {}
template <typename Context, typename T>
contact_detector<Context, T>::contact_detector(contact_detector&&) noexcept = default;
template <typename Context, typename T>
contact_detector<Context, T>& contact_detector<Context, T>::operator=(contact_detector&&) noexcept = default;
template <typename Context, typename T>
contact_detector<Context, T>::~contact_detector() = default;

template <typename Context, typename T>
void contact_detector<Context, T>::build(const bodies_view<T>& bodies) {
  implementation_->build(bodies);
}

template <typename Context, typename T>
void contact_detector<Context, T>::reserve(std::size_t contacts) {
  if (contacts <= implementation_->records[0].size()) return;
  implementation_->state = implementation::stage::empty;
  implementation_->grow(contacts);
}

template <typename Context, typename T>
contacts_view<T> contact_detector<Context, T>::view() const {
  const implementation& found = *implementation_;
  using stage = typename implementation::stage;
  require(found.state != stage::empty, "nothing has been built yet; call build first");
  require(found.state != stage::failed, "the last build has failed; build again before using the contacts");
  return {found.size, found.records[found.current].data(), found.ids};
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

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>
#include <vector>

#include "quadrat/contacts/broad_phase.hpp"
#include "quadrat/contacts/contact_detector.hpp"
#include "quadrat/contacts/contact_matcher.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

/// An empty contact detector for bodies in a box. The box becomes options.domain, which must not be set. Context and
/// precision are deduced from the arguments, so that options can be written in place: `make_contact_detector(context,
/// box, {.sorted = true})`. Throws argument_error for impossible options, and if options.domain is set.
template <typename Context, typename T>
[[nodiscard]] contact_detector<Context, T> make_contact_detector(
    const Context& context, const box<T, 3>& domain, contact_options<std::type_identity_t<T>> options = {}) {
  require(!options.domain.has_value(), "the domain is given twice; leave it out of the options");
  options.domain = domain;
  return {context, options};
}

/// For bodies of several systems (bodies_view::system_of_body), with one box per system.
template <typename Context, typename T>
[[nodiscard]] contact_detector<Context, T> make_contact_detector(
    const Context& context, const std::vector<box<T, 3>>& domains,
    contact_options<std::type_identity_t<T>> options = {}) {
  require(options.domains.empty(), "the domains are given twice; leave them out of the options");
  options.domains = domains;
  return {context, options};
}

/// For bodies in open space: `make_contact_detector<double>(context)`.
template <typename T, typename Context>
[[nodiscard]] contact_detector<Context, T> make_contact_detector(
    const Context& context, const contact_options<std::type_identity_t<T>>& options = {}) {
  return {context, options};
}

/// An empty broad phase, in the same two ways.
template <typename Context, typename T>
[[nodiscard]] broad_phase<Context, T> make_broad_phase(const Context& context, const box<T, 3>& domain,
                                                       broad_phase_options<std::type_identity_t<T>> options = {}) {
  require(!options.domain.has_value(), "the domain is given twice; leave it out of the options");
  options.domain = domain;
  return {context, options};
}
template <typename T, typename Context>
[[nodiscard]] broad_phase<Context, T> make_broad_phase(
    const Context& context, const broad_phase_options<std::type_identity_t<T>>& options = {}) {
  return {context, options};
}

/// A matcher that remembers no contacts yet.
template <typename Context>
[[nodiscard]] contact_matcher<Context> make_contact_matcher(const Context& context) {
  return contact_matcher<Context>(context);
}

}  // namespace quadrat

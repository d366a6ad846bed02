// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/contacts/broad_phase.hpp"

#include "contacts/bodies/place.hpp"
#include "contacts/candidate_pairs.hpp"
#include "contacts/checks.hpp"
#include "contacts/search_plan.hpp"
#include "core/backend.hpp"

namespace quadrat {

template <typename Context, typename T>
struct broad_phase<Context, T>::implementation {
  implementation(const Context& where, const broad_phase_options<T>& chosen)
      : context(where), options(chosen), search(where) {}

  Context context;
  broad_phase_options<T> options;
  enum class stage { empty, built, failed } state = stage::empty;
  detail::search_plan<Context, T> search;
  detail::candidate_pairs<Context, T> pairs;

  void build(const bounds_view<T>& bounds);
  [[nodiscard]] std::string complaint(const bounds_view<T>& bounds, std::size_t i) const;
};

template <typename Context, typename T>
void broad_phase<Context, T>::implementation::build(const bounds_view<T>& bounds) {
  state = stage::failed;
  detail::check_bounds(bounds);
  const box<T, 3> domain = options.domain.value_or(detail::open_box<T>());
  search.choose(options.method, {bounds.size(), true});
  const fault_report fault = search.place(bounds.size(), detail::place_bounds<T>{bounds, domain});
  if (fault.kind != fault_kind::none) throw data_error(complaint(bounds, fault.index), fault.index);
  search.plan(options.domain, {options.bin_size, true});
  search.insert();
  const detail::box_family<T> family{search.domain(), detail::group_filter(options.masks), bounds};
  pairs.find(context, search.rows(), *search.engine().boxes(), family);
  if (options.sorted || context.reproducibility() == determinism::canonical) pairs.sort(context, bounds.size());
  state = stage::built;
}

/// What is wrong with box i, and what would be accepted.
template <typename Context, typename T>
std::string broad_phase<Context, T>::implementation::complaint(const bounds_view<T>& bounds, std::size_t i) const {
  const vec<T, 3> lower = detail::point_to_host(context, bounds.lower, i);
  const vec<T, 3> upper = detail::point_to_host(context, bounds.upper, i);
  const std::uint32_t group = bounds.groups != nullptr ? to_host(context, bounds.groups + i, 1)[0] : 0;
  const bounds_view<T> alone{points_of(&lower, 1), points_of(&upper, 1), &group};
  const box<T, 3> domain = options.domain.value_or(detail::open_box<T>());
  const std::string name = message("box ", i);
  const std::string corners = " from " + detail::vector_text(lower) + " to " + detail::vector_text(upper);
  switch (detail::place_bounds<T>{alone, domain}.fault_of(0)) {
    case detail::bounds_fault::not_finite:
      return name + corners + " has a corner or a length that is not finite";
    case detail::bounds_fault::upside_down:
      return name + corners + " has a lower corner above its upper one";
    case detail::bounds_fault::group:
      return message(name, " is of group ", group, "; groups are below 32");
    case detail::bounds_fault::too_long:
      return name + detail::too_long_text(domain, detail::half_edges(lower, upper));
    default:
      return name + " was not sound when pairs were looked for";
  }
}

template <typename Context, typename T>
broad_phase<Context, T>::broad_phase(const Context& context, const broad_phase_options<T>& options)
    : implementation_((detail::check_broad_phase_options(detail::contact_demand(context), options),
                       std::make_unique<implementation>(context, options))) {}
template <typename Context, typename T>
broad_phase<Context, T>::broad_phase(broad_phase&&) noexcept = default;
template <typename Context, typename T>
broad_phase<Context, T>& broad_phase<Context, T>::operator=(broad_phase&&) noexcept = default;
template <typename Context, typename T>
broad_phase<Context, T>::~broad_phase() = default;

template <typename Context, typename T>
void broad_phase<Context, T>::build(const bounds_view<T>& bounds) {
  implementation_->build(bounds);
}

template <typename Context, typename T>
candidate_pairs_view broad_phase<Context, T>::view() const {
  const implementation& found = *implementation_;
  using stage = typename implementation::stage;
  require(found.state != stage::empty, "nothing has been built yet; call build first");
  require(found.state != stage::failed, "the last build has failed; build again before using the pairs");
  return {found.pairs.size(), found.pairs.first(), found.pairs.second()};
}

template <typename Context, typename T>
std::string_view broad_phase<Context, T>::method() const {
  return implementation_->search.method();
}

template <typename Context, typename T>
T broad_phase<Context, T>::bin_size() const {
  return implementation_->search.bin_size();
}

template <typename Context, typename T>
std::string_view broad_phase<Context, T>::reason() const {
  return implementation_->search.reason();
}

template <typename Context, typename T>
std::size_t broad_phase<Context, T>::bytes() const {
  return implementation_->search.bytes() + implementation_->pairs.bytes();
}

template class broad_phase<backend_context, float>;
template class broad_phase<backend_context, double>;

}  // namespace quadrat

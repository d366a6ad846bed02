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
  enum class stage { empty, built, enqueued, failed } state = stage::empty;
  bool prepared = false;  ///< the memory of a build exists
  bounds_view<T> last;
  std::uint64_t size = 0;
  detail::search_plan<Context, T> search;
  detail::candidate_pairs<Context, T> pairs;

  void build(const bounds_view<T>& bounds);
  void build_async(const bounds_view<T>& bounds);
  void check();
  void reserve(std::size_t pairs);
  void require_built() const;

 private:
  [[nodiscard]] detail::place_bounds<T> place_functor() const {
    return {last, options.domain.value_or(detail::open_box<T>())};
  }
  void look_and_plan();
  void run_engine();
  void sort();
  [[noreturn]] void fail();
  [[nodiscard]] data_error complaint(std::size_t i) const;
};

template <typename Context, typename T>
void broad_phase<Context, T>::implementation::build(const bounds_view<T>& bounds) {
  state = stage::failed;
  prepared = false;
  detail::check_bounds(bounds);
  last = bounds;
  search.choose(options.method, {bounds.size(), true});
  search.begin(true);
  search.with_bins(
      bounds.size(), options.domain.has_value(), [&] { look_and_plan(); }, [&] { run_engine(); });
  if (search.control().failed()) fail();
  size = bounds.size() > 0 ? search.control().last_read()[detail::search_control<Context>::pairs_word] : 0;
  sort();
  context.synchronize();
  prepared = true;
  state = stage::built;
}

template <typename Context, typename T>
void broad_phase<Context, T>::implementation::build_async(const bounds_view<T>& bounds) {
  detail::check_bounds(bounds);
  require(prepared, "build_async works in the memory of the last build, and there was none, or it failed; call build");
  require(bounds.size() == last.size(), "there are ", bounds.size(), " boxes, but the last build had ", last.size(),
          "; build_async works in the memory of that build: call build");
  state = stage::failed;
  last = bounds;
  search.begin(false);
  run_engine();
  sort();
  state = stage::enqueued;
}

/// Checks the boxes, and chooses bins.
template <typename Context, typename T>
void broad_phase<Context, T>::implementation::look_and_plan() {
  const fault_report fault = search.look(last.size(), place_functor());
  if (fault.kind != fault_kind::none) throw complaint(fault.index);
  search.choose_bins(options.domain, {options.bin_size});
}

template <typename Context, typename T>
void broad_phase<Context, T>::implementation::run_engine() {
  if (last.size() == 0) return pairs.clear(search.control());
  search.placement().place(last.size(), place_functor());
  search.engine().find_pairs(
      {search.placement().all(search.domain()), {search.domain(), detail::group_filter(options.masks), last}, &pairs});
}

template <typename Context, typename T>
void broad_phase<Context, T>::implementation::sort() {
  if (options.sorted || context.reproducibility() == determinism::canonical) pairs.sort(context, last.size());
}

template <typename Context, typename T>
void broad_phase<Context, T>::implementation::reserve(std::size_t count) {
  if (count <= pairs.room()) return;
  state = stage::empty;
  pairs.reserve(context, count);
  if (!prepared) return;
  pairs.take_room();
  sort();
}

template <typename Context, typename T>
void broad_phase<Context, T>::implementation::require_built() const {
  require(state != stage::empty, "nothing has been built yet; call build first");
  require(state != stage::failed, "the last build has failed; build again before using the pairs");
}

template <typename Context, typename T>
void broad_phase<Context, T>::implementation::check() {
  if (state != stage::enqueued) return;
  // A replayed graph may have searched again since the last check.
  size = search.control().read()[detail::search_control<Context>::pairs_word];
  if (search.control().failed()) fail();
}

/// Throws the error recorded in the words of a search.
template <typename Context, typename T>
void broad_phase<Context, T>::implementation::fail() {
  using control = detail::search_control<Context>;
  const std::uint64_t* words = search.control().last_read();
  const std::uint64_t number = words[control::fault_word] >> 8, needed = words[control::needed_word];
  if (number < detail::id_fault_base) throw complaint(number % detail::misfit_fault_base);
  if (number - detail::room_fault_base == control::pairs_word) {
    throw overflow_error(
        message("there are ", needed, " pairs, and room for ", pairs.room(), "; call build, or reserve(", needed, ")"),
        needed);
  }
  throw overflow_error(detail::too_many_entries_text(needed), needed);
}

/// The message about invalid box i, with the accepted values.
template <typename Context, typename T>
data_error broad_phase<Context, T>::implementation::complaint(std::size_t i) const {
  const vec<T, 3> lower = detail::point_to_host(context, last.lower, i);
  const vec<T, 3> upper = detail::point_to_host(context, last.upper, i);
  const std::uint32_t group = last.groups != nullptr ? to_host(context, last.groups + i, 1)[0] : 0;
  const bounds_view<T> alone{points_of(&lower, 1), points_of(&upper, 1), &group};
  const box<T, 3> domain = options.domain.value_or(detail::open_box<T>());
  const std::string name = message("box ", i);
  const std::string corners = " from " + detail::vector_text(lower) + " to " + detail::vector_text(upper);
  switch (detail::place_bounds<T>{alone, domain}.fault_of(0)) {
    case detail::bounds_fault::not_finite:
      return {name + corners + " has a corner or a length that is not finite", i};
    case detail::bounds_fault::upside_down:
      return {name + corners + " has a lower corner above its upper one", i};
    case detail::bounds_fault::group:
      return {message(name, " is of group ", group, "; groups are below 32"), i};
    case detail::bounds_fault::too_long:
      return {name + detail::too_long_text(domain, detail::half_edges(lower, upper)), i};
    default:
      return {name + " does not fit the bins of the last build, in which build_async works; call build", i};
  }
}

template <typename Context, typename T>
broad_phase<Context, T>::broad_phase(const Context& context, const broad_phase_options<T>& options)
    : implementation_((detail::check_broad_phase_options(detail::contact_demand(context), options),
                       std::make_unique<implementation>(context, options))) {}

template <typename Context, typename T>
void broad_phase<Context, T>::build(const bounds_view<T>& bounds) {
  implementation_->build(bounds);
}

template <typename Context, typename T>
void broad_phase<Context, T>::build_async(const bounds_view<T>& bounds) {
  implementation_->build_async(bounds);
}

template <typename Context, typename T>
void broad_phase<Context, T>::check() const {
  implementation_->check();
}

template <typename Context, typename T>
void broad_phase<Context, T>::reserve(std::size_t pairs) {
  implementation_->reserve(pairs);
}

template <typename Context, typename T>
candidate_pairs_view broad_phase<Context, T>::view() const {
  implementation_->check();
  implementation_->require_built();
  const implementation& found = *implementation_;
  return {found.size, found.pairs.first(), found.pairs.second()};
}

template <typename Context, typename T>
candidate_pairs_view_async broad_phase<Context, T>::view_async() const {
  implementation_->require_built();
  const implementation& found = *implementation_;
  return {found.pairs.size().value, found.pairs.room(), found.pairs.first(), found.pairs.second()};
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

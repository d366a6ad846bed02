// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/search/neighbor_list.hpp"

#include "core/backend.hpp"
#include "search/list_build.hpp"
#include "search/list_check.hpp"

namespace quadrat {

template <typename Context, typename T, int D>
neighbor_list<Context, T, D>::neighbor_list(const Context& context, const neighbor_options<T>& options)
    : implementation_(std::make_unique<implementation>(context, options)) {}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::build(const neighbor_input<T, D>& input) {
  implementation_->build(input);
  implementation_->context.synchronize();
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::build_async(const neighbor_input<T, D>& input) {
  implementation_->build_async(input);
}

template <typename Context, typename T, int D>
neighbor_counts neighbor_list<Context, T, D>::count(const neighbor_input<T, D>& input) {
  return implementation_->count(input);
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::reserve(std::size_t pairs) {
  implementation_->reserve(pairs);
}

template <typename Context, typename T, int D>
void neighbor_list<Context, T, D>::check() {
  implementation_->check();
}

template <typename Context, typename T, int D>
bool neighbor_list<Context, T, D>::update(const neighbor_input<T, D>& input) {
  require(implementation_->options.skin > T(0), "the skin is 0; update needs one that is positive");
  if (implementation_->follow(input)) return false;
  build(input);
  return true;
}

template <typename Context, typename T, int D>
neighbor_list_view<T, D> neighbor_list<Context, T, D>::view() const {
  const implementation& list = *implementation_;
  using stage = typename implementation::stage;
  require(list.state != stage::empty, "nothing has been built yet; call build first");
  require(list.state != stage::failed, "the last build has failed; build again before using the list");
  return list.results.view(list.rows);
}

template <typename Context, typename T, int D>
std::uint64_t neighbor_list<Context, T, D>::size() {
  check();
  static_cast<void>(view());
  return implementation_->size;
}

template <typename Context, typename T, int D>
std::string_view neighbor_list<Context, T, D>::method() const {
  return implementation_->method;
}

template <typename Context, typename T, int D>
std::string_view neighbor_list<Context, T, D>::reason() const {
  return implementation_->reason;
}

template <typename Context, typename T, int D>
explanation neighbor_list<Context, T, D>::explanation() const {
  const implementation& list = *implementation_;
  quadrat::explanation result = detail::explain_neighbor_method(list.request, profile_of(list.context));
  result.chosen = list.method;
  result.reason = list.reason;
  result.changes = list.tuner.changes();
  return result;
}

template <typename Context, typename T, int D>
std::size_t neighbor_list<Context, T, D>::bytes() const {
  return implementation_->bytes();
}

template <typename Context, typename T, int D>
const neighbor_options<T>& neighbor_list<Context, T, D>::options() const {
  return implementation_->options;
}

template <typename Context, typename T, int D>
const Context& neighbor_list<Context, T, D>::context() const {
  return implementation_->context;
}

template <typename Context, typename T, int D>
detail::listed_pairs<T, D> neighbor_list<Context, T, D>::pairs() const {
  static_cast<void>(view());
  return implementation_->pairs();
}

template <typename Context, typename T, int D>
detail::pair_memory<Context>& neighbor_list<Context, T, D>::pair_memory() const {
  return implementation_->pair_memory;
}

template class neighbor_list<backend_context, float, 2>;
template class neighbor_list<backend_context, float, 3>;
template class neighbor_list<backend_context, double, 2>;
template class neighbor_list<backend_context, double, 3>;

}  // namespace quadrat

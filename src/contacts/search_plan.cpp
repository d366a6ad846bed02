// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/search_plan.hpp"

#include "contacts/bins/choice.hpp"
#include "contacts/methods.hpp"
#include "core/backend.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
void search_plan<Context, T>::choose(std::string_view asked, const pair_request& request) {
  const method_demand demand = contact_demand(context_);
  // No bodies say nothing of those that follow.
  const bool same =
      trials_.running() ? request.bodies == 0 || request.resembles(request_) : request.asks_the_same(request_);
  if (engine_ != nullptr && same) return;
  trials_.end();
  engine_ = nullptr;
  request_ = request;
  request_.cuda = demand.cuda;
  if constexpr (std::is_same_v<Context, cpu_context>) {
    request_.threads = demand.level == determinism::none ? context_.threads() : usual_threads;
  }
  choice_ = choose_contact_method(demand, asked, request_, profile_of(context_));
  use(choice_.method);
  // Not before contacts have been counted: crowds slow some methods down a hundred times.
  if (asked.empty() && request_.found >= 0 && demand.level == determinism::none && request_.bodies > 0) {
    trials_.begin(contact_times(demand, request_, profile_of(context_)), choice_.method,
                  static_cast<double>(request_.bodies));
  }
}

template <typename Context, typename T>
void search_plan<Context, T>::use(std::string_view method) {
  if (!engines_.contains(method)) {
    contact_method_list::with("contact method", method, [&](auto record) {
      using engine_type = typename decltype(record)::template engine<Context, T>;
      engines_.emplace(method, std::make_unique<engine_type>(context_));
    });
  }
  engine_ = engines_.at(method).get();
  choice_.method = method;
}

template <typename Context, typename T>
void search_plan<Context, T>::plan(const std::optional<box<T, 3>>& domain, const bin_options<T>& options) {
  reason_ = choice_.reason;
  bin_size_ = T(0);
  domain_ = domain.value_or(box<T, 3>{});
  if (placement_.count() == 0) return;
  const center_bounds<T>& bounds = placement_.bounds();
  domain_ = box_for_bins(domain.has_value() ? &*domain : nullptr, bounds.lower, bounds.upper, placement_.sizes());
  take(engine_->plan(bodies(), options));
}

template <typename Context, typename T>
void search_plan<Context, T>::take(const planned_bins<T>& bins) {
  bin_size_ = bins.edge;
  reason_ = choice_.reason + "; " + bins.reason;
}

template <typename Context, typename T>
void search_plan<Context, T>::insert() {
  if (placement_.count() > 0) engine_->insert(bodies());
}

template <typename Context, typename T>
void search_plan<Context, T>::begin_round(std::size_t bodies) {
  if (!trials_.running() || bodies == 0) return;
  const std::string_view method = trials_.next_round(context_, static_cast<double>(bodies));
  use(method);
  tried_ = tried_ || trials_.trying(method);
  if (tried_ && trials_.resting()) {
    std::erase_if(engines_, [method](const auto& one) { return one.first != method; });
    tried_ = false;
  }
  trials_.start(context_);
}

template <typename Context, typename T>
bool search_plan<Context, T>::refuse_round() {
  if (!trials_.trying(choice_.method)) return false;
  trials_.refuse(choice_.method);
  return true;
}

template <typename Context, typename T>
explanation search_plan<Context, T>::explain() const {
  explanation result = explain_contact_method(contact_demand(context_), request_, profile_of(context_));
  result.chosen = choice_.method;
  result.reason = reason_;
  result.changes = trials_.changes();
  return result;
}

template <typename Context, typename T>
std::size_t search_plan<Context, T>::bytes() const {
  std::size_t sum = placement_.bytes();
  for (const auto& [name, engine] : engines_) sum += engine->bytes();
  return sum;
}

template class search_plan<backend_context, float>;
template class search_plan<backend_context, double>;

}  // namespace quadrat::detail

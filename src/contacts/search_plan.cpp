// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/search_plan.hpp"

#include <algorithm>

#include "contacts/bin_choice.hpp"
#include "contacts/methods.hpp"
#include "core/automatic.hpp"
#include "core/backend.hpp"

namespace quadrat::detail {

template <typename Context, typename T>
void search_plan<Context, T>::choose(std::string_view asked, const pair_request& request, bool autotune) {
  const method_demand demand = contact_demand(context_);
  // An empty set says nothing about later bodies.
  const bool same =
      tuner_.active() ? request.bodies == 0 || request.resembles(request_) : request.asks_the_same(request_);
  if (engine_ != nullptr && same) return;
  engine_ = nullptr;
  tuner_.begin({}, 0);
  request_ = request;
  request_.cuda = demand.cuda;
  if constexpr (std::is_same_v<Context, cpu_context>) {
    request_.threads = demand.level == determinism::none ? context_.threads() : usual_threads;
  }
  choice_ = choose_contact_method(demand, asked, request_, profile_of(context_));
  use(choice_.method);
  if (autotune && is_automatic(asked) && request_.found >= 0 && request_.bodies > 0) {
    tuner_.begin(contact_times(demand, request_, profile_of(context_)), static_cast<double>(request_.bodies));
  }
}

template <typename Context, typename T>
void search_plan<Context, T>::use(std::string_view method) {
  if (!engines_.contains(method)) {
    contact_method_list::with("contact method", method, [&](auto descriptor) {
      using method_type = decltype(descriptor);
      if constexpr (of_papers<method_type>) {
        engines_.emplace(method, paper_engine<method_type, contact_engine_maker<Context, T>>(context_));
      } else {
        engines_.emplace(method, std::make_unique<typename method_type::template engine<Context, T>>(context_));
      }
    });
  }
  engine_ = engines_.at(method).get();
  choice_.method = method;
}

/// Sizes may change, so bins are kept only for a number of searches.
template <typename Context, typename T>
bool search_plan<Context, T>::keeps_plan(std::size_t bodies, bool known_domain) {
  constexpr int most_searches = 100;
  const bool about_as_many = bodies > 0 && bodies <= 2 * planned_count_ && planned_count_ <= 2 * bodies;
  return known_domain && planned_ == engine_ && about_as_many && context_.reproducibility() == determinism::none &&
         ++searches_ < most_searches;
}

template <typename Context, typename T>
void search_plan<Context, T>::choose_bins(const std::optional<box<T, 3>>& domain, const bin_options<T>& options) {
  reason_ = choice_.reason;
  bin_size_ = T(0);
  domain_ = domain.value_or(box<T, 3>{});
  if (placement_.count() == 0) return;
  const center_bounds<T>& bounds = placement_.bounds();
  domain_ = box_for_bins(domain.has_value() ? &*domain : nullptr, bounds.lower, bounds.upper, placement_.sizes());
  planned_bins<T> bins = engine_->plan(placement_.all(domain_), options);
  bin_size_ = bins.edge;
  reason_ += "; " + bins.reason;
  plan_limits<T> limits{bins.widest, 2 * bins.widest};
  for (int axis = 0; axis < 3; ++axis) {
    // Bodies outside are in the outermost bins, which only a few bodies may crowd.
    if (domain_.periodic[axis]) continue;
    const T margin = domain_.length[axis] / 16;
    limits.centers.lower[axis] = std::min(domain_.lower[axis], bounds.lower[axis]) - margin;
    limits.centers.upper[axis] = std::max(domain_.upper(axis), bounds.upper[axis]) + margin;
  }
  placement_.set_limits(limits);
  planned_ = engine_;
  planned_count_ = placement_.count();
  searches_ = 0;
}

template <typename Context, typename T>
void search_plan<Context, T>::keep_only_engine() {
  if (planned_ != engine_) planned_ = nullptr;
  std::erase_if(engines_, [this](const auto& one) { return one.second.get() != engine_; });
}

template <typename Context, typename T>
explanation search_plan<Context, T>::explain() const {
  explanation result = explain_contact_method(contact_demand(context_), request_, profile_of(context_));
  result.chosen = choice_.method;
  result.reason = reason_;
  result.changes = tuner_.changes();
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

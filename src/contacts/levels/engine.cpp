// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/levels/engine.hpp"

#include "contacts/levels/cuda/path.hpp"
#include "contacts/levels/plan.hpp"
#include "core/backend.hpp"

namespace quadrat::detail {

namespace {

template <typename T, typename Context>
[[nodiscard]] std::unique_ptr<direct_search<Context, T>> make_direct_search([[maybe_unused]] const Context& context) {
#if defined(__CUDACC__)
  return std::make_unique<warp_path<T>>(context);
#else
  return nullptr;
#endif
}

}  // namespace

template <typename Context, typename T>
levels_engine<Context, T>::levels_engine(const Context& context)
    : one_cell_engine<Context, T>(context), direct_(make_direct_search<T>(context)) {}

template <typename Context, typename T>
planned_bins<T> levels_engine<Context, T>::plan(const placed_bodies<T>& bodies, const bin_options<T>& options) {
  level_plan<T> planned = plan_levels(bodies.domain, *bodies.sizes, options.size);
  this->levels_ = planned.grids;
  return {planned.finest_edge, std::move(planned.reason)};
}

template <typename Context, typename T>
std::size_t levels_engine<Context, T>::bytes() const {
  return one_cell_engine<Context, T>::bytes() + (direct_ != nullptr ? direct_->bytes() : 0);
}

template class levels_engine<backend_context, float>;
template class levels_engine<backend_context, double>;

}  // namespace quadrat::detail

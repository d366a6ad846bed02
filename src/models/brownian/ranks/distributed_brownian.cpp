// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/distributed_brownian.hpp"

#include <tuple>
#include <utility>

#include "core/backend.hpp"
#include "models/brownian/options.hpp"
#include "models/brownian/ranks/share.hpp"
#include "models/ranks/share.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

template <typename Context, typename T>
[[nodiscard]] auto brownian_on_ranks(const Context& context, communicator& ranks, const brownian_options& options,
                                     std::span<const vec<double, 3>> positions) {
  using whole_type = brownian<Context, T>;
  const bool root = ranks.rank() == 0;
  std::unique_ptr<whole_type> whole;
  std::unique_ptr<detail::model_share<whole_type>> share;
  const std::size_t count = all_values(ranks, positions.size())[0];
  brownian_options completed;
  together(ranks, [&] {
    require(root || positions.empty(), "rank ", ranks.rank(), " gives ", positions.size(), " spheres; only rank 0 may");
    completed = detail::completed(options, count, context.reproducibility());
    completed.box = cast<double>(cast<T>(completed.box));
    if (root) whole = std::make_unique<whole_type>(context, options, positions);
  });
  // Makes objects that take part in calls of all.
  share = std::make_unique<detail::spheres_of_rank<Context, T>>(context, ranks, completed, count);
  return std::tuple(completed, count, std::move(share), std::move(whole));
}

}  // namespace

template <typename Context, typename T>
distributed_brownian<Context, T>::distributed_brownian(const Context& context, communicator& ranks,
                                                       const brownian_options& options,
                                                       std::span<const vec<double, 3>> positions)
    : distributed_model<brownian<Context, T>>([&] {
        auto [completed, count, share, whole] = brownian_on_ranks<Context, T>(context, ranks, options, positions);
        using made = typename distributed_model<brownian<Context, T>>::implementation;
        return std::make_unique<made>(context, ranks, completed, count, std::move(share), std::move(whole));
      }()) {}

template <typename Context, typename T>
mobility_report distributed_brownian<Context, T>::mobility() const {
  return static_cast<const detail::spheres_of_rank<Context, T>&>(*this->implementation_->share).mobility();
}

template class distributed_model<brownian<backend_context, float>>;
template class distributed_model<brownian<backend_context, double>>;
template class distributed_brownian<backend_context, float>;
template class distributed_brownian<backend_context, double>;

}  // namespace quadrat

// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/distributed_brownian.hpp"

#include <memory>

#include "core/backend.hpp"
#include "models/brownian/options.hpp"
#include "models/brownian/ranks/spheres_of_rank.hpp"
#include "models/ranks/model_share.hpp"

namespace quadrat {

namespace {

template <typename Context, typename T>
using spheres_steps = detail::ranked_steps<detail::spheres_of_rank<Context, T>>;

template <typename Context, typename T>
[[nodiscard]] auto brownian_on_ranks(const Context& context, communicator& ranks, const brownian_options& options,
                                     std::span<const vec<double, 3>> positions) {
  using whole_type = brownian<Context, T>;
  detail::parts_of_model<whole_type> parts;
  parts.size = all_values(ranks, positions.size())[0];
  together(ranks, [&] {
    parts.options = detail::completed(options, parts.size, context.reproducibility());
    parts.options.box = cast<double>(cast<T>(parts.options.box));
    parts.whole = detail::whole_on_rank_0<whole_type>(ranks, "spheres", positions.size(), context, options, positions);
  });
  // Constructs objects whose calls are collective.
  parts.share = std::make_unique<spheres_steps<Context, T>>(context, ranks, parts.options, parts.size);
  return parts;
}

}  // namespace

template <typename Context, typename T>
distributed_brownian<Context, T>::distributed_brownian(const Context& context, communicator& ranks,
                                                       const brownian_options& options,
                                                       std::span<const vec<double, 3>> positions)
    : distributed_model<brownian<Context, T>>(context, ranks,
                                              brownian_on_ranks<Context, T>(context, ranks, options, positions)) {}

template <typename Context, typename T>
mobility_report distributed_brownian<Context, T>::mobility() const {
  return static_cast<const spheres_steps<Context, T>&>(*this->implementation_->share).model().mobility();
}

template class distributed_model<brownian<backend_context, float>>;
template class distributed_model<brownian<backend_context, double>>;
template class distributed_brownian<backend_context, float>;
template class distributed_brownian<backend_context, double>;

}  // namespace quadrat

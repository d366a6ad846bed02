// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/distributed_granular.hpp"

#include <cmath>
#include <memory>

#include "core/backend.hpp"
#include "core/point_checks.hpp"
#include "models/granular/ranks/grains_of_rank.hpp"
#include "models/granular/ranks/rank_meter.hpp"
#include "models/granular/setup.hpp"
#include "models/ranks/model_share.hpp"
#include "models/storage_order.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

template <typename Context, typename T>
using grains_steps = detail::ranked_steps<detail::grains_of_rank<Context, T>>;

/// The options for one rank of several.
template <typename Context>
[[nodiscard]] granular_options options_of_rank(const Context& context, granular_options options) {
  require(detail::is_automatic(options.method) || options.method == "counting", "the method is ", options.method,
          "; over several ranks it is counting");
  options.method = "counting";
  return detail::completed_options(context, options);
}

[[nodiscard]] double checked_skin(double skin) {
  require(skin >= 0 && std::isfinite(skin), "the skin is ", skin, "; it must be finite and not negative");
  return skin;
}

template <typename Context>
[[nodiscard]] bool overlaps(const communicator& ranks, halo_overlap asked) {
  return asked == halo_overlap::automatic ? detail::worth_hiding_messages<Context>(ranks)
                                          : asked == halo_overlap::always;
}

/// The grains that ranks give, in order of rank.
struct given_grains {
  std::size_t first = 0;  ///< the id of the first of this rank
  std::size_t all = 0;

  given_grains(communicator& ranks, std::size_t mine) {
    const auto counts = all_values(ranks, mine);
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      if (static_cast<int>(rank) < ranks.rank()) first += counts[rank];
      all += counts[rank];
    }
  }
};

template <typename Context, typename T>
[[nodiscard]] auto granular_on_ranks(const Context& context, communicator& ranks, const granular_options& options,
                                     std::span<const vec<double, 3>> positions,
                                     std::span<const vec<double, 3>> velocities, double skin, halo_overlap overlap) {
  detail::parts_of_model<granular<Context, T>> parts;
  const given_grains given(ranks, positions.size());
  together(ranks, [&] {
    detail::require_count(given.all, "grains");
    require(velocities.empty() || velocities.size() == positions.size(), "there are ", positions.size(),
            " positions, but ", velocities.size(), " velocities");
    parts.size = given.all;
    parts.options = options_of_rank(context, options);
    const granular_parameters& parameters = parts.options.parameters;
    const auto setup = detail::make_granular_setup<T>(parts.options, given.all);
    parts.share = std::make_unique<grains_steps<Context, T>>(context, ranks, setup, parameters,
                                                             static_cast<T>(checked_skin(skin) * 2 * parameters.radius),
                                                             overlaps<Context>(ranks, overlap));
    detail::check_grains<double>(detail::box_of_grains(parts.options), positions, velocities, given.first);
    parts.start = detail::first_grains<T>(setup.space.domain, positions, velocities);
  });
  return parts;
}

}  // namespace

template <typename Context, typename T>
distributed_granular<Context, T>::distributed_granular(const Context& context, communicator& ranks,
                                                       const granular_options& options,
                                                       std::span<const vec<double, 3>> positions,
                                                       std::span<const vec<double, 3>> velocities, double skin,
                                                       halo_overlap overlap)
    : distributed_model<granular<Context, T>>(
          context, ranks,
          granular_on_ranks<Context, T>(context, ranks, options, positions, velocities, skin, overlap)) {}

template <typename Context, typename T>
granular_state<T> distributed_granular<Context, T>::share() {
  this->check();
  auto& self = *this->implementation_;
  const auto& grains = static_cast<const grains_steps<Context, T>&>(*self.share).model();
  auto result = detail::grains_by_id(self.context, self.ranks, grains, this->size());
  result.step = this->step();
  return result;
}

template <typename Context, typename T>
void distributed_granular<Context, T>::restore(const granular_state<T>& state) {
  const std::size_t mine = state.positions.size(), size = this->size();
  communicator& ranks = this->implementation_->ranks;
  const given_grains given(ranks, mine);
  together(ranks, [&] {
    require(given.all == size && state.velocities.size() == mine, "the state has ", given.all, " positions and ",
            given.all - mine + state.velocities.size(), " velocities; the simulation has ", size, " grains");
    if (mine == size) detail::check_storage_order(state.storage_order, size, "grain");
  });
  distributed_model<granular<Context, T>>::restore(state);
}

template class distributed_model<granular<backend_context, float>>;
template class distributed_model<granular<backend_context, double>>;
template class distributed_granular<backend_context, float>;
template class distributed_granular<backend_context, double>;

}  // namespace quadrat

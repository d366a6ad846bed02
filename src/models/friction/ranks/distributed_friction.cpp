// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/distributed_friction.hpp"

#include <algorithm>
#include <utility>

#include "core/backend.hpp"
#include "models/friction/options.hpp"
#include "models/friction/ranks/share.hpp"
#include "models/friction/setup.hpp"
#include "models/ranks/share.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

/// What only rank 0 knows before the start.
struct friction_facts {
  std::size_t count;
  double largest_radius;
  double time_step;
  double skin;
};

/// The constants of a run on one rank: radii are those of the grains that it has at the start, on rank 0 all.
template <typename T>
[[nodiscard]] detail::friction_setup<T> setup_of_rank(const granular_friction_options& completed,
                                                      std::span<const double> radii, const friction_facts& facts) {
  auto setup = detail::make_friction_setup<T>(completed, radii);
  if (facts.count > 0) setup.largest_radius = static_cast<T>(facts.largest_radius);
  return setup;
}

template <typename Context, typename T>
[[nodiscard]] auto friction_on_ranks(const Context& context, communicator& ranks,
                                     const granular_friction_options& options, std::span<const double> radii,
                                     std::span<const vec<double, 3>> positions,
                                     std::span<const vec<double, 3>> velocities,
                                     std::span<const vec<double, 3>> angular_velocities) {
  using whole_type = granular_friction<Context, T>;
  const bool root = ranks.rank() == 0;
  std::unique_ptr<whole_type> whole;
  std::unique_ptr<detail::model_share<whole_type>> share;
  friction_facts facts{};
  std::vector<double> radius_of_each;
  together(ranks, [&] {
    require(root || positions.empty(), "rank ", ranks.rank(), " gives ", positions.size(), " grains; only rank 0 may");
    if (!root) return;
    whole = std::make_unique<whole_type>(context, options, radii, positions, velocities, angular_velocities);
    radius_of_each.assign(radii.begin(), radii.end());
    if (radii.size() != positions.size()) radius_of_each.assign(positions.size(), radii[0]);
    facts = {positions.size(), radius_of_each.empty() ? 0 : *std::ranges::max_element(radius_of_each),
             whole->options().time_step, whole->options().skin};
  });
  facts = all_values(ranks, facts)[0];
  granular_friction_options completed = options;
  together(ranks, [&] {
    completed.time_step = facts.time_step;
    completed.skin = facts.skin;
    // Of the checks, those that depend on the smallest grain have been made on rank 0.
    completed = detail::completed(completed, std::span(&facts.largest_radius, facts.count > 0 ? 1 : 0));
    if (root) completed = whole->options();
    share = std::make_unique<detail::friction_share<Context, T>>(
        context, ranks, setup_of_rank<T>(completed, radius_of_each, facts), facts.count);
  });
  return std::tuple(completed, facts.count, std::move(share), std::move(whole));
}

}  // namespace

template <typename Context, typename T>
distributed_friction<Context, T>::distributed_friction(const Context& context, communicator& ranks,
                                                       const granular_friction_options& options,
                                                       std::span<const double> radii,
                                                       std::span<const vec<double, 3>> positions,
                                                       std::span<const vec<double, 3>> velocities,
                                                       std::span<const vec<double, 3>> angular_velocities)
    : distributed_model<granular_friction<Context, T>>([&] {
        auto [completed, count, share, whole] =
            friction_on_ranks<Context, T>(context, ranks, options, radii, positions, velocities, angular_velocities);
        using made = typename distributed_model<granular_friction<Context, T>>::implementation;
        return std::make_unique<made>(context, ranks, completed, count, std::move(share), std::move(whole));
      }()) {}

template class distributed_model<granular_friction<backend_context, float>>;
template class distributed_model<granular_friction<backend_context, double>>;
template class distributed_friction<backend_context, float>;
template class distributed_friction<backend_context, double>;

}  // namespace quadrat

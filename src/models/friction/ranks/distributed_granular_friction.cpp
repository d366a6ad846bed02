// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/distributed_granular_friction.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "core/backend.hpp"
#include "models/friction/options.hpp"
#include "models/friction/ranks/friction_grains_of_rank.hpp"
#include "models/friction/setup.hpp"
#include "models/ranks/model_share.hpp"

namespace quadrat {

namespace {

/// Facts that only rank 0 knows before the start.
struct friction_facts {
  std::size_t count;
  double largest_radius;
  double time_step;
  double skin;
};

/// The constants of a run on one rank. Radii are those of its grains at the start: all on rank 0.
template <typename T>
[[nodiscard]] detail::friction_setup<T> setup_of_rank(const granular_friction_options& completed,
                                                      std::span<const double> radii,
                                                      std::span<const std::uint32_t> materials,
                                                      const friction_facts& facts) {
  auto setup = detail::make_friction_setup<T>(completed, radii, materials);
  if (facts.count > 0) setup.largest_radius = static_cast<T>(facts.largest_radius);
  return setup;
}

template <typename Context, typename T>
[[nodiscard]] auto friction_on_ranks(const Context& context, communicator& ranks,
                                     const granular_friction_options& options, std::span<const double> radii,
                                     std::span<const vec<double, 3>> positions,
                                     std::span<const vec<double, 3>> velocities,
                                     std::span<const vec<double, 3>> angular_velocities,
                                     std::span<const std::uint32_t> materials) {
  using whole_type = granular_friction<Context, T>;
  detail::parts_of_model<whole_type> parts;
  friction_facts facts{};
  std::vector<double> radius_of_each;
  together(ranks, [&] {
    require(options.meshes.empty(), "there are ", options.meshes.size(),
            " meshes; over ranks, grains have walls that are planes: run on one rank");
    parts.whole = detail::whole_on_rank_0<whole_type>(ranks, "grains", positions.size(), context, options, radii,
                                                      positions, velocities, angular_velocities, materials);
    if (parts.whole == nullptr) return;
    radius_of_each.assign(radii.begin(), radii.end());
    if (radii.size() != positions.size()) radius_of_each.assign(positions.size(), radii[0]);
    facts = {positions.size(), radius_of_each.empty() ? 0 : *std::ranges::max_element(radius_of_each),
             parts.whole->options().time_step, parts.whole->options().skin};
  });
  facts = all_values(ranks, facts)[0];
  parts.size = facts.count;
  granular_friction_options& completed = parts.options;
  completed = options;
  together(ranks, [&] {
    completed.time_step = facts.time_step;
    completed.skin = facts.skin;
    // Rank 0 has already made the checks that depend on the smallest grain.
    completed = detail::completed(completed, std::span(&facts.largest_radius, facts.count > 0 ? 1 : 0));
    if (parts.whole != nullptr) completed = parts.whole->options();
    parts.share = std::make_unique<detail::ranked_steps<detail::friction_grains_of_rank<Context, T>>>(
        context, ranks, setup_of_rank<T>(completed, radius_of_each, materials, facts), facts.count);
  });
  return parts;
}

}  // namespace

template <typename Context, typename T>
distributed_granular_friction<Context, T>::distributed_granular_friction(
    const Context& context, communicator& ranks, const granular_friction_options& options,
    std::span<const double> radii, std::span<const vec<double, 3>> positions,
    std::span<const vec<double, 3>> velocities, std::span<const vec<double, 3>> angular_velocities,
    std::span<const std::uint32_t> materials)
    : distributed_model<granular_friction<Context, T>>(
          context, ranks,
          friction_on_ranks<Context, T>(context, ranks, options, radii, positions, velocities, angular_velocities,
                                        materials)) {}

template class distributed_model<granular_friction<backend_context, float>>;
template class distributed_model<granular_friction<backend_context, double>>;
template class distributed_granular_friction<backend_context, float>;
template class distributed_granular_friction<backend_context, double>;

}  // namespace quadrat

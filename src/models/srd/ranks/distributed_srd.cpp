// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/distributed_srd.hpp"

#include <memory>
#include <type_traits>

#include "core/backend.hpp"
#include "distributed/ranks/gathered.hpp"
#include "models/ranks/model_share.hpp"
#include "models/srd/ranks/srd_particles_of_rank.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

/// The model on rank 0, and the facts that the other ranks need to take part.
template <typename Context, typename T, int D>
[[nodiscard]] auto srd_on_ranks(const Context& context, communicator& ranks, const srd_options<D>& options,
                                const srd_particles<D>& particles) {
  using whole_type = srd<Context, T, D>;
  constexpr bool on_cuda = std::is_same_v<Context, cuda_context>;
  detail::parts_of_model<whole_type> parts;
  together(ranks, [&] {
    parts.whole = detail::whole_on_rank_0<whole_type>(ranks, "particles", particles.positions.size(), context, options,
                                                      particles);
  });
  parts.size = all_values(ranks, particles.positions.size())[0];
  const std::vector<double> masses = detail::given_by_rank_0(ranks, particles.solute_masses);
  together(ranks, [&] {
    const std::size_t fluid = parts.size - masses.size();
    parts.options = detail::completed(options, fluid, context.reproducibility(), on_cuda);
    parts.share = std::make_unique<detail::ranked_steps<detail::srd_particles_of_rank<Context, T, D>>>(
        context, ranks, parts.options, fluid, masses);
  });
  return parts;
}

}  // namespace

template <typename Context, typename T, int D>
distributed_srd<Context, T, D>::distributed_srd(const Context& context, communicator& ranks,
                                                const srd_options<D>& options, const srd_particles<D>& particles)
    : distributed_model<srd<Context, T, D>>(context, ranks,
                                            srd_on_ranks<Context, T, D>(context, ranks, options, particles)) {}

template class distributed_model<srd<backend_context, float, 2>>;
template class distributed_model<srd<backend_context, float, 3>>;
template class distributed_model<srd<backend_context, double, 2>>;
template class distributed_model<srd<backend_context, double, 3>>;
template class distributed_srd<backend_context, float, 2>;
template class distributed_srd<backend_context, float, 3>;
template class distributed_srd<backend_context, double, 2>;
template class distributed_srd<backend_context, double, 3>;

}  // namespace quadrat

// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/distributed_srd.hpp"

#include <type_traits>
#include <utility>

#include "core/backend.hpp"
#include "distributed/ranks/gathered.hpp"
#include "models/ranks/share.hpp"
#include "models/srd/ranks/share.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

/// The model on rank 0, and what the others must know to take part.
template <typename Context, typename T, int D>
[[nodiscard]] auto srd_on_ranks(const Context& context, communicator& ranks, const srd_options<D>& options,
                                const srd_particles<D>& particles) {
  using whole_type = srd<Context, T, D>;
  constexpr bool on_cuda = std::is_same_v<Context, cuda_context>;
  std::unique_ptr<whole_type> whole;
  std::unique_ptr<detail::model_share<whole_type>> share;
  together(ranks, [&] {
    const bool root = ranks.rank() == 0;
    require(root || particles.positions.empty(), "rank ", ranks.rank(), " gives ", particles.positions.size(),
            " particles; only rank 0 may");
    if (root) whole = std::make_unique<whole_type>(context, options, particles);
  });
  const std::size_t count = all_values(ranks, particles.positions.size())[0];
  const std::vector<double> masses = detail::given_by_rank_0(ranks, particles.solute_masses);
  srd_options<D> completed;
  together(ranks, [&] {
    const std::size_t fluid = count - masses.size();
    completed = detail::completed(options, fluid, context.reproducibility(), on_cuda);
    share = std::make_unique<detail::srd_share<Context, T, D>>(context, ranks, completed, fluid, masses);
  });
  return std::tuple(completed, count, std::move(share), std::move(whole));
}

}  // namespace

template <typename Context, typename T, int D>
distributed_srd<Context, T, D>::distributed_srd(const Context& context, communicator& ranks,
                                                const srd_options<D>& options, const srd_particles<D>& particles)
    : distributed_model<srd<Context, T, D>>([&] {
        auto [completed, count, share, whole] = srd_on_ranks<Context, T, D>(context, ranks, options, particles);
        using made = typename distributed_model<srd<Context, T, D>>::implementation;
        return std::make_unique<made>(context, ranks, completed, count, std::move(share), std::move(whole));
      }()) {}

template class distributed_model<srd<backend_context, float, 2>>;
template class distributed_model<srd<backend_context, float, 3>>;
template class distributed_model<srd<backend_context, double, 2>>;
template class distributed_model<srd<backend_context, double, 3>>;
template class distributed_srd<backend_context, float, 2>;
template class distributed_srd<backend_context, float, 3>;
template class distributed_srd<backend_context, double, 2>;
template class distributed_srd<backend_context, double, 3>;

}  // namespace quadrat

// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/distributed_electrolyte.hpp"

#include <tuple>
#include <utility>

#include "core/backend.hpp"
#include "models/electrolyte/options.hpp"
#include "models/electrolyte/ranks/share.hpp"
#include "models/electrolyte/setup.hpp"
#include "models/ranks/share.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

/// What only rank 0 knows before the start.
struct electrolyte_facts {
  bool spme, esp;
  ewald_parameters parameters;
};

template <typename Context, typename T>
[[nodiscard]] auto electrolyte_on_ranks(const Context& context, communicator& ranks, const electrolyte_options& options,
                                        const electrolyte_particles& particles) {
  using whole_type = electrolyte<Context, T>;
  const bool root = ranks.rank() == 0;
  std::unique_ptr<whole_type> whole;
  std::unique_ptr<detail::model_share<whole_type>> share;
  electrolyte_facts facts{};
  together(ranks, [&] {
    require(root || particles.positions.empty(), "rank ", ranks.rank(), " gives ", particles.positions.size(),
            " ions; only rank 0 may");
    detail::check_electrolyte(options);
    if (!root) return;
    whole = std::make_unique<whole_type>(context, options, particles);
    const electrostatics_report& report = whole->report();
    facts = {report.method == "spme", report.method == "esp", report.parameters};
  });
  facts = all_values(ranks, facts)[0];
  electrostatics_options sums = detail::electrolyte_sums_of(options);
  if (facts.spme || facts.esp) {
    sums.method = facts.spme ? "spme" : "esp";
    sums.parameters = facts.parameters;
  }
  // Makes objects that take part in calls of all.
  share = std::make_unique<detail::ions_of_rank<Context, T>>(context, ranks, options, sums);
  return std::tuple(options, detail::ions_of(options), std::move(share), std::move(whole));
}

}  // namespace

template <typename Context, typename T>
distributed_electrolyte<Context, T>::distributed_electrolyte(const Context& context, communicator& ranks,
                                                             const electrolyte_options& options,
                                                             const electrolyte_particles& particles)
    : distributed_model<electrolyte<Context, T>>([&] {
        auto [completed, count, share, whole] = electrolyte_on_ranks<Context, T>(context, ranks, options, particles);
        using made = typename distributed_model<electrolyte<Context, T>>::implementation;
        return std::make_unique<made>(context, ranks, completed, count, std::move(share), std::move(whole));
      }()) {}

template <typename Context, typename T>
const electrostatics_report& distributed_electrolyte<Context, T>::sums() const {
  return static_cast<const detail::ions_of_rank<Context, T>&>(*this->implementation_->share).sums();
}

template class distributed_model<electrolyte<backend_context, float>>;
template class distributed_model<electrolyte<backend_context, double>>;
template class distributed_electrolyte<backend_context, float>;
template class distributed_electrolyte<backend_context, double>;

}  // namespace quadrat

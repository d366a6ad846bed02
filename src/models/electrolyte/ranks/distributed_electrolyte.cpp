// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/distributed_electrolyte.hpp"

#include <memory>

#include "core/backend.hpp"
#include "models/electrolyte/options.hpp"
#include "models/electrolyte/ranks/ions_of_rank.hpp"
#include "models/electrolyte/setup.hpp"
#include "models/ranks/model_share.hpp"

namespace quadrat {

namespace {

template <typename Context, typename T>
using ions_steps = detail::ranked_steps<detail::ions_of_rank<Context, T>>;

/// Facts that only rank 0 knows before the start.
struct electrolyte_facts {
  bool spme, esp;
  ewald_parameters parameters;
};

template <typename Context, typename T>
[[nodiscard]] auto electrolyte_on_ranks(const Context& context, communicator& ranks, const electrolyte_options& options,
                                        const electrolyte_particles& particles) {
  using whole_type = electrolyte<Context, T>;
  detail::parts_of_model<whole_type> parts{options, detail::ions_of(options)};
  electrolyte_facts facts{};
  together(ranks, [&] {
    detail::check_electrolyte(options);
    parts.whole =
        detail::whole_on_rank_0<whole_type>(ranks, "ions", particles.positions.size(), context, options, particles);
    if (parts.whole == nullptr) return;
    const electrostatics_report& report = parts.whole->report();
    facts = {report.method == "spme", report.method == "esp", report.parameters};
  });
  facts = all_values(ranks, facts)[0];
  electrostatics_options sums = detail::electrolyte_sums_of(options);
  if (facts.spme || facts.esp) {
    sums.method = facts.spme ? "spme" : "esp";
    sums.parameters = facts.parameters;
  }
  // Constructs objects whose calls are collective.
  parts.share = std::make_unique<ions_steps<Context, T>>(context, ranks, options, sums);
  return parts;
}

}  // namespace

template <typename Context, typename T>
distributed_electrolyte<Context, T>::distributed_electrolyte(const Context& context, communicator& ranks,
                                                             const electrolyte_options& options,
                                                             const electrolyte_particles& particles)
    : distributed_model<electrolyte<Context, T>>(
          context, ranks, electrolyte_on_ranks<Context, T>(context, ranks, options, particles)) {}

template <typename Context, typename T>
const electrostatics_report& distributed_electrolyte<Context, T>::sums() const {
  return static_cast<const ions_steps<Context, T>&>(*this->implementation_->share).model().sums();
}

template class distributed_model<electrolyte<backend_context, float>>;
template class distributed_model<electrolyte<backend_context, double>>;
template class distributed_electrolyte<backend_context, float>;
template class distributed_electrolyte<backend_context, double>;

}  // namespace quadrat

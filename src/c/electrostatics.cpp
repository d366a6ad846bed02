// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/ewald/electrostatics.hpp"

#include "c/arrays.hpp"
#include "core/backend.hpp"

struct quadrat_electrostatics : quadrat::c::handle {
  virtual void compute(const quadrat_ewald_input& input, const quadrat_ewald_output& output, bool wait) = 0;
  virtual void check() = 0;
  [[nodiscard]] virtual quadrat_ewald_report report() = 0;
};

namespace quadrat::c {

using electrostatics_handle = std::unique_ptr<quadrat_electrostatics>;
electrostatics_handle make_sums(const cpu_context& context, const quadrat_ewald_options& options);
electrostatics_handle make_sums(const cuda_context& context, const quadrat_ewald_options& options);

namespace {

[[nodiscard]] electrostatics_options electrostatics_options_of(const quadrat_ewald_options& given) {
  electrostatics_options result;
  result.law = numbered(given.law, pair_law::dispersion, "law");
  result.method = text_of(given.method);
  result.accuracy = or_default(given.accuracy, result.accuracy);
  result.coulomb_constant = or_default(given.coulomb_constant, result.coulomb_constant);
  result.parameters = {given.cutoff, given.splitting, {given.mesh[0], given.mesh[1], given.mesh[2]}, given.order};
  result.parts = numbered(given.parts, ewald_parts::long_range, "parts");
  result.remove_net_force = given.remove_net_force != 0;
  return result;
}

template <typename Context, typename T>
class electrostatics_on final : public quadrat_electrostatics {
 public:
  electrostatics_on(const Context& context, const quadrat_ewald_options& options)
      : context_(context), sums_(context, electrostatics_options_of(options)) {}

  void compute(const quadrat_ewald_input& given, const quadrat_ewald_output& wanted, bool wait) override {
    const electrostatics_input<T> input = input_of(given, wait);
    electrostatics_output<T> output;
    output.forces = results_in<vec<T, 3>>(context_, wanted.forces, 0, "forces");
    output.potentials = results_in<T>(context_, wanted.potentials, 0, "potentials");
    output.energies = results_in<T>(context_, wanted.energies, 0, "energies");
    output.energy = results_in<double>(context_, wanted.energy, 0, "energy");
    output.virial = results_in<double>(context_, wanted.virial, 0, "virial");
    if (!wait) return sums_.compute_async(input, output);
    sums_.compute(input, output);
    context_.synchronize();
    computed_ = true;
  }
  void check() override { sums_.check(); }

  [[nodiscard]] quadrat_ewald_report report() override {
    const electrostatics_report& found = sums_.report();
    const ewald_parameters& chosen = found.parameters;
    return {0,
            chosen.cutoff,
            chosen.splitting,
            {chosen.mesh[0], chosen.mesh[1], chosen.mesh[2]},
            chosen.order,
            found.error,
            found.energy_error,
            found.virial_error};
  }
  [[nodiscard]] quadrat_info info() override {
    quadrat_info result = info_of(sums_);
    if (!computed_) return result;
    method_ = sums_.report().method;
    reason_ = sums_.report().reason;
    result.method = method_.c_str();
    result.reason = reason_.c_str();
    return result;
  }

 private:
  [[nodiscard]] electrostatics_input<T> input_of(const quadrat_ewald_input& given, bool wait) {
    cells_ = lattices_of<T, 3>(given.cells, "cells");
    require_array(given.scaled_pairs, given.scaled_pair_count, "scaled_pairs");
    pairs_.clear();
    for (std::size_t p = 0; p < given.scaled_pair_count; ++p) {
      const quadrat_scaled_pair& pair = given.scaled_pairs[p];
      pairs_.push_back({pair.first, pair.second, pair.scale});
    }
    electrostatics_input<T> input;
    input.points = points_in<T, 3>(context_, given.points);
    input.charges = array_of<T>(context_, given.charges, given.points.count, "charges");
    input.cells = cells_;
    input.system_of_point = systems_.of(context_, given.system_of_point, given.points.count, "system_of_point", wait);
    input.scaled_pairs = pairs_;
    return input;
  }

  Context context_;
  bool computed_ = false;
  std::string method_, reason_;
  std::vector<lattice<T, 3>> cells_;
  std::vector<scaled_pair> pairs_;
  index_array<Context> systems_;
  electrostatics<Context, T> sums_;
};

}  // namespace

electrostatics_handle make_sums(const backend_context& context, const quadrat_ewald_options& options) {
  return with_number_type(options.type, [&](auto t) -> electrostatics_handle {
    return std::make_unique<electrostatics_on<backend_context, decltype(t)>>(context, options);
  });
}

#if QUADRAT_BACKEND_CPU

static int compute_sums(quadrat_electrostatics* sums, const quadrat_ewald_input* input,
                        const quadrat_ewald_output* output, bool wait) {
  return with(sums, [&](auto& one) {
    one.compute(taken(input, offsetof(quadrat_ewald_input, system_of_point), "input"),
                taken(output, offsetof(quadrat_ewald_output, forces), "output"), wait);
  });
}

extern "C" {

int quadrat_electrostatics_create(quadrat_context* context, const quadrat_ewald_options* options,
                                  quadrat_electrostatics** sums) {
  return create(context, sums, [&](const auto& backend) {
    return make_sums(backend, taken(options, offsetof(quadrat_ewald_options, law), "options"));
  });
}
void quadrat_electrostatics_destroy(quadrat_electrostatics* sums) { destroy(sums); }
int quadrat_electrostatics_compute(quadrat_electrostatics* sums, const quadrat_ewald_input* input,
                                   const quadrat_ewald_output* output) {
  return compute_sums(sums, input, output, true);
}
int quadrat_electrostatics_compute_async(quadrat_electrostatics* sums, const quadrat_ewald_input* input,
                                         const quadrat_ewald_output* output) {
  return compute_sums(sums, input, output, false);
}
int quadrat_electrostatics_check(quadrat_electrostatics* sums) {
  return with(sums, [](auto& one) { one.check(); });
}
int quadrat_electrostatics_report(quadrat_electrostatics* sums, quadrat_ewald_report* report) {
  return with(sums, [&](auto& one) { give(one.report(), report, "report"); });
}
int quadrat_electrostatics_info(quadrat_electrostatics* sums, quadrat_info* to) { return info(sums, to); }

}  // extern "C"

#endif

}  // namespace quadrat::c

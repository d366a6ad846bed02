// SPDX-License-Identifier: BSD-3-Clause
#include <complex>
#include <optional>

#include "instances.hpp"
#include "quadrat/ewald/electrostatics.hpp"
#include "quadrat/keyed/key_reducer.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "quadrat/spectral/nufft_target_plan.hpp"
#include "worker.hpp"

namespace quadrat::python {

namespace {

/// A worker with a plan that points are set in. All that it does can be captured in a CUDA graph.
template <typename Interface, typename Context, template <typename, typename, int> typename Plan, typename T, int D>
class plan_worker : public worker_on<Interface, Context> {
 public:
  using worker_on<Interface, Context>::worker_on;

  void set_points(const points_given& points) final {
    [[maybe_unused]] const auto visit = this->enter();
    if (this->captured()) {
      plan_->set_points_async(view_of<T, D>(points));
    } else {
      plan_->set_points(view_of<T, D>(points));
    }
    this->finish();  // the caller may free or change the points from here on
  }
  void check() final {
    [[maybe_unused]] const auto visit = this->enter();
    plan_->check();
  }
  [[nodiscard]] std::size_t points() const final { return plan_->point_count(); }

 protected:
  [[nodiscard]] bool can_be_captured() const final { return true; }

  std::optional<Plan<Context, T, D>> plan_;
};

template <typename Context, typename T, int D>
class spreading_on final : public plan_worker<spreading, Context, spread_plan, T, D> {
  using base = plan_worker<spreading, Context, spread_plan, T, D>;
  using base::plan_;

 public:
  spreading_on(const place& where, const spread_settings& settings) : base(where) {
    [[maybe_unused]] const auto visit = this->enter();
    box<T, D> domain{};
    vec<int, D> extents{};
    spread_options options;
    for (int axis = 0; axis < D; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      domain.lower[axis] = static_cast<T>(settings.lower[a]);
      domain.length[axis] = static_cast<T>(settings.length[a]);
      domain.periodic[axis] = settings.periodic[a] != 0;
      options.exact_lengths[axis] = settings.length[a];
      extents[axis] = settings.mesh[a];
    }
    options.method = settings.method;
    options.uses = settings.uses;
    options.autotune = settings.autotune;
    options.clip = settings.clip;
    options.accept_outside = settings.accept_outside;
    if (settings.both_ends) options.ends = open_ends::both;
    plan_.emplace(this->context(), domain, extents, settings.order, options);
  }

  void spread(const void* values, bool complex, int vectors, void* mesh) override {
    run(values, complex, mesh, [&](auto from, auto to) { plan_->spread_async(from, to, mesh_call{vectors, false}); });
  }
  void interpolate(const void* mesh, bool complex, int vectors, void* values) override {
    run(mesh, complex, values, [&](auto from, auto to) {
      plan_->interpolate_async(from, to, mesh_call{vectors, false});
    });
  }
  void gradient(const void* mesh, bool complex, int vectors, void* gradients) override {
    run(mesh, complex, gradients, [&](auto from, auto to) {
      plan_->interpolate_gradient_async(from, to, mesh_call{vectors, false});
    });
  }
  [[nodiscard]] std::string method() const override { return std::string(plan_->method()); }

 private:
  template <typename Call>
  void run(const void* from, bool complex, void* to, const Call& call) {
    using value = std::complex<T>;
    [[maybe_unused]] const auto visit = this->enter();
    if (complex) {
      call(static_cast<const value*>(from), static_cast<value*>(to));
    } else {
      call(static_cast<const T*>(from), static_cast<T*>(to));
    }
    this->finish();
  }
};

template <typename Context, typename T, int D>
class transform_on final : public plan_worker<transform, Context, nufft_plan, T, D> {
  using base = plan_worker<transform, Context, nufft_plan, T, D>;
  using base::plan_;

 public:
  transform_on(const place& where, const transform_settings& settings) : base(where), real_(settings.real) {
    [[maybe_unused]] const auto visit = this->enter();
    nufft_options options;
    options.values = real_ ? nufft_values::real : nufft_values::complex;
    options.order = settings.centered ? mode_order::centered : mode_order::fft;
    options.oversampling = settings.oversampling;
    options.method = settings.method;
    vec<int, D> numbers{};
    for (int axis = 0; axis < D; ++axis) {
      numbers[axis] = settings.modes[static_cast<std::size_t>(axis)];
      options.period[axis] = settings.period[static_cast<std::size_t>(axis)];
    }
    plan_.emplace(this->context(), numbers, settings.tolerance, options);
  }

  void type_1(const void* values, int vectors, int sign, void* modes) override {
    [[maybe_unused]] const auto visit = this->enter();
    const nufft_call call{vectors, sign};
    auto* const to = static_cast<complex*>(modes);
    if (real_) {
      plan_->type_1_async(static_cast<const T*>(values), to, call);
    } else {
      plan_->type_1_async(static_cast<const complex*>(values), to, call);
    }
    this->finish();
  }
  void type_2(const void* modes, int vectors, int sign, void* values) override {
    [[maybe_unused]] const auto visit = this->enter();
    const nufft_call call{vectors, sign};
    const auto* const from = static_cast<const complex*>(modes);
    if (real_) {
      plan_->type_2_async(from, static_cast<T*>(values), call);
    } else {
      plan_->type_2_async(from, static_cast<complex*>(values), call);
    }
    this->finish();
  }
  [[nodiscard]] double error_bound() const override { return plan_->error_bound(); }

 private:
  using complex = std::complex<T>;
  bool real_;
};

template <typename Context, typename T>
class ewald_on final : public worker_on<ewald_sums, Context> {
 public:
  ewald_on(const place& where, const electrostatics_options& options)
      : worker_on<ewald_sums, Context>(where), sums_(this->context(), options) {}

  void compute(const points_given& points, const void* charges, const boxes_given& cells, const integers& systems,
               const std::vector<scaled_pair>& pairs, const ewald_results& results) override {
    [[maybe_unused]] const auto visit = this->enter();
    const std::vector<lattice<T, 3>> shapes = lattices_of<T, 3>(cells);
    electrostatics_input<T> input;
    input.points = view_of<T, 3>(points);
    input.charges = static_cast<const T*>(charges);
    input.cells = shapes;
    input.system_of_point = systems_.of(this->context(), systems);
    input.scaled_pairs = pairs;
    electrostatics_output<T> output;
    output.energy = static_cast<double*>(results.energy);
    output.forces = static_cast<vec<T, 3>*>(results.forces);
    output.potentials = static_cast<T*>(results.potentials);
    output.virial = static_cast<double*>(results.virial);
    sums_.compute(input, output);
    this->context().synchronize();
  }
  [[nodiscard]] electrostatics_report report() const override { return sums_.report(); }

 private:
  index_array<Context> systems_;
  electrostatics<Context, T> sums_;
};

template <typename Call>
void with_key_type(number type, const Call& call) {
  if (type == number::int32) return call(std::int32_t{});
  if (type == number::uint32) return call(std::uint32_t{});
  if (type == number::int64) return call(std::int64_t{});
  call(std::uint64_t{});
}

template <typename Call>
void with_value_type(number type, const Call& call) {
  if (type == number::int32) return call(std::int32_t{});
  if (type == number::int64) return call(std::int64_t{});
  if (type == number::float32) return call(float{});
  call(double{});
}

}  // namespace

template <typename Context>
std::unique_ptr<spreading> make_spreading(const place& where, bool wide, const spread_settings& settings) {
  const auto dimension = static_cast<int>(settings.mesh.size());
  return with_instance<1>(wide, dimension, [&](auto t, auto d) -> std::unique_ptr<spreading> {
    return std::make_unique<spreading_on<Context, decltype(t), d.value>>(where, settings);
  });
}

template <typename Context>
std::unique_ptr<transform> make_transform(const place& where, bool wide, const transform_settings& settings) {
  const auto dimension = static_cast<int>(settings.modes.size());
  return with_instance<1>(wide, dimension, [&](auto t, auto d) -> std::unique_ptr<transform> {
    return std::make_unique<transform_on<Context, decltype(t), d.value>>(where, settings);
  });
}

template <typename Context>
std::unique_ptr<ewald_sums> make_ewald(const place& where, bool wide, const electrostatics_options& options) {
  if (wide) return std::make_unique<ewald_on<Context, double>>(where, options);
  return std::make_unique<ewald_on<Context, float>>(where, options);
}

template <typename Context>
void transform_to_targets(const Context& context, bool wide, int dimension, const points_given& points,
                          const points_given& targets, const void* values, int vectors, double tolerance, int sign,
                          void* results) {
  with_instance<1>(wide, dimension, [&](auto t, auto d) {
    using T = decltype(t);
    using complex = std::complex<T>;
    constexpr int D = d.value;
    nufft_target_plan<Context, T, D> plan(context, tolerance);
    plan.set_points(view_of<T, D>(points), view_of<T, D>(targets));
    plan.type_3_async(static_cast<const complex*>(values), static_cast<complex*>(results), {vectors, sign});
    context.synchronize();
  });
}

template <typename Context>
void reduce_keys(const Context& context, const reduction& wanted, void* results) {
  key_reducer_options options;
  options.method = wanted.method;
  options.compensated = wanted.compensated;
  with_key_type(wanted.key_type, [&](auto key) {
    const auto* const keys = static_cast<const decltype(key)*>(wanted.keys);
    if (wanted.values == nullptr) {
      key_reducer<Context> reducer(context, wanted.key_count, options);
      reducer.set_keys(keys, wanted.count);
      reducer.count(static_cast<std::uint64_t*>(results));
      return;
    }
    with_value_type(wanted.value_type, [&](auto value) {
      using T = decltype(value);
      reduce_by_key<Context, decltype(key), T>(
          context, keys, packed_values(static_cast<const T*>(wanted.values), wanted.count, wanted.components),
          packed_values(static_cast<T*>(results), static_cast<std::size_t>(wanted.key_count), wanted.components),
          static_cast<key_operation>(wanted.operation), options);
    });
  });
}

template std::unique_ptr<spreading> make_spreading<built_context>(const place&, bool, const spread_settings&);
template std::unique_ptr<transform> make_transform<built_context>(const place&, bool, const transform_settings&);
template std::unique_ptr<ewald_sums> make_ewald<built_context>(const place&, bool, const electrostatics_options&);
template void transform_to_targets(const built_context&, bool, int, const points_given&, const points_given&,
                                   const void*, int, double, int, void*);
template void reduce_keys(const built_context&, const reduction&, void*);

}  // namespace quadrat::python

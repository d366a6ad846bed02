// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/spectral/nufft_plan.hpp"

#include <complex>

#include "c/arrays.hpp"
#include "c/nufft.hpp"
#include "core/backend.hpp"

struct quadrat_nufft_plan : quadrat::c::handle {
  virtual void set_points(const quadrat_points* points, const quadrat_integers* system_of_point, bool wait) = 0;
  virtual void check() = 0;
  virtual void type_1(const void* values, void* modes, const quadrat_nufft_call& call, bool wait) = 0;
  virtual void type_2(const void* modes, void* values, const quadrat_nufft_call& call, bool wait) = 0;
  virtual void density_weights(void* weights, int iterations, double tolerance) = 0;
  [[nodiscard]] virtual double error_bound() = 0;
};

namespace quadrat::c {

using nufft_plan_handle = std::unique_ptr<quadrat_nufft_plan>;
nufft_plan_handle make_nufft(const cpu_context& context, const quadrat_nufft_options& options);
nufft_plan_handle make_nufft(const cuda_context& context, const quadrat_nufft_options& options);

namespace {

template <typename Context, typename T, int D>
class nufft_plan_on final : public quadrat_nufft_plan {
  using complex = std::complex<T>;

 public:
  nufft_plan_on(const Context& context, const quadrat_nufft_options& options)
      : context_(context),
        real_(options.real != 0),
        plan_(context, modes_of<D>(options), options.tolerance, nufft_options_of(options)) {}

  void set_points(const quadrat_points* points, const quadrat_integers* system_of_point, bool wait) override {
    const auto places = points_at<T, D>(context_, points);
    const std::uint32_t* const numbers = systems_.of(context_, system_of_point, places.count, "system_of_point", wait);
    wait ? plan_.set_points(places, numbers) : plan_.set_points_async(places, numbers);
    if (wait) context_.synchronize();  // the caller may free or change the points from here on
  }
  void check() override { plan_.check(); }

  void type_1(const void* values, void* modes, const quadrat_nufft_call& call, bool wait) override {
    complex* const to = results_in<complex>(context_, modes, plan_.mode_count(), "modes");
    with_values([&](auto value) {
      using V = decltype(value);
      plan_.type_1_async(array_of<V>(context_, values, plan_.point_count(), "values"), to, how(call));
    });
    if (wait) plan_.check();
  }
  void type_2(const void* modes, void* values, const quadrat_nufft_call& call, bool wait) override {
    const complex* const from = array_of<complex>(context_, modes, plan_.mode_count(), "modes");
    with_values([&](auto value) {
      using V = decltype(value);
      plan_.type_2_async(from, results_in<V>(context_, values, plan_.point_count(), "values"), how(call));
    });
    if (wait) plan_.check();
  }
  void density_weights(void* weights, int iterations, double tolerance) override {
    density_options options;
    options.iterations = or_default(iterations, options.iterations);
    options.tolerance = or_default(tolerance, options.tolerance);
    static_cast<void>(plan_.density_weights(results_in<T>(context_, weights, plan_.point_count(), "weights"), options));
    context_.synchronize();
  }
  [[nodiscard]] double error_bound() override { return plan_.error_bound(); }
  [[nodiscard]] quadrat_info info() override { return info_of(plan_); }

 private:
  [[nodiscard]] static nufft_call how(const quadrat_nufft_call& call) {
    return {or_default(call.vectors, 1), call.sign};
  }
  template <typename Call>
  void with_values(const Call& call) {
    real_ ? call(T{}) : call(complex{});
  }

  Context context_;
  bool real_;
  index_array<Context> systems_;
  nufft_plan<Context, T, D> plan_;
};

}  // namespace

nufft_plan_handle make_nufft(const backend_context& context, const quadrat_nufft_options& options) {
  return with_instance<1>(options.type, options.dimension, [&](auto t, auto d) -> nufft_plan_handle {
    return std::make_unique<nufft_plan_on<backend_context, decltype(t), d.value>>(context, options);
  });
}

#if QUADRAT_BACKEND_CPU

extern "C" {

int quadrat_nufft_plan_create(quadrat_context* context, const quadrat_nufft_options* options,
                              quadrat_nufft_plan** plan) {
  return create(context, plan, [&](const auto& backend) {
    return make_nufft(backend, taken(options, offsetof(quadrat_nufft_options, real), "options"));
  });
}
void quadrat_nufft_plan_destroy(quadrat_nufft_plan* plan) { destroy(plan); }
int quadrat_nufft_plan_set_points(quadrat_nufft_plan* plan, const quadrat_points* points,
                                  const quadrat_integers* system_of_point) {
  return with(plan, [&](auto& one) { one.set_points(points, system_of_point, true); });
}
int quadrat_nufft_plan_set_points_async(quadrat_nufft_plan* plan, const quadrat_points* points,
                                        const quadrat_integers* system_of_point) {
  return with(plan, [&](auto& one) { one.set_points(points, system_of_point, false); });
}
int quadrat_nufft_plan_check(quadrat_nufft_plan* plan) {
  return with(plan, [](auto& one) { one.check(); });
}
int quadrat_nufft_plan_type_1(quadrat_nufft_plan* plan, const void* values, void* modes,
                              const quadrat_nufft_call* call) {
  return with(plan, [&](auto& one) { one.type_1(values, modes, taken_or_default(call, "call"), true); });
}
int quadrat_nufft_plan_type_1_async(quadrat_nufft_plan* plan, const void* values, void* modes,
                                    const quadrat_nufft_call* call) {
  return with(plan, [&](auto& one) { one.type_1(values, modes, taken_or_default(call, "call"), false); });
}
int quadrat_nufft_plan_type_2(quadrat_nufft_plan* plan, const void* modes, void* values,
                              const quadrat_nufft_call* call) {
  return with(plan, [&](auto& one) { one.type_2(modes, values, taken_or_default(call, "call"), true); });
}
int quadrat_nufft_plan_type_2_async(quadrat_nufft_plan* plan, const void* modes, void* values,
                                    const quadrat_nufft_call* call) {
  return with(plan, [&](auto& one) { one.type_2(modes, values, taken_or_default(call, "call"), false); });
}
int quadrat_nufft_plan_density_weights(quadrat_nufft_plan* plan, void* weights, int iterations, double tolerance) {
  return with(plan, [&](auto& one) { one.density_weights(weights, iterations, tolerance); });
}
int quadrat_nufft_plan_error_bound(quadrat_nufft_plan* plan, double* bound) {
  return with(plan, [&](auto& one) {
    require(bound != nullptr, "the pointer to the bound is null");
    *bound = one.error_bound();
  });
}
int quadrat_nufft_plan_info(quadrat_nufft_plan* plan, quadrat_info* to) { return info(plan, to); }

}  // extern "C"

#endif

}  // namespace quadrat::c

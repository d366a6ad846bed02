// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/spectral/nufft_target_plan.hpp"

#include <complex>

#include "c/arrays.hpp"
#include "core/backend.hpp"

struct quadrat_nufft_target_plan : quadrat::c::handle {
  virtual void set_points(const quadrat_points* points, const quadrat_points* targets, bool wait) = 0;
  virtual void check() = 0;
  virtual void type_3(const void* values, void* results, const quadrat_nufft_call& call, bool wait) = 0;
  [[nodiscard]] virtual double error_bound() = 0;
};

namespace quadrat::c {

using nufft_target_plan_handle = std::unique_ptr<quadrat_nufft_target_plan>;
nufft_target_plan_handle make_target_nufft(const cpu_context& context, const quadrat_nufft_target_options& options);
nufft_target_plan_handle make_target_nufft(const cuda_context& context, const quadrat_nufft_target_options& options);

namespace {

[[nodiscard]] nufft_target_options nufft_target_options_of(const quadrat_nufft_target_options& given) {
  nufft_target_options result;
  result.method = text_of(given.method);
  return result;
}

template <typename Context, typename T, int D>
class nufft_target_plan_on final : public quadrat_nufft_target_plan {
  using complex = std::complex<T>;

 public:
  nufft_target_plan_on(const Context& context, const quadrat_nufft_target_options& options)
      : context_(context), plan_(context, options.tolerance, nufft_target_options_of(options)) {}

  void set_points(const quadrat_points* points, const quadrat_points* targets, bool wait) override {
    const auto places = points_at<T, D>(context_, points);
    const auto frequencies = points_at<T, D>(context_, targets, "targets");
    wait ? plan_.set_points(places, frequencies) : plan_.set_points_async(places, frequencies);
    if (wait) context_.synchronize();  // the caller may free or change the arrays from here on
  }
  void check() override { plan_.check(); }

  void type_3(const void* values, void* results, const quadrat_nufft_call& call, bool wait) override {
    const nufft_call how{or_default(call.vectors, 1), or_default(call.sign, 1)};
    plan_.type_3_async(array_of<complex>(context_, values, plan_.point_count(), "values"),
                       results_in<complex>(context_, results, plan_.target_count(), "results"), how);
    if (wait) plan_.check();
  }
  [[nodiscard]] double error_bound() override { return plan_.error_bound(); }
  [[nodiscard]] quadrat_info info() override { return info_of(plan_); }

 private:
  Context context_;
  nufft_target_plan<Context, T, D> plan_;
};

}  // namespace

nufft_target_plan_handle make_target_nufft(const backend_context& context,
                                           const quadrat_nufft_target_options& options) {
  return with_instance<1>(options.type, options.dimension, [&](auto t, auto d) -> nufft_target_plan_handle {
    return std::make_unique<nufft_target_plan_on<backend_context, decltype(t), d.value>>(context, options);
  });
}

#if QUADRAT_BACKEND_CPU

extern "C" {

int quadrat_nufft_target_plan_create(quadrat_context* context, const quadrat_nufft_target_options* options,
                                     quadrat_nufft_target_plan** plan) {
  return create(context, plan, [&](const auto& backend) {
    return make_target_nufft(backend, taken(options, offsetof(quadrat_nufft_target_options, method), "options"));
  });
}
void quadrat_nufft_target_plan_destroy(quadrat_nufft_target_plan* plan) { destroy(plan); }
int quadrat_nufft_target_plan_set_points(quadrat_nufft_target_plan* plan, const quadrat_points* points,
                                         const quadrat_points* targets) {
  return with(plan, [&](auto& one) { one.set_points(points, targets, true); });
}
int quadrat_nufft_target_plan_set_points_async(quadrat_nufft_target_plan* plan, const quadrat_points* points,
                                               const quadrat_points* targets) {
  return with(plan, [&](auto& one) { one.set_points(points, targets, false); });
}
int quadrat_nufft_target_plan_check(quadrat_nufft_target_plan* plan) {
  return with(plan, [](auto& one) { one.check(); });
}
int quadrat_nufft_target_plan_type_3(quadrat_nufft_target_plan* plan, const void* values, void* results,
                                     const quadrat_nufft_call* call) {
  return with(plan, [&](auto& one) { one.type_3(values, results, taken_or_default(call, "call"), true); });
}
int quadrat_nufft_target_plan_type_3_async(quadrat_nufft_target_plan* plan, const void* values, void* results,
                                           const quadrat_nufft_call* call) {
  return with(plan, [&](auto& one) { one.type_3(values, results, taken_or_default(call, "call"), false); });
}
int quadrat_nufft_target_plan_error_bound(quadrat_nufft_target_plan* plan, double* bound) {
  return with(plan, [&](auto& one) {
    require(bound != nullptr, "the pointer to the bound is null");
    *bound = one.error_bound();
  });
}
int quadrat_nufft_target_plan_info(quadrat_nufft_target_plan* plan, quadrat_info* to) { return info(plan, to); }

}  // extern "C"

#endif

}  // namespace quadrat::c

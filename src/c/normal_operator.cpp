// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/spectral/normal_operator.hpp"

#include <complex>

#include "c/arrays.hpp"
#include "c/nufft.hpp"
#include "core/backend.hpp"

struct quadrat_normal_operator : quadrat::c::handle {
  virtual void set_points(const quadrat_points* points, const void* weights) = 0;
  virtual void apply(const void* modes, void* result, const quadrat_nufft_call& call, bool wait) = 0;
  [[nodiscard]] virtual double error_bound() = 0;
};

namespace quadrat::c {

using normal_operator_handle = std::unique_ptr<quadrat_normal_operator>;
normal_operator_handle make_normal_operator(const cpu_context& context, const quadrat_nufft_options& options);
normal_operator_handle make_normal_operator(const cuda_context& context, const quadrat_nufft_options& options);

namespace {

template <typename Context, typename T, int D>
class normal_operator_on final : public quadrat_normal_operator {
  using complex = std::complex<T>;

 public:
  normal_operator_on(const Context& context, const quadrat_nufft_options& options)
      : context_(context), operator_(context, modes_of<D>(options), options.tolerance, nufft_options_of(options)) {}

  void set_points(const quadrat_points* points, const void* weights) override {
    operator_.set_points(points_at<T, D>(context_, points), optional_array<T>(context_, weights, "weights"));
    context_.synchronize();
  }
  void apply(const void* modes, void* result, const quadrat_nufft_call& call, bool wait) override {
    const complex* const from = array_of<complex>(context_, modes, operator_.mode_count(), "modes");
    complex* const to = results_in<complex>(context_, result, operator_.mode_count(), "result");
    const nufft_call how{or_default(call.vectors, 1), call.sign};
    wait ? operator_.apply(from, to, how) : operator_.apply_async(from, to, how);
  }
  [[nodiscard]] double error_bound() override { return operator_.error_bound(); }
  [[nodiscard]] quadrat_info info() override { return info_of(operator_); }

 private:
  Context context_;
  normal_operator<Context, T, D> operator_;
};

}  // namespace

normal_operator_handle make_normal_operator(const backend_context& context, const quadrat_nufft_options& options) {
  return with_instance<1>(options.type, options.dimension, [&](auto t, auto d) -> normal_operator_handle {
    return std::make_unique<normal_operator_on<backend_context, decltype(t), d.value>>(context, options);
  });
}

#if QUADRAT_BACKEND_CPU

extern "C" {

int quadrat_normal_operator_create(quadrat_context* context, const quadrat_nufft_options* options,
                                   quadrat_normal_operator** normal) {
  return create(context, normal, [&](const auto& backend) {
    return make_normal_operator(backend, taken(options, offsetof(quadrat_nufft_options, real), "options"));
  });
}
void quadrat_normal_operator_destroy(quadrat_normal_operator* normal) { destroy(normal); }
int quadrat_normal_operator_set_points(quadrat_normal_operator* normal, const quadrat_points* points,
                                       const void* weights) {
  return with(normal, [&](auto& one) { one.set_points(points, weights); });
}
int quadrat_normal_operator_apply(quadrat_normal_operator* normal, const void* modes, void* result,
                                  const quadrat_nufft_call* call) {
  return with(normal, [&](auto& one) { one.apply(modes, result, taken_or_default(call, "call"), true); });
}
int quadrat_normal_operator_apply_async(quadrat_normal_operator* normal, const void* modes, void* result,
                                        const quadrat_nufft_call* call) {
  return with(normal, [&](auto& one) { one.apply(modes, result, taken_or_default(call, "call"), false); });
}
int quadrat_normal_operator_error_bound(quadrat_normal_operator* normal, double* bound) {
  return with(normal, [&](auto& one) {
    require(bound != nullptr, "the pointer to the bound is null");
    *bound = one.error_bound();
  });
}
int quadrat_normal_operator_info(quadrat_normal_operator* normal, quadrat_info* to) { return info(normal, to); }

}  // extern "C"

#endif

}  // namespace quadrat::c

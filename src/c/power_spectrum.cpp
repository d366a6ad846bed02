// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/spectral/power_spectrum.hpp"

#include "c/arrays.hpp"
#include "core/backend.hpp"

struct quadrat_power_spectrum : quadrat::c::handle {
  virtual void measure(const quadrat_points* points, const void* weights) = 0;
  virtual void measure_cross(const quadrat_points* points, const void* weights, const quadrat_points* others,
                             const void* other_weights) = 0;
  [[nodiscard]] virtual quadrat_spectrum_view view() const = 0;
};

namespace quadrat::c {

using power_spectrum_handle = std::unique_ptr<quadrat_power_spectrum>;
power_spectrum_handle make_spectrum(const cpu_context& context, const quadrat_spectrum_options& options);
power_spectrum_handle make_spectrum(const cuda_context& context, const quadrat_spectrum_options& options);

namespace {

[[nodiscard]] power_spectrum_options spectrum_options_of(const quadrat_spectrum_options& given) {
  power_spectrum_options result;
  result.order = or_default(given.order, result.order);
  result.interlaced = given.single_mesh == 0;
  result.compensated = given.uncompensated == 0;
  result.subtract_shot_noise = given.subtract_shot_noise != 0;
  if (given.structure_factor != 0) result.normalization = spectrum_normalization::structure_factor;
  require_given(given.multipoles, given.multipole_count, "multipoles");
  if (given.multipole_count > 0) result.multipoles.assign(given.multipoles, given.multipoles + given.multipole_count);
  result.line_of_sight = given.line_of_sight;
  require_array(given.edges, given.edge_count, "edges");
  if (given.edge_count > 0) result.edges.assign(given.edges, given.edges + given.edge_count);
  result.method = text_of(given.method);
  result.fft = text_of(given.fft);
  return result;
}

template <typename Context, typename T, int D>
class power_spectrum_on final : public quadrat_power_spectrum {
 public:
  power_spectrum_on(const Context& context, const quadrat_spectrum_options& options)
      : context_(context),
        spectrum_(context, box_of<T, D>(options.domain), make_vec<int, D>([&](int d) { return options.mesh[d]; }),
                  spectrum_options_of(options)) {}

  void measure(const quadrat_points* points, const void* weights) override {
    found_.reset();
    found_ = spectrum_.measure(points_at<T, D>(context_, points), optional_array<T>(context_, weights, "weights"));
  }
  void measure_cross(const quadrat_points* points, const void* weights, const quadrat_points* others,
                     const void* other_weights) override {
    found_.reset();
    found_ = spectrum_.measure_cross(points_at<T, D>(context_, points), optional_array<T>(context_, weights, "weights"),
                                     points_at<T, D>(context_, others, "others"),
                                     optional_array<T>(context_, other_weights, "other_weights"));
  }
  [[nodiscard]] quadrat_spectrum_view view() const override {
    require(found_.has_value(), "there is no spectrum: none has been measured, or the last call failed");
    return {0,
            found_->bins(),
            found_->multipoles.size(),
            found_->edges.data(),
            found_->k.data(),
            found_->modes.data(),
            found_->power.data(),
            found_->shot_noise};
  }
  [[nodiscard]] quadrat_info info() override { return info_of(spectrum_); }

 private:
  Context context_;
  power_spectrum<Context, T, D> spectrum_;
  std::optional<power_spectrum_result> found_;
};

}  // namespace

power_spectrum_handle make_spectrum(const backend_context& context, const quadrat_spectrum_options& options) {
  return with_instance<2>(options.type, options.dimension, [&](auto t, auto d) -> power_spectrum_handle {
    return std::make_unique<power_spectrum_on<backend_context, decltype(t), d.value>>(context, options);
  });
}

#if QUADRAT_BACKEND_CPU

extern "C" {

int quadrat_power_spectrum_create(quadrat_context* context, const quadrat_spectrum_options* options,
                                  quadrat_power_spectrum** spectrum) {
  return create(context, spectrum, [&](const auto& backend) {
    return make_spectrum(backend, taken(options, offsetof(quadrat_spectrum_options, order), "options"));
  });
}
void quadrat_power_spectrum_destroy(quadrat_power_spectrum* spectrum) { destroy(spectrum); }
int quadrat_power_spectrum_measure(quadrat_power_spectrum* spectrum, const quadrat_points* points,
                                   const void* weights) {
  return with(spectrum, [&](auto& one) { one.measure(points, weights); });
}
int quadrat_power_spectrum_measure_cross(quadrat_power_spectrum* spectrum, const quadrat_points* points,
                                         const void* weights, const quadrat_points* others, const void* other_weights) {
  return with(spectrum, [&](auto& one) { one.measure_cross(points, weights, others, other_weights); });
}
int quadrat_power_spectrum_view(quadrat_power_spectrum* spectrum, quadrat_spectrum_view* view) {
  return with(spectrum, [&](auto& one) { give(one.view(), view, "view"); });
}
int quadrat_power_spectrum_info(quadrat_power_spectrum* spectrum, quadrat_info* to) { return info(spectrum, to); }

}  // extern "C"

#endif

}  // namespace quadrat::c

// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/hydro/mobility.hpp"

#include "c/arrays.hpp"
#include "core/backend.hpp"

struct quadrat_mobility : quadrat::c::handle {
  virtual void prepare(std::size_t count) = 0;
  virtual void set_points(const quadrat_points* points) = 0;
  virtual void multiply(const void* forces, void* velocities, bool wait) = 0;
  virtual void velocities(const void* forces, const quadrat_mobility_noise* noise, void* velocities) = 0;
  virtual void check() = 0;
};

namespace quadrat::c {

using mobility_handle = std::unique_ptr<quadrat_mobility>;
mobility_handle make_mobility(const cpu_context& context, const double* box, const quadrat_mobility_options& options);
mobility_handle make_mobility(const cuda_context& context, const double* box, const quadrat_mobility_options& options);

namespace {

[[nodiscard]] mobility_options mobility_options_of(const quadrat_mobility_options& given) {
  mobility_options result;
  result.method = text_of(given.method);
  result.accuracy = or_default(given.accuracy, result.accuracy);
  result.radius = or_default(given.radius, result.radius);
  result.viscosity = or_default(given.viscosity, result.viscosity);
  result.parameters = {given.splitting, given.cutoff, {given.modes[0], given.modes[1], given.modes[2]}};
  return result;
}

template <typename Context, typename T>
class mobility_on final : public quadrat_mobility {
 public:
  mobility_on(const Context& context, const double* box, const quadrat_mobility_options& options)
      : context_(context),
        mobility_(context, {static_cast<T>(box[0]), static_cast<T>(box[1]), static_cast<T>(box[2])},
                  mobility_options_of(options)) {}

  void prepare(std::size_t count) override {
    mobility_.prepare(count);
    prepared_ = true;
  }
  void set_points(const quadrat_points* points) override {
    const auto places = points_at<T, 3>(context_, points);
    mobility_.set_points(places);
    context_.synchronize();
    count_ = places.count;
  }
  void multiply(const void* forces, void* velocities, bool wait) override {
    const auto* const given = array_of<vec<T, 3>>(context_, forces, count_, "forces");
    wait ? mobility_.multiply(given, in(velocities)) : mobility_.multiply_async(given, in(velocities));
  }
  void velocities(const void* forces, const quadrat_mobility_noise* noise, void* velocities) override {
    require(noise != nullptr, "the pointer to the noise is null");
    const mobility_noise drawn{noise->seed, noise->step, noise->scale};
    const auto* const given = optional_array<vec<T, 3>>(context_, forces, "forces");
    if (given == nullptr) {
      mobility_.square_root(drawn, in(velocities));
    } else {
      mobility_.velocities(given, drawn, in(velocities));
    }
    mobility_.check();
  }
  void check() override { mobility_.check(); }
  [[nodiscard]] quadrat_info info() override {
    if (!prepared_) return info_of(mobility_);
    return info_of(mobility_, mobility_.report().method, mobility_.report().reason);
  }

 private:
  [[nodiscard]] vec<T, 3>* in(void* velocities) const {
    return results_in<vec<T, 3>>(context_, velocities, count_, "velocities");
  }

  Context context_;
  std::size_t count_ = 0;
  bool prepared_ = false;
  mobility<Context, T> mobility_;
};

}  // namespace

mobility_handle make_mobility(const backend_context& context, const double* box,
                              const quadrat_mobility_options& options) {
  require(box != nullptr, "the pointer to the edges of the box is null");
  return with_number_type(options.type, [&](auto t) -> mobility_handle {
    return std::make_unique<mobility_on<backend_context, decltype(t)>>(context, box, options);
  });
}

#if QUADRAT_BACKEND_CPU

extern "C" {

int quadrat_mobility_create(quadrat_context* context, const double box[3], const quadrat_mobility_options* options,
                            quadrat_mobility** mobility) {
  return create(context, mobility, [&](const auto& backend) {
    return make_mobility(backend, box, taken(options, offsetof(quadrat_mobility_options, modes), "options"));
  });
}
void quadrat_mobility_destroy(quadrat_mobility* mobility) { destroy(mobility); }
int quadrat_mobility_prepare(quadrat_mobility* mobility, size_t count) {
  return with(mobility, [&](auto& one) { one.prepare(count); });
}
int quadrat_mobility_set_points(quadrat_mobility* mobility, const quadrat_points* points) {
  return with(mobility, [&](auto& one) { one.set_points(points); });
}
int quadrat_mobility_multiply(quadrat_mobility* mobility, const void* forces, void* velocities) {
  return with(mobility, [&](auto& one) { one.multiply(forces, velocities, true); });
}
int quadrat_mobility_multiply_async(quadrat_mobility* mobility, const void* forces, void* velocities) {
  return with(mobility, [&](auto& one) { one.multiply(forces, velocities, false); });
}
int quadrat_mobility_velocities(quadrat_mobility* mobility, const void* forces, const quadrat_mobility_noise* noise,
                                void* velocities) {
  return with(mobility, [&](auto& one) { one.velocities(forces, noise, velocities); });
}
int quadrat_mobility_check(quadrat_mobility* mobility) {
  return with(mobility, [](auto& one) { one.check(); });
}
int quadrat_mobility_info(quadrat_mobility* mobility, quadrat_info* to) { return info(mobility, to); }

}  // extern "C"

#endif

}  // namespace quadrat::c

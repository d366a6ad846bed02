// SPDX-License-Identifier: BSD-3-Clause
#include "simulation.hpp"

#include <span>
#include <utility>

#include "device.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::program {
namespace {

template <typename T>
std::vector<vec<float, 3>> in_single_precision(std::vector<vec<T, 3>> values) {
  if constexpr (std::is_same_v<T, float>) {
    return values;
  } else {
    std::vector<vec<float, 3>> result;
    result.reserve(values.size());
    for (const auto& value : values) result.push_back(cast<float>(value));
    return result;
  }
}

template <typename T>
void add_vectors(io::checkpoint& state, std::string name, const std::vector<vec<T, 3>>& values) {
  const T* const first = values.empty() ? nullptr : values.front().component;
  state.add<T>(std::move(name), std::span(first, 3 * values.size()), 3);
}

template <typename T>
std::vector<vec<T, 3>> get_vectors(const io::checkpoint& state, std::string_view name, std::size_t count) {
  const std::vector<T> values = state.get<T>(name);
  if (values.size() != 3 * count) {
    throw io_error(message("the checkpoint holds ", values.size(), " numbers of \"", name, "\"; expected 3 x ", count));
  }
  std::vector<vec<T, 3>> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = {values[3 * i], values[3 * i + 1], values[3 * i + 2]};
  return result;
}

std::string name_of_device(const cpu_context&) { return cpu_name(); }
std::string name_of_device(const cuda_context& context) {
  for (const device_description& device : cuda_devices()) {
    if (device.index == context.device()) return device.name;
  }
  return "GPU";
}

template <typename Context, typename T>
class granular_simulation final : public simulation {
  static constexpr bool on_cpu = std::is_same_v<Context, cpu_context>;

 public:
  granular_simulation(const Context& context, const granular_options& options,
                      const std::vector<vec<double, 3>>& positions)
      : model_(context, options, positions) {}

  void run(std::size_t steps) override {
    model_.advance(steps);
    model_.check();
  }
  granular_statistics measure() override { return model_.measure(); }
  snapshot look() override {
    return {in_single_precision(model_.positions()), in_single_precision(model_.velocities())};
  }

  io::checkpoint save() override {
    const granular_state<T> state = model_.state();
    io::checkpoint result;
    result.step = state.step;
    result.particles = state.positions.size();
    result.precision_bytes = sizeof(T);
    add_vectors(result, "positions", state.positions);
    add_vectors(result, "velocities", state.velocities);
    result.add<particle_id>("storage_order", state.storage_order);
    return result;
  }

  void restore(const io::checkpoint& saved) override {
    if (saved.particles != size()) {
      throw io_error(message("the checkpoint holds ", saved.particles, " particles, not ", size()));
    }
    model_.restore({saved.step, get_vectors<T>(saved, "positions", size()), get_vectors<T>(saved, "velocities", size()),
                    saved.get<particle_id>("storage_order")});
  }

  std::uint64_t step() const override { return model_.step(); }
  std::size_t size() const override { return model_.size(); }
  std::size_t memory_bytes() const override { return model_.bytes(); }
  std::string method() const override { return model_.options().method; }
  std::string backend() const override { return on_cpu ? "cpu" : "cuda"; }
  std::string device_name() const override { return name_of_device(model_.context()); }
  int threads() const override {
    if constexpr (on_cpu) {
      return model_.context().threads();
    } else {
      return 0;
    }
  }

 private:
  granular<Context, T> model_;
};

granular_options options_of(const io::granular_scene& scene) {
  granular_options options;
  options.lower = scene.box.lower;
  options.upper = scene.box.upper;
  const io::int_triple& cells = scene.grid.cells.value();
  options.cells = {static_cast<int>(cells[0]), static_cast<int>(cells[1]), static_cast<int>(cells[2])};
  options.capacity = static_cast<std::size_t>(scene.grid.capacity);
  if (scene.run.method != "auto") options.method = scene.run.method;
  granular_parameters& p = options.parameters;
  p.radius = scene.particles.radius;
  p.time_step = scene.physics.time_step;
  p.gravity = scene.physics.gravity;
  p.spring = scene.physics.spring;
  p.damping = scene.physics.damping;
  p.shear = scene.physics.shear;
  p.attraction = scene.physics.attraction;
  p.global_damping = scene.physics.global_damping;
  p.wall_restitution = scene.physics.wall_restitution;
  if (scene.collider.radius) p.collider = {scene.collider.center.value(), *scene.collider.radius};
  return options;
}

granular_start start_of(io::start_state start) {
  switch (start) {
    case io::start_state::lattice:
      return granular_start::lattice;
    case io::start_state::left_half:
      return granular_start::left_half;
    case io::start_state::uniform_random:
      return granular_start::uniform_random;
  }
  throw argument_error("unknown start state");
}

template <typename Context>
std::unique_ptr<simulation> make_on(const Context& context, const io::granular_scene& scene) {
  const granular_options options = options_of(scene);
  const auto& grains = scene.particles;
  const auto positions = granular_initial_positions(start_of(grains.start), static_cast<std::size_t>(grains.count),
                                                    grains.radius, scene.box.lower, scene.box.upper, grains.jitter,
                                                    static_cast<std::uint64_t>(grains.seed));
  if (scene.run.precision == io::number_precision::float64) {
    return std::make_unique<granular_simulation<Context, double>>(context, options, positions);
  }
  return std::make_unique<granular_simulation<Context, float>>(context, options, positions);
}

}  // namespace

std::unique_ptr<simulation> make_simulation(const io::granular_scene& scene) {
  if (scene.run.device == io::device_choice::cuda) {
    cuda_context::options chosen;
    chosen.reproducibility = scene.run.deterministic;
    return make_on(cuda_context(chosen), scene);
  }
  cpu_context::options chosen;
  chosen.threads = static_cast<int>(scene.run.threads);
  chosen.reproducibility = scene.run.deterministic;
  return make_on(cpu_context(chosen), scene);
}

}  // namespace quadrat::program

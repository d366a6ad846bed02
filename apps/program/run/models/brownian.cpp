// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "program/run/models/scene_runs.hpp"
#include "quadrat/io/brownian_scene.hpp"
#include "quadrat/models/brownian.hpp"
#include "quadrat/models/distributed_brownian.hpp"

namespace quadrat::program {
namespace {

measurement as_measurement(const brownian_statistics& s) {
  return {s.step,
          {{"mean_square_displacement", s.mean_square_displacement},
           {"mean_displacement_x", s.mean_displacement[0]},
           {"mean_displacement_y", s.mean_displacement[1]},
           {"mean_displacement_z", s.mean_displacement[2]},
           {"short_time_diffusion", s.short_time_diffusion},
           {"short_time_theory", s.short_time_theory},
           {"energy", s.energy},
           {"iterations", static_cast<double>(s.iterations), true}}};
}

/// The measurements of short-time diffusion, one per step.
class diffusion_samples {
 public:
  void add(const brownian_statistics& now) {
    theory_ = now.short_time_theory;
    if (count_ > 0 && static_cast<double>(now.step) <= last_) return;
    last_ = static_cast<double>(now.step);
    ++count_;
    sum_ += now.short_time_diffusion;
    squares_ += now.short_time_diffusion * now.short_time_diffusion;
    iterations_ += now.iterations;
  }

  [[nodiscard]] run_result result() const {
    if (count_ == 0 || theory_ == 0) return {};
    const double mean = sum_ / count_;
    const double error = count_ > 1 ? std::sqrt(std::max(0.0, squares_ / count_ - mean * mean) / (count_ - 1)) : 0;
    const double deviation = 100 * (mean / theory_ - 1);
    return {{{"short_time_diffusion", mean},
             {"standard_error", error},
             {"theory_short_time_diffusion", theory_},
             {"deviation_percent", deviation},
             {"mean_iterations", iterations_ / count_},
             {"samples", count_, true}},
            fmt::format("short-time diffusion {:.4g} +- {:.2g}, theory: {:.4g} ({:+.2f} %); {:.3g} Lanczos iterations",
                        mean, error, theory_, deviation, iterations_ / count_)};
  }

  void save(io::checkpoint& state) const {
    const std::array<double, 6> all{last_, count_, sum_, squares_, iterations_, theory_};
    state.add<double>("diffusion", all, all.size());
  }
  void restore(const io::checkpoint& state) {
    const std::vector<double> all = state.get<double>("diffusion");
    if (all.size() != 6) throw io_error("the measurements of diffusion in the checkpoint are cut");
    last_ = all[0];
    count_ = all[1];
    sum_ = all[2];
    squares_ = all[3];
    iterations_ = all[4];
    theory_ = all[5];
  }

 private:
  double last_ = 0, count_ = 0, sum_ = 0, squares_ = 0, iterations_ = 0, theory_ = 0;
};

struct brownian_runs : scene_runs {
  using scene_type = io::brownian_scene;
  static constexpr std::string_view particles = "spheres";
  template <typename Context, typename T, int>
  using model = brownian<Context, T>;
  template <typename Context, typename T, int>
  using model_on_ranks = distributed_brownian<Context, T>;

  static measurement measured(const brownian_statistics& statistics) { return as_measurement(statistics); }
  template <int>
  static brownian_options options(const scene_type& scene) {
    return io::options_of(scene);
  }
  template <int>
  static auto start(const scene_type& scene) {
    return std::tuple(io::positions_of(scene));
  }
  static void apply(const run_options& options, overrides<scene_type>& given, io::scene_file<scene_type>& file) {
    given.apply(options.method, file.scene.hydrodynamics.method, "hydrodynamics.method", "--method");
    given.apply(options.particles, file.scene.particles.count, "particles.count", "--particles");
    given.apply(options.seed, file.scene.particles.seed, "particles.seed", "--seed");
  }
};

template <typename Model, typename T, int D>
class brownian_simulation final : public model_simulation<brownian_runs, Model> {
  using base = model_simulation<brownian_runs, Model>;
  using base::model_, base::scene_;

 public:
  using base::base;

  measurement measure() override {
    const brownian_statistics now = model_.measure();
    samples_.add(now);
    return as_measurement(now);
  }
  std::string in_words(const measurement& now) const override {
    const double time = static_cast<double>(now.step) * scene_.physics.time_step;
    return fmt::format("t = {:g}: mean square displacement {:.4g}, 6 D t = {:.4g} for D of short times; energy {:.4g}",
                       time, now["mean_square_displacement"], 6 * now["short_time_theory"] * time, now["energy"]);
  }
  run_result result() const override { return samples_.result(); }

  io::particle_frame frame() override {
    const auto domain = make_box<double, 3>({}, model_.options().box, vec<bool, 3>::filled(true));
    io::particle_frame frame = particles_in(domain, model_.positions());
    frame.radii.assign(frame.positions.size(), static_cast<float>(model_.options().radius));
    frame.fields = {{"displacement", distances()}};
    return frame;
  }
  io::image draw() override {
    io::preview_options options = seen_by(scene_.camera);
    options.top_value = scene_.camera.displacement;
    options.scale = "displacement";
    const auto positions = shown_vectors(model_.positions());
    const auto values = distances();
    const io::preview_stage stage{{}, model_.options().box, model_.options().radius};
    return io::draw_preview(stage, points_of(positions.data(), positions.size()), std::span<const float>(values),
                            options);
  }

  io::checkpoint save() override {
    const brownian_state<T> state = model_.state();
    io::checkpoint result = base::begin_checkpoint(state);
    add_vectors(result, "origins", state.origins);
    std::vector<std::uint32_t> images;
    for (const vec<std::int32_t, 3>& one : state.images) {
      for (int axis = 0; axis < 3; ++axis) images.push_back(static_cast<std::uint32_t>(one[axis]));
    }
    result.add<std::uint32_t>("images", images, 3);
    samples_.save(result);
    return result;
  }
  void restore(const io::checkpoint& saved) override {
    this->require_size(saved);
    const std::size_t count = model_.size();
    brownian_state<T> state;
    state.step = saved.step;
    state.positions = get_vectors<T, 3>(saved, "positions", count);
    state.origins = get_vectors<T, 3>(saved, "origins", count);
    const std::vector<std::uint32_t> images = saved.get<std::uint32_t>("images");
    if (images.size() != 3 * count) throw io_error("the images in the checkpoint are cut");
    state.images.resize(count);
    for (std::size_t k = 0; k < images.size(); ++k) {
      state.images[k / 3][static_cast<int>(k % 3)] = static_cast<std::int32_t>(images[k]);
    }
    model_.restore(state);
    samples_.restore(saved);
  }
  std::string method() const override {
    return fmt::format("{}, {}", mobility_method(),
                       brownian_scheme_names[static_cast<std::size_t>(model_.options().scheme)]);
  }

 private:
  [[nodiscard]] std::vector<float> distances() {
    std::vector<float> result;
    for (const vec<double, 3>& one : this->shown().displacements()) result.push_back(static_cast<float>(norm(one)));
    return result;
  }

  [[nodiscard]] std::string_view mobility_method() const {
    if constexpr (requires { this->of_this_rank().mobility(); }) {
      return this->of_this_rank().mobility().method;
    } else {
      return model_.report().method;
    }
  }

  diffusion_samples samples_;
};

}  // namespace

run_plan plan_of_brownian(const run_options& options) {
  return plan_of_scenes<brownian_runs, brownian_simulation>(options);
}

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

#include "program/run/models/scene_runs.hpp"
#include "quadrat/io/friction_scene.hpp"
#include "quadrat/models/distributed_granular_friction.hpp"
#include "quadrat/models/granular_friction.hpp"

namespace quadrat::program {
namespace {

vec<double, 3> point_at(const io::triple& t) { return {t[0], t[1], t[2]}; }

measurement as_measurement(const granular_friction_statistics& s) {
  return {s.step,
          {{"kinetic_energy", s.kinetic_energy},
           {"rotational_energy", s.rotational_energy},
           {"elastic_energy", s.elastic_energy},
           {"gravitational_energy", s.gravitational_energy},
           {"mean_height", s.mean_height},
           {"contacts_per_particle", s.contacts_per_particle},
           {"largest_overlap", s.largest_overlap},
           {"max_speed", s.max_speed},
           {"passed", static_cast<double>(s.passed), true}}};
}

/// Two orthogonal directions in a plane.
struct plane_frame {
  vec<double, 3> first;
  vec<double, 3> second;
};

plane_frame frame_of(const vec<double, 3>& normal) {
  // The axis with the largest angle to the normal.
  int axis = 0;
  for (int k = 1; k < 3; ++k) {
    if (std::abs(normal[k]) < std::abs(normal[axis])) axis = k;
  }
  vec<double, 3> along{};
  along[axis] = 1;
  vec<double, 3> first = cross(normal, along);
  first = first * (1 / std::sqrt(squared_norm(first)));
  const vec<double, 3> second = cross(normal, first);
  return {first, second * (1 / std::sqrt(squared_norm(second)))};
}

/// Joins points to a closed line.
void add_ring(io::preview_stage& stage, const std::vector<vec<double, 3>>& points) {
  for (std::size_t k = 0; k < points.size(); ++k) {
    stage.lines.push_back({points[k], points[(k + 1) % points.size()]});
  }
}

/// The points where a plane cuts the edges of the box, ordered around it.
std::vector<vec<double, 3>> cut_of(const io::preview_stage& stage, const vec<double, 3>& point,
                                   const vec<double, 3>& normal) {
  std::vector<vec<double, 3>> points;
  for (unsigned corner = 0; corner < 8; ++corner) {
    for (int axis = 0; axis < 3; ++axis) {
      if ((corner >> axis & 1u) != 0 || normal[axis] == 0) continue;
      vec<double, 3> at{};
      for (int k = 0; k < 3; ++k) at[k] = (corner >> k & 1u) != 0 ? stage.upper[k] : stage.lower[k];
      at[axis] += dot(point - at, normal) / normal[axis];
      if (at[axis] >= stage.lower[axis] && at[axis] <= stage.upper[axis]) points.push_back(at);
    }
  }
  vec<double, 3> middle{};
  for (const auto& one : points) middle += one * (1.0 / static_cast<double>(points.size()));
  const plane_frame frame = frame_of(normal);
  const auto angle = [&](const vec<double, 3>& one) {
    return std::atan2(dot(one - middle, frame.second), dot(one - middle, frame.first));
  };
  std::ranges::sort(points, {}, angle);
  return points;
}

/// Draws the outline of a wall in the box, and of its opening.
void add_wall(io::preview_stage& stage, const granular_wall& wall) {
  // Scaled to about one first: squares of very long or short normals overflow or underflow.
  const vec<double, 3> given = point_at(wall.normal);
  const vec<double, 3> normal = given * (1 / std::max({std::abs(given[0]), std::abs(given[1]), std::abs(given[2])}));
  add_ring(stage, cut_of(stage, point_at(wall.point), normal));
  if (!wall.opening) return;
  const vec<double, 3> center = point_at(wall.opening->center);
  const vec<double, 3> on_plane = center - normal * (dot(center - point_at(wall.point), normal) / squared_norm(normal));
  const plane_frame frame = frame_of(normal);
  std::vector<vec<double, 3>> rim;
  constexpr int parts = 96;
  for (int k = 0; k < parts; ++k) {
    const double angle = 2 * std::numbers::pi * k / parts;
    rim.push_back(on_plane + (frame.first * std::cos(angle) + frame.second * std::sin(angle)) * wall.opening->radius);
  }
  add_ring(stage, rim);
}

/// Draws the sides where a mesh ends or bends.
void add_mesh(io::preview_stage& stage, const granular_mesh& mesh) {
  constexpr double bent = 0.97;  // cosine of the angle between normals
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<vec<double, 3>>> sides;  // normals of their triangles
  for (const vec<std::uint32_t, 3>& t : mesh.triangles) {
    const vec<double, 3>& a = mesh.vertices[t[0]];
    const vec<double, 3> up = cross(mesh.vertices[t[1]] - a, mesh.vertices[t[2]] - a);
    for (int k = 0; k < 3; ++k) {
      sides[std::minmax(t[k], t[(k + 1) % 3])].push_back(up * (1 / std::sqrt(squared_norm(up))));
    }
  }
  for (const auto& [ends, normals] : sides) {
    if (normals.size() == 2 && std::abs(dot(normals[0], normals[1])) > bent) continue;
    stage.lines.push_back({mesh.vertices[ends.first], mesh.vertices[ends.second]});
  }
}

struct friction_runs : scene_runs {
  using scene_type = io::friction_scene;
  static constexpr std::string_view particles = "grains";
  template <typename Context, typename T, int>
  using model = granular_friction<Context, T>;
  template <typename Context, typename T, int>
  using model_on_ranks = distributed_granular_friction<Context, T>;

  static measurement measured(const granular_friction_statistics& statistics) { return as_measurement(statistics); }
  template <int>
  static granular_friction_options options(const scene_type& scene) {
    return options_of(scene);
  }
  template <int>
  static auto start(const scene_type& scene) {
    granular_filling grains = filled_region(fill_of(scene));
    const std::vector<vec<double, 3>> at_rest;
    return std::tuple(std::move(grains.radii), std::move(grains.positions), at_rest, at_rest,
                      std::move(grains.materials));
  }
  static void apply(const run_options& options, overrides<scene_type>& given, io::scene_file<scene_type>& file) {
    require(!options.method || *options.method == "auto", options.named("--method"),
            ": grains with friction have one way to find neighbors");
    given.apply(options.particles, file.scene.particles.count, "particles.count", "--particles");
    given.apply(options.seed, file.scene.particles.seed, "particles.seed", "--seed");
  }
  static double time_step(const scene_type& scene) { return scene.physics.time_step.value(); }
};

template <typename Model, typename T, int D>
class granular_friction_simulation final : public model_simulation<friction_runs, Model> {
  using base = model_simulation<friction_runs, Model>;
  using base::model_, base::scene_, base::shown;

 public:
  granular_friction_simulation(Model model, const io::friction_scene& scene)
      : base(std::move(model), scene), radii_(shown().radii().begin(), shown().radii().end()) {}

  std::string in_words(const measurement& now) const override {
    return fmt::format(
        "{:.4g} s: mean height {:.4g} m, kinetic energy {:.3g} J; {:.3g} contacts a grain, overlaps up to {:.2g} of a "
        "radius; {} grains have passed",
        static_cast<double>(now.step) * model_.options().time_step, now["mean_height"],
        now["kinetic_energy"] + now["rotational_energy"], now["contacts_per_particle"], now["largest_overlap"],
        now["passed"]);
  }

  io::particle_frame frame() override {
    const auto domain = make_box<double, 3>(point_at(scene_.box.lower), point_at(scene_.box.upper), {});
    io::particle_frame frame = particles_in(domain, shown().positions(), shown().velocities());
    frame.radii = radii_;
    return frame;
  }
  io::image draw() override {
    io::preview_options options = seen_by(scene_.camera);
    options.top_value = scene_.camera.speed;
    io::preview_stage stage{point_at(scene_.box.lower), point_at(scene_.box.upper), scene_.particles.radius,
                            point_at(scene_.physics.gravity)};
    stage.radii = radii_;
    for (const granular_wall& wall : scene_.box.walls) add_wall(stage, wall);
    for (const granular_mesh& mesh : model_.options().meshes) add_mesh(stage, mesh);
    const auto positions = shown_vectors(shown().positions());
    const auto velocities = shown_vectors(shown().velocities());
    return io::draw_preview(stage, points_of(positions.data(), positions.size()),
                            points_of(velocities.data(), velocities.size()), options);
  }

  io::checkpoint save() override {
    const granular_friction_state<T> state = model_.state();
    io::checkpoint result = base::begin_checkpoint(state);
    add_vectors(result, "remainders", state.remainders);
    add_vectors(result, "velocities", state.velocities);
    add_vectors(result, "angular_velocities", state.angular_velocities);
    add_vectors(result, "listed_positions", state.listed_positions);
    std::vector<particle_id> bodies;
    std::vector<T> memories;
    std::vector<vec<T, 3>> rolling;
    for (const granular_contact_memory<T>& one : state.contacts) {
      if (rolls()) rolling.push_back(one.rolling);
      bodies.insert(bodies.end(), {one.first, one.second});
      memories.insert(memories.end(), {one.displacement[0], one.displacement[1], one.displacement[2], one.scale});
    }
    result.add<particle_id>("contact_bodies", bodies, 2);
    result.add<T>("contact_memories", memories, 4);
    if (rolls()) add_vectors(result, "contact_rolling", rolling);
    return result;
  }
  void restore(const io::checkpoint& saved) override {
    this->require_size(saved);
    const std::size_t count = model_.size();
    granular_friction_state<T> state;
    state.step = saved.step;
    state.positions = get_vectors<T, 3>(saved, "positions", count);
    state.remainders = get_vectors<T, 3>(saved, "remainders", count);
    state.velocities = get_vectors<T, 3>(saved, "velocities", count);
    state.angular_velocities = get_vectors<T, 3>(saved, "angular_velocities", count);
    state.listed_positions = get_vectors<T, 3>(saved, "listed_positions", count);
    const auto bodies = saved.get<particle_id>("contact_bodies");
    const auto memories = saved.get<T>("contact_memories");
    if (bodies.size() % 2 != 0 || memories.size() != 2 * bodies.size()) {
      throw io_error("the contacts in the checkpoint are cut");
    }
    std::vector<vec<T, 3>> rolling(bodies.size() / 2, vec<T, 3>{});
    if (rolls()) rolling = get_vectors<T, 3>(saved, "contact_rolling", rolling.size());
    for (std::size_t k = 0; k < rolling.size(); ++k) {
      const T* const memory = memories.data() + 4 * k;
      state.contacts.push_back(
          {bodies[2 * k], bodies[2 * k + 1], {memory[0], memory[1], memory[2]}, memory[3], rolling[k]});
    }
    model_.restore(state);
  }
  std::string method() const override { return "neighbor list"; }

 private:
  /// Whether contacts remember rolling.
  [[nodiscard]] bool rolls() const { return model_.options().rolling == rolling_resistance::sds; }

  std::vector<float> radii_;
};

}  // namespace

run_plan plan_of_friction(const run_options& options) {
  return plan_of_scenes<friction_runs, granular_friction_simulation>(options);
}

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
#include "io/picture/shading.hpp"

#include <algorithm>
#include <cmath>

#include "io/picture/shadow.hpp"

namespace quadrat::io {
namespace {

const color sky = from_srgb(0.97f, 0.98f, 1.0f);
const color bounce = from_srgb(0.80f, 0.77f, 0.76f);

float smooth(float low, float high, float x) {
  const float t = std::clamp((x - low) / (high - low), 0.0f, 1.0f);
  return t * t * (3 - 2 * t);
}

/// The same view with samples x samples elements per pixel.
camera refined(camera view) {
  constexpr float factor = static_cast<float>(samples);
  view.scale *= factor;
  view.center_x *= factor;
  view.center_y *= factor;
  return view;
}

class renderer {
 public:
  renderer(const camera& view, const sphere_list& spheres, const ground& floor, float grain_radius)
      : view_(view),
        spheres_(spheres),
        floor_point_(view.to_view(floor.point)),
        floor_normal_(view.turned(floor.normal)),
        floor_fade_(floor.fade),
        to_light_(normalized(view.turned(floor.normal) * 1.25f + vec3{-0.75f, 0.1f, -0.55f})),
        light_(view, spheres, to_light_, grain_radius) {
    centers_.reserve(spheres.center.size());
    for (const vec3& center : spheres.center) centers_.push_back(view.to_view(center));
  }

  void draw(rendering& target) const {
    draw_depth(target.depth);
    const crevices darkness(target.depth, view_, spheres_);
    const std::size_t width = target.picture.width();
    const std::size_t height = target.picture.height();
#pragma omp parallel for schedule(dynamic, 8)
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x) {
        color sum{};
        for (std::size_t s = 0; s < samples * samples; ++s) {
          sum += sample(target.depth, darkness, samples * x + s % samples, samples * y + s / samples, height);
        }
        target.picture.at(x, y) = sum * (1.0f / (samples * samples));
      }
    }
  }

 private:
  void draw_depth(depth_buffer& depth) const {
    depth.splat(view_, centers_, spheres_.radius);
    if (!seen_from_above()) return;
    for (std::size_t y = 0; y < depth.height(); ++y) {
      for (std::size_t x = 0; x < depth.width(); ++x) {
        const camera::ray ray = ray_of(x, y);
        const float along = dot(ray.direction, floor_normal_);
        const float hit = dot(floor_point_ - ray.origin, floor_normal_) / along;
        if (along < 0 && hit > 0 && hit < depth.depth(x, y)) depth.set_floor(x, y, hit);
      }
    }
  }

  [[nodiscard]] bool seen_from_above() const { return dot(floor_point_, floor_normal_) < 0; }

  [[nodiscard]] camera::ray ray_of(std::size_t x, std::size_t y) const {
    return view_.through(static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f);
  }

  [[nodiscard]] color sample(const depth_buffer& depth, const crevices& darkness, std::size_t x, std::size_t y,
                             std::size_t height) const {
    const color behind = background(static_cast<float>(y) / static_cast<float>(samples * height));
    const float z = depth.depth(x, y);
    if (!std::isfinite(z)) return behind;
    const camera::ray ray = ray_of(x, y);
    const vec3 point = ray.at(z);
    const std::uint32_t number = depth.sphere(x, y);
    if (number == no_sphere) return shade_floor(point, behind);
    return shade_sphere(number, point, ray, darkness.open_sky(x, y, z));
  }

  [[nodiscard]] color shade_sphere(std::uint32_t number, const vec3& point, const camera::ray& ray, float open) const {
    const vec3 normal = normalized(point - centers_[number]);
    const color& paint = spheres_.paint[number];
    const float facing = dot(normal, to_light_);
    const float lit = facing > 0 ? facing * light_.reaching(point) : 0.0f;
    const color ambient = mix(bounce, sky, 0.5f + 0.5f * dot(normal, floor_normal_)) * (0.70f * open);
    const vec3 half = normalized(to_light_ - normalized(ray.direction));
    const float gloss = 0.16f * lit * std::pow(std::max(dot(normal, half), 0.0f), 28.0f);
    const color light = ambient + color::filled(0.78f * lit);
    return color{paint[0] * light[0], paint[1] * light[1], paint[2] * light[2]} + color::filled(gloss);
  }

  [[nodiscard]] color shade_floor(const vec3& point, const color& behind) const {
    const float away = std::sqrt(squared_norm(point - floor_point_));
    const float kept = 1 - smooth(0.35f * floor_fade_, floor_fade_, away);
    return kept > 0 ? behind * (1 - 0.36f * kept * (1 - light_.reaching(point))) : behind;
  }

  camera view_;
  const sphere_list& spheres_;
  std::vector<vec3> centers_;  ///< in view coordinates
  vec3 floor_point_, floor_normal_;
  float floor_fade_;
  vec3 to_light_;
  shadow_map light_;
};

}  // namespace

color background(float height) {
  static const color top = from_srgb(0.88f, 0.91f, 0.95f);
  static const color bottom = from_srgb(0.985f, 0.985f, 0.99f);
  return mix(top, bottom, height);
}

rendering render(const camera& view, std::size_t width, std::size_t height, const sphere_list& spheres,
                 const ground& floor, float grain_radius) {
  rendering result{canvas(width, height), depth_buffer(samples * width, samples * height)};
  renderer(refined(view), spheres, floor, grain_radius).draw(result);
  return result;
}

void draw_edge(rendering& target, const camera& view, vec3 a, vec3 b, float thickness, const color& paint,
               float strength) {
  const vec3 from = view.to_pixel(view.to_view(a));
  const vec3 to = view.to_pixel(view.to_view(b));
  if (!(from[2] > 0 && to[2] > 0)) return;
  target.picture.for_each_on_line(
      {from[0], from[1]}, {to[0], to[1]}, thickness, [&](std::size_t x, std::size_t y, float covered, float t) {
        // 1 / depth is linear along the line in the picture.
        const float depth = 1 / ((1 - t) / from[2] + t / to[2]);
        float seen = 0;
        for (std::size_t s = 0; s < samples * samples; ++s) {
          const bool before =
              depth * 0.999f <= target.depth.depth(samples * x + s % samples, samples * y + s / samples);
          seen += before ? 1.0f / (samples * samples) : 0.0f;
        }
        color& pixel = target.picture.at(x, y);
        pixel = mix(pixel, paint, covered * seen * strength);
      });
}

}  // namespace quadrat::io

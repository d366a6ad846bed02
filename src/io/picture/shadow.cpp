// SPDX-License-Identifier: BSD-3-Clause
#include "io/picture/shadow.hpp"

#include <algorithm>
#include <cmath>

#include "io/picture/shading.hpp"

namespace quadrat::io {
namespace {

constexpr std::size_t shadow_size = 2048;

/// A light that shines from a direction onto all the spheres, as a camera without perspective.
camera light_camera(const camera& view, const sphere_list& spheres, const vec3& to_light) {
  camera light = oriented(to_light * -1.0f, {0, 1, 0}, false);
  constexpr float far = std::numeric_limits<float>::max();
  vec3 low{far, far, far};
  vec3 high{-far, -far, -far};
  for (std::size_t i = 0; i < spheres.center.size(); ++i) {
    const vec3 seen = light.turned(view.to_view(spheres.center[i]));
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], seen[axis] - spheres.radius[i]);
      high[axis] = std::max(high[axis], seen[axis] + spheres.radius[i]);
    }
  }
  if (spheres.center.empty()) low = high = vec3{};
  const float extent = std::max({high[0] - low[0], high[1] - low[1], 1e-30f});
  constexpr float size = static_cast<float>(shadow_size);
  light.scale = 0.96f * size / extent;
  light.center_x = size / 2 - 0.5f * (low[0] + high[0]) * light.scale;
  light.center_y = size / 2 + 0.5f * (low[1] + high[1]) * light.scale;
  return light;
}

/// Mean over the neighbors within `reach` along rows or columns; the end values of the line are repeated beyond it.
void box_blur(std::vector<float>& values, std::size_t count, std::size_t lines, std::size_t step, std::size_t line_step,
              std::ptrdiff_t reach) {
  std::vector<float> line(count);
  const auto last = static_cast<std::ptrdiff_t>(count) - 1;
  for (std::size_t l = 0; l < lines; ++l) {
    float* const first = values.data() + l * line_step;
    for (std::size_t i = 0; i < count; ++i) line[i] = first[i * step];
    const auto value = [&](std::ptrdiff_t i) {
      return line[static_cast<std::size_t>(std::clamp(i, std::ptrdiff_t{0}, last))];
    };
    double sum = 0;
    for (std::ptrdiff_t i = -reach; i <= reach; ++i) sum += value(i);
    for (std::ptrdiff_t i = 0; i <= last; ++i) {
      first[static_cast<std::size_t>(i) * step] = static_cast<float>(sum / static_cast<double>(2 * reach + 1));
      sum += value(i + reach + 1) - value(i - reach);
    }
  }
}

}  // namespace

shadow_map::shadow_map(const camera& view, const sphere_list& spheres, const vec3& to_light, float grain_radius)
    : light_(light_camera(view, spheres, to_light)),
      tolerance_(std::max(0.35f * grain_radius, 1.5f / light_.scale)),
      depth_(shadow_size, shadow_size) {
  std::vector<vec3> centers;
  centers.reserve(spheres.center.size());
  for (const vec3& center : spheres.center) centers.push_back(light_.to_view(view.to_view(center)));
  depth_.splat(light_, centers, spheres.radius);
}

float shadow_map::reaching(const vec3& point) const {
  const vec3 seen = light_.to_pixel(light_.to_view(point));
  constexpr int reach = 2;
  int lit = 0;
  for (int dy = -reach; dy <= reach; ++dy) {
    for (int dx = -reach; dx <= reach; ++dx) {
      const float x = seen[0] + static_cast<float>(dx);
      const float y = seen[1] + static_cast<float>(dy);
      constexpr float size = static_cast<float>(shadow_size);
      const bool outside = !(x >= 0 && y >= 0 && x < size && y < size);
      if (outside || seen[2] - tolerance_ <= depth_.depth(static_cast<std::size_t>(x), static_cast<std::size_t>(y)))
        ++lit;
    }
  }
  return static_cast<float>(lit) / ((2 * reach + 1) * (2 * reach + 1));
}

crevices::crevices(const depth_buffer& depth, const camera& view, const sphere_list& spheres)
    : width_(depth.width() / samples) {
  const std::size_t height = depth.height() / samples;
  std::vector<float> nearest(width_ * height);
  float low = std::numeric_limits<float>::max(), high = 0;
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    const float z = depth.depth(i % width_ * samples, i / width_ * samples);
    nearest[i] = z;
    if (depth.sphere(i % width_ * samples, i / width_ * samples) == no_sphere) continue;
    low = std::min(low, z);
    high = std::max(high, z);
  }
  if (spheres.center.empty() || high <= low) return;
  // The distant ground must not look like an abyss behind the grains.
  for (float& z : nearest) z = std::min(z, high);
  // Grains are drawn at least one element of the depth buffer wide.
  const float scale = view.scale_at(0.5f * (low + high));
  const float radius = std::max(*std::min_element(spheres.radius.begin(), spheres.radius.end()), 1 / scale);
  const float grain_pixels = radius * scale / samples;
  for (const auto& [size, strength] : {std::pair{1.6f, 0.55f}, std::pair{7.0f, 0.5f}}) {
    blurred layer{nearest, size * radius, strength};
    // Bounds the blur by the size of the picture, however large the grains are.
    const float most = static_cast<float>(std::max(width_, height));
    const auto reach = static_cast<std::ptrdiff_t>(std::clamp(0.6f * size * grain_pixels, 1.0f, most));
    for (int pass = 0; pass < 3; ++pass) {
      box_blur(layer.depth, width_, height, 1, width_, reach);
      box_blur(layer.depth, height, width_, width_, 1, reach);
    }
    layers_.push_back(std::move(layer));
  }
}

float crevices::open_sky(std::size_t x, std::size_t y, float depth) const {
  float open = 1;
  for (const blurred& layer : layers_) {
    const float deeper = (depth - layer.depth[y / samples * width_ + x / samples]) / layer.length;
    if (deeper > 0) open *= 1 - layer.strength * deeper / (deeper + 0.7f);
  }
  return open;
}

}  // namespace quadrat::io

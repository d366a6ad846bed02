// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "quadrat/io/scene.hpp"

namespace quadrat::io {

/// Checks common to the scenes of all models.
template <typename Scene>
class scene_demands {
 public:
  scene_demands(const Scene& scene, const scene_places& places) : scene_(scene), places_(places) {}

 protected:
  template <typename... Parts>
  void demand(bool condition, const std::string& key, const Parts&... parts) const {
    if (!condition) throw scene_error(message(places_.of(key), ": ", key, " ", parts...));
  }

  void all_finite() const {
    visit_keys(scene_, [&](std::string_view table, std::string_view key, const auto& value) {
      const std::string name = message(table, ".", key);
      using value_type = std::decay_t<decltype(value)>;
      if constexpr (std::is_same_v<value_type, double>) finite(name, value);
      if constexpr (std::is_same_v<value_type, std::optional<double>>) finite(name, value.value_or(0));
      if constexpr (std::is_same_v<value_type, triple>) finite(name, value);
      if constexpr (std::is_same_v<value_type, std::optional<triple>>) finite(name, value.value_or(triple{}));
    });
  }

  void finite(const std::string& key, double value) const {
    demand(std::isfinite(value), key, "is ", value, ", not a finite number");
  }
  void finite(const std::string& key, const triple& values) const {
    for (const double value : values) finite(key, value);
  }

  /// Terminals interpret control characters (U+0000 to U+001F, U+007F to U+009F) as commands.
  void printable(const std::string& key, std::string_view text) const {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto first = static_cast<unsigned char>(text[i]);
      const auto second = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
      const bool control = first < 0x20 || first == 0x7f || (first == 0xc2 && second >= 0x80 && second < 0xa0);
      demand(!control, key, "holds a control character at byte ", i, " (from 0); it is shown, and must be printable");
    }
  }

  /// The name becomes a folder below out/.
  void name() const {
    const std::string& name = scene_.scene.name;
    printable("scene.name", name);
    demand(name.find('/') == std::string::npos && !name.starts_with('.'), "scene.name", "is \"", name,
           "\", but names a folder: it must not hold a / or start with a dot");
  }

  void running() const {
    const run_table& run = scene_.run;
    demand(run.steps >= 0, "run.steps", "is ", run.steps, ", but must not be negative");
    demand(run.threads >= 0 && run.threads <= 4096, "run.threads", "is ", run.threads,
           ", but must lie between 0 (all) and 4096");
  }

  void output() const {
    const output_table& o = scene_.output;
    printable("output.directory", o.directory);
    demand(o.frame_every >= 0, "output.frame_every", "is ", o.frame_every, ", but must not be negative");
    demand(o.checkpoint_every >= 0, "output.checkpoint_every", "is ", o.checkpoint_every, ", but must not be negative");
    demand(o.statistics_every >= 0, "output.statistics_every", "is ", o.statistics_every, ", but must not be negative");
    const camera_table& camera = scene_.camera;
    demand(std::abs(camera.elevation) <= 89, "camera.elevation", "is ", camera.elevation,
           ", but must lie between -89 and 89 degrees");
    demand(camera.zoom > 0, "camera.zoom", "is ", camera.zoom, ", but must be positive");
  }

  const Scene& scene_;
  const scene_places& places_;
};

/// scene.name and output.directory.
template <typename Scene>
void complete_names(Scene& scene, const scene_places& places) {
  if (scene.scene.name.empty()) scene.scene.name = std::filesystem::path(places.file()).stem().string();
  if (scene.output.directory.empty()) scene.output.directory = "out/" + scene.scene.name;
}

}  // namespace quadrat::io

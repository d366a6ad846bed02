// SPDX-License-Identifier: BSD-3-Clause
#include "run_options.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "device.hpp"
#include "quadrat/models/granular.hpp"

namespace quadrat::program {
namespace {

std::vector<std::string_view> method_names() {
  std::vector<std::string_view> names{"auto"};
  for (const granular_method& method : granular_methods()) names.push_back(method.name);
  return names;
}

/// Puts values of options into a scene and remembers where they came from.
class overrides {
 public:
  explicit overrides(io::granular_scene_file& file) : file_(file) {}

  template <typename T>
  void apply(const std::optional<T>& given, T& member, const std::string& key, const std::string& option) {
    if (!given) return;
    member = *given;
    file_.places.set(key, option);
  }

  template <typename Enum>
  void apply_name(const std::optional<std::string>& given, Enum& member, const std::string& key,
                  const std::string& option) {
    if (!given) return;
    const auto& names = io::names_of<Enum>;
    const auto found = std::find(names.begin(), names.end(), *given);
    // The command line was checked against the same list when it was read.
    member = static_cast<Enum>(found - names.begin());
    file_.places.set(key, option);
  }

 private:
  io::granular_scene_file& file_;
};

}  // namespace

io::granular_scene load_scene(const run_options& options) {
  io::granular_scene_file file = io::read_granular_scene(options.scene);
  io::granular_scene& scene = file.scene;
  overrides given(file);
  given.apply_name(options.device, scene.run.device, "run.device", "--device");
  given.apply_name(options.deterministic, scene.run.deterministic, "run.deterministic", "--deterministic");
  given.apply_name(options.precision, scene.run.precision, "run.precision", "--precision");
  given.apply(options.method, scene.run.method, "run.method", "--method");
  given.apply(options.output, scene.output.directory, "output.directory", "--output");
  given.apply(options.steps, scene.run.steps, "run.steps", "--steps");
  given.apply(options.particles, scene.particles.count, "particles.count", "--particles");
  given.apply(options.threads, scene.run.threads, "run.threads", "--threads");
  given.apply(options.seed, scene.particles.seed, "particles.seed", "--seed");
  io::check(scene, file.places, method_names());
  io::complete(scene, file.places);
  scene.run.device = resolved(scene.run.device);
  return scene;
}

}  // namespace quadrat::program

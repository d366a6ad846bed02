// SPDX-License-Identifier: BSD-3-Clause
#include "recorder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "progress_bar.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/atomic_file.hpp"
#include "quadrat/io/png.hpp"
#include "quadrat/io/preview.hpp"
#include "quadrat/io/vtk.hpp"
#include "stopwatch.hpp"

namespace quadrat::program {
namespace {

vec<double, 3> as_vec(const io::triple& t) { return {t[0], t[1], t[2]}; }

io::preview_stage stage_of(const io::granular_scene& scene) {
  io::preview_stage stage{as_vec(scene.box.lower), as_vec(scene.box.upper), scene.particles.radius,
                          as_vec(scene.physics.gravity)};
  if (scene.collider.radius) stage.collider = {as_vec(scene.collider.center.value()), *scene.collider.radius};
  return stage;
}

io::preview_options picture_options(const io::granular_scene& scene, const simulation& model) {
  io::preview_options options;
  options.azimuth = scene.camera.azimuth;
  options.elevation = scene.camera.elevation;
  options.zoom = scene.camera.zoom;
  options.top_speed = scene.camera.speed;
  options.title = scene.scene.name;
  std::replace(options.title.begin(), options.title.end(), '_', ' ');
  const std::string where = model.backend() == "cpu"
                                ? fmt::format("CPU, {} thread{}", model.threads(), model.threads() == 1 ? "" : "s")
                                : model.device_name();
  options.subtitle = fmt::format("{} grains \u00b7 step {} \u00b7 t = {:g} \u00b7 {} \u00b7 {}",
                                 with_commas(model.size()), with_commas(model.step()),
                                 static_cast<double>(model.step()) * scene.physics.time_step, model.method(), where);
  return options;
}

}  // namespace

recorder::recorder(const io::granular_scene& scene, simulation& model, const output_folder& folder)
    : scene_(scene), model_(model), folder_(folder) {}

void recorder::begin() {
  folder_.start_over();
  record();
}

void recorder::resume() {
  const auto file = folder_.checkpoint();
  if (!std::filesystem::exists(file)) {
    throw io_error(message("nothing to resume: there is no checkpoint ", file.string()));
  }
  const io::checkpoint state = io::read_checkpoint(file);
  if (const auto other = io::first_difference(state.parameters, io::to_text(scene_))) {
    const auto shown = [](const std::string& value) { return value.empty() ? std::string("left out") : value; };
    throw io::scene_error(message("cannot resume: ", other->key, " was ", shown(other->stored), " in ", file.string(),
                                  ", but is ", shown(other->asked), " now"));
  }
  model_.restore(state);
  table_.restore(state);
  frames_ = folder_.keep_frames_up_to(state.step, scene_.physics.time_step);
  saved_step_ = state.step;
}

std::uint64_t recorder::next_stop(std::uint64_t last) const {
  std::uint64_t next = last;
  const auto& output = scene_.output;
  for (const std::int64_t period : {output.statistics_every, output.frame_every, output.checkpoint_every}) {
    if (period <= 0) continue;
    const auto stride = static_cast<std::uint64_t>(period);
    next = std::min(next, (model_.step() / stride + 1) * stride);
  }
  return next;
}

void recorder::record() {
  if (due(scene_.output.statistics_every)) measure();
  if (due(scene_.output.frame_every)) write_frame();
  // The checkpoint comes last: whoever goes on from it has everything that belongs to its step.
  if (due(scene_.output.checkpoint_every) && model_.step() > 0) write_checkpoint();
}

granular_statistics recorder::finish() {
  // The checkpoint comes first: whoever takes more steps from it must not have a row that a longer run would not have.
  if (scene_.output.checkpoint_every > 0 && saved_step_ != model_.step()) write_checkpoint();
  const granular_statistics last = measure();
  write_statistics();
  if (scene_.output.preview) write_preview();
  return last;
}

granular_statistics recorder::interrupt() {
  // Not added to the table: an unbroken run would not have it.
  const granular_statistics now = model_.measure();
  if (saved_step_ != model_.step()) write_checkpoint();
  write_statistics();
  return now;
}

bool recorder::due(std::int64_t period) const {
  return period > 0 && model_.step() % static_cast<std::uint64_t>(period) == 0;
}

granular_statistics recorder::measure() {
  const stopwatch time(measuring_);
  const granular_statistics now = model_.measure();
  table_.add(now);
  return now;
}

void recorder::write_frame() {
  const stopwatch time(writing_);
  const snapshot seen = model_.look();
  const std::string name = output_folder::frame_name(model_.step());
  const double now = static_cast<double>(model_.step()) * scene_.physics.time_step;
  io::write_vtp(folder_.path() / name, points_of(seen.positions.data(), seen.positions.size()),
                points_of(seen.velocities.data(), seen.velocities.size()), now);
  frames_.push_back({now, name});
  io::write_pvd(folder_.collection(), frames_);
}

void recorder::write_checkpoint() {
  const stopwatch time(writing_);
  io::checkpoint state = model_.save();
  state.parameters = io::to_text(scene_);
  table_.save(state);
  io::write_checkpoint(folder_.checkpoint(), state);
  saved_step_ = state.step;
}

void recorder::write_statistics() {
  const stopwatch time(writing_);
  io::write_text_file(folder_.statistics(), table_.as_csv(scene_.physics.time_step));
}

void recorder::write_preview() {
  const stopwatch time(writing_);
  const snapshot seen = model_.look();
  const io::image picture =
      io::draw_preview(stage_of(scene_), points_of(seen.positions.data(), seen.positions.size()),
                       points_of(seen.velocities.data(), seen.velocities.size()), picture_options(scene_, model_));
  io::write_png(folder_.preview(), picture);
}

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
#include "program/run/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "program/process/progress_bar.hpp"
#include "program/process/stopwatch.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/atomic_file.hpp"
#include "quadrat/io/particle_frame.hpp"
#include "quadrat/io/png.hpp"
#include "quadrat/io/vtk.hpp"

namespace quadrat::program {
namespace {

std::string title_of(const run_plan& plan) {
  std::string title = plan.name;
  std::replace(title.begin(), title.end(), '_', ' ');
  return title;
}

std::string description_of(const run_plan& plan, const simulation& model) {
  const std::string where = model.backend() == "cpu"
                                ? fmt::format("CPU, {} thread{}", model.threads(), model.threads() == 1 ? "" : "s")
                                : model.device_name();
  return fmt::format("{} {} \u00b7 step {} \u00b7 t = {:g} \u00b7 {} \u00b7 {}", with_commas(model.size()),
                     plan.particles, with_commas(model.step()), static_cast<double>(model.step()) * plan.time_step,
                     model.method(), where);
}

void write(io::frame_file_format format, const std::filesystem::path& file, const io::particle_frame& frame) {
  switch (format) {
    case io::frame_file_format::vtp:
      return io::write_vtp(file, frame);
    case io::frame_file_format::vtu:
      return io::write_vtu(file, frame);
    case io::frame_file_format::xyz:
      return io::write_xyz(file, frame);
  }
}

}  // namespace

recorder::recorder(const run_plan& plan, simulation& model, output_folder& folder)
    : plan_(plan), model_(model), folder_(folder), table_(model.measured_names()) {}

void recorder::begin(bool overwrite) {
  require(overwrite || !folder_.holds_run(), folder_.path().string(),
          " holds a run already: --resume goes on with it, --overwrite replaces it (or give another folder with "
          "--output)");
  folder_.require_no_others();
  folder_.remove_leftovers();
  folder_.remove_run();
  record();
}

void recorder::resume() {
  folder_.require_no_others();
  const io::checkpoint state = read_checkpoint();
  try {
    model_.restore(state);
    table_.restore(state);
  } catch (const io_error& problem) {
    throw io_error(message(folder_.checkpoint().string(), ": ", problem.what()));
  }
  saved_step_ = state.step;
  // All checks have passed; from here on, files are changed.
  for (const frame_file& frame : folder_.frames_up_to(state.step)) {
    frames_.push_back({static_cast<double>(frame.step) * plan_.time_step, frame.name});
  }
  folder_.remove_leftovers();
  if (folder_.lists(folder_.collection())) write_collection();
  folder_.remove_frames_after(state.step);
}

/// Reads the folder's checkpoint, and checks that this run can continue from it.
io::checkpoint recorder::read_checkpoint() const {
  const auto file = folder_.checkpoint();
  if (!std::filesystem::exists(file)) {
    throw io_error(message("nothing to resume: there is no checkpoint ", file.string()));
  }
  io::checkpoint state = model_.shares_files() ? model_.read_checkpoint(file) : io::read_checkpoint(file);
  if (const auto other = io::first_difference(state.parameters, plan_.text)) {
    const auto shown = [](const std::string& value) { return value.empty() ? std::string("left out") : value; };
    throw io::scene_error(message("cannot resume: ", other->key, " was ", shown(other->stored), " in ", file.string(),
                                  ", but is ", shown(other->asked), " now"));
  }
  require(state.step <= plan_.steps, "run.steps is ", plan_.steps, ", but the run to resume is at step ", state.step,
          " already");
  return state;
}

std::uint64_t recorder::next_stop(std::uint64_t last) const {
  std::uint64_t next = last;
  const auto& output = plan_.output;
  for (const std::int64_t period : {output.statistics_every, output.frame_every, output.checkpoint_every}) {
    if (period <= 0) continue;
    const auto stride = static_cast<std::uint64_t>(period);
    next = std::min(next, (model_.step() / stride + 1) * stride);
  }
  return next;
}

void recorder::record() {
  if (due(plan_.output.statistics_every)) measure();
  if (due(plan_.output.frame_every)) write_frame();
  // The checkpoint comes last: a run that continues from it has everything that belongs to its step.
  if (due(plan_.output.checkpoint_every) && model_.step() > 0) write_checkpoint();
}

void recorder::save_last(bool stopped) {
  if ((stopped || plan_.output.checkpoint_every > 0) && saved_step_ != model_.step()) write_checkpoint();
}

measurement recorder::finish() {
  measurement last = measure();
  write_statistics();
  if (plan_.output.preview) write_preview();
  return last;
}

measurement recorder::interrupt() {
  // Not added to the table, because an uninterrupted run would not have this row.
  measurement now = model_.measure();
  write_statistics();
  return now;
}

std::size_t recorder::frames() const {
  std::size_t count = 0;
  for (std::size_t k = 0; k < frames_.size(); ++k) count += k == 0 || frames_[k].time != frames_[k - 1].time ? 1 : 0;
  return count;
}

bool recorder::due(std::int64_t period) const {
  return period > 0 && model_.step() % static_cast<std::uint64_t>(period) == 0;
}

measurement recorder::measure() {
  const stopwatch time(measuring_);
  measurement now = model_.measure();
  table_.add(now);
  return now;
}

void recorder::write_frame() {
  const stopwatch time(writing_);
  const double now = static_cast<double>(model_.step()) * plan_.time_step;
  const bool shared = model_.shares_files();
  io::particle_frame frame;
  if (!shared) frame = model_.frame();
  frame.time = now;
  for (const io::frame_file_format format : plan_.output.frame_format) {
    const std::string name = output_folder::frame_name(model_.step(), format, shared);
    const auto file = folder_.claim(folder_.path() / name);
    shared ? model_.write_frame(file, now) : write(format, file, frame);
    frames_.push_back({now, name});
  }
  write_collection();
}

/// ParaView opens a collection of VTK files. It opens other formats as a series of files by their names.
void recorder::write_collection() {
  std::vector<io::pvd_entry> listed = frames_;
  std::erase_if(listed, [](const io::pvd_entry& one) { return one.file.ends_with(".xyz"); });
  if (!listed.empty()) io::write_pvd(folder_.claim(folder_.collection()), listed);
}

void recorder::write_checkpoint() {
  const stopwatch time(writing_);
  const bool shared = model_.shares_files();
  io::checkpoint state;
  if (!shared) state = model_.save();
  state.parameters = plan_.text;
  table_.save(state);
  const auto file = folder_.claim(folder_.checkpoint());
  shared ? model_.write_checkpoint(file, state) : io::write_checkpoint(file, state);
  saved_step_ = model_.step();
}

void recorder::write_statistics() {
  const stopwatch time(writing_);
  io::write_text_file(folder_.claim(folder_.statistics()), table_.as_csv(plan_.time_step));
  for (const run_csv& one : model_.tables()) io::write_text_file(folder_.claim(folder_.table(one.name)), one.text);
}

void recorder::write_preview() {
  const stopwatch time(writing_);
  io::image picture = model_.draw();
  picture.text.insert(picture.text.begin(),
                      {{"Title", title_of(plan_)}, {"Description", description_of(plan_, model_)}});
  io::write_png(folder_.claim(folder_.preview()), picture);
}

}  // namespace quadrat::program

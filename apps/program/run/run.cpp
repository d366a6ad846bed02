// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "program/commands.hpp"
#include "program/explain.hpp"
#include "program/option_checks.hpp"
#include "program/process/interruption.hpp"
#include "program/process/progress_bar.hpp"
#include "program/process/stopwatch.hpp"
#include "program/run/options.hpp"
#include "program/run/output_folder.hpp"
#include "program/run/plan.hpp"
#include "program/run/ranks/ranks.hpp"
#include "program/run/recorder.hpp"
#include "program/run/simulation.hpp"
#include "program/run/summary.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/atomic_file.hpp"

namespace quadrat::program {
namespace {

/// The number of steps between checks: about a tenth of a second of work. So Ctrl-C and the progress bar respond, while
/// a GPU is kept busy.
class chunk_length {
 public:
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  void took(std::uint64_t steps, double seconds) {
    constexpr double aim = 0.1;
    const double fitting = seconds > 0 ? static_cast<double>(steps) * aim / seconds : 2.0 * static_cast<double>(steps_);
    // Grows slowly: the first steps allocate, and their time says little about later ones.
    steps_ = static_cast<std::uint64_t>(std::clamp(fitting, 1.0, 2.0 * static_cast<double>(steps_)));
  }

 private:
  std::uint64_t steps_ = 1;
};

/// Takes steps until the scene's last one or a signal.
void advance(simulation& model, recorder& records, std::uint64_t last, const interruption& stop, progress_bar& bar,
             double& seconds) {
  chunk_length chunk;
  while (model.step() < last && stop.signal() == 0) {
    const std::uint64_t steps = std::min(records.next_stop(last) - model.step(), chunk.steps());
    double taken = 0;
    {
      const stopwatch time(taken);
      model.run(steps);
    }
    seconds += taken;
    chunk.took(steps, taken);
    records.record();
    bar.show(model.step());
  }
}

run_plan checked_plan(const run_options& options) {
  run_plan plan = load_plan(options);
  if (options.resume && !std::filesystem::exists(plan.output.directory)) {
    throw io_error(message("nothing to resume: there is no folder ", plan.output.directory));
  }
  return plan;
}

void print_end(const run_report& report, const run_options& options, const run_plan& plan, const simulation& model,
               output_folder& folder) {
  const std::string summary = as_json(report, plan, model, folder).dump(2);
  io::write_text_file(folder.claim(folder.summary()), summary + "\n");
  if (options.json) {
    std::puts(summary.c_str());
  } else if (!options.quiet) {
    const std::optional<explanation> why = model.explained();
    std::fputs(explained_text(as_text(report, plan, model, folder), options.explain && why, why.value_or(explanation()))
                   .c_str(),
               stdout);
  }
  if (report.signal == 0) return;
  std::fflush(stdout);
  std::fprintf(stderr,
               "quadrat: stopped at step %s of %s; to go on, repeat the command with --resume (checkpoint: %s)\n",
               with_commas(report.last_step).c_str(), with_commas(plan.steps).c_str(), folder.checkpoint().c_str());
}

/// Prints a note if the coming frames, each as large as the first, will not fit on the disk.
void note_disk(const run_plan& plan, const simulation& model, const output_folder& folder) {
  if (plan.output.frame_every <= 0) return;
  std::error_code none;
  std::uintmax_t frame = 0;
  for (const io::frame_file_format format : plan.output.frame_format) {
    frame += folder.frame_bytes(output_folder::frame_name(model.step(), format, model.shares_files()));
  }
  const auto space = std::filesystem::space(folder.path(), none);
  const auto frames = (plan.steps - model.step()) / static_cast<std::uint64_t>(plan.output.frame_every);
  const double needed = static_cast<double>(frames) * static_cast<double>(frame);
  if (none || needed <= static_cast<double>(space.available)) return;
  std::fprintf(stderr, "quadrat: note: %s more frames will take about %sB, but %s has %sB free (output.frame_every)\n",
               with_commas(frames).c_str(), with_prefix(needed).c_str(), folder.path().c_str(),
               with_prefix(static_cast<double>(space.available)).c_str());
}

run_report simulate(const run_options& options, const run_plan& plan, simulation& model, output_folder& folder) {
  run_report report;
  recorder records(plan, model, folder);
  options.resume ? records.resume() : records.begin(options.overwrite);
  report.resumed = options.resume;
  report.first_step = model.step();
  const std::uint64_t last = plan.steps;
  if (!options.quiet && !options.resume) note_disk(plan, model, folder);
  {
    interruption stop;
    progress_bar bar(plan.name, model.step(), last, model.size(), {!options.quiet, options.progress_seconds});
    advance(model, records, last, stop, bar, report.simulation_seconds);
    records.save_last(stop.signal() != 0);
    report.signal = stop.end();
  }
  report.statistics = report.signal == 0 ? records.finish() : records.interrupt();
  report.last_step = model.step();
  report.measuring_seconds = records.measuring_seconds();
  report.writing_seconds = records.writing_seconds();
  report.frames = records.frames();
  report.ranks = model.rank_reports();
  return report;
}

/// Runs the plan, on the rank that writes.
void run_model(const run_options& options, const run_plan& plan, const std::unique_ptr<simulation>& model,
               const stopwatch& time) {
  output_folder folder(plan.output.directory);
  run_report report = simulate(options, plan, *model, folder);
  report.total_seconds = time.elapsed();
  print_end(report, options, plan, *model, folder);
  if (report.signal != 0) throw CLI::RuntimeError(128 + report.signal);
}

/// Runs one rank of several. All ranks find the same errors in the scene.
void run_rank(const run_options& options, const stopwatch& time, communicator& ranks) {
  run_plan plan;
  together(ranks, [&] { plan = checked_plan(options); });
  const std::unique_ptr<simulation> model = plan.make_on(ranks);
  if (model != nullptr) run_model(options, plan, model, time);
}

void run_scene(const run_options& options) {
  require(options.progress_seconds >= 0, "--progress is ", options.progress_seconds, "; it must not be negative");
  double seconds = 0;
  const stopwatch time(seconds);
  if (wants_ranks(options.devices)) {
    on_ranks(options.devices, [&](communicator& ranks) { run_rank(options, time, ranks); });
    return;
  }
  const run_plan plan = checked_plan(options);
  run_model(options, plan, plan.make(), time);
}

void add_overrides(CLI::App& command, run_options& o) {
  const std::string group = "In place of the scene's values";
  command.add_option("--device", o.device, "where to run: auto, cpu or cuda")
      ->check(one_of(io::names_of<io::device_choice>))
      ->group(group);
  command
      .add_option(
          "--method", o.method,
          "how to find neighbors; of Circles, the order; of Brownian dynamics, the mobility (quadrat info lists all)")
      ->group(group);
  command.add_option("--steps", o.steps, "how many steps, from step 0")->check(whole_number())->group(group);
  command.add_option("--particles", o.particles, "how many grains, agents or particles")
      ->check(whole_number())
      ->group(group);
  command.add_option("--threads", o.threads, "threads on the CPU (0: all)")->check(whole_number())->group(group);
  command.add_option("--seed", o.seed, "seed of the random numbers")->check(whole_number())->group(group);
  command.add_option("--precision", o.precision, "float or double")
      ->check(one_of(io::names_of<io::number_precision>))
      ->group(group);
  command
      .add_flag_callback(
          "--no-autotune", [&o] { o.autotune = false; },
          "choose methods by the profile alone, without timing the first steps")
      ->group(group);
  command
      .add_flag("--deterministic{run_to_run}", o.deterministic,
                "same bits in every run; --deterministic=canonical: also with every method")
      ->check(one_of(io::names_of<determinism>))
      ->group(group);
  add_devices_option(command, o.devices);
  command
      .add_option("--frame-format", o.frame_format,
                  "file format of frames: vtp, vtu, xyz, or several, separated by commas")
      ->check(one_of(io::names_of<io::frame_file_format>))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("FORMAT")
      ->group(group);
  command.add_option("--output", o.output, "folder for the results")->type_name("DIR")->group(group);
}

}  // namespace

void add_run(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("run", "Run the simulation that a scene file describes");
  const auto options = std::make_shared<run_options>();
  command->add_option("SCENE.toml", options->scene, "scene file (docs/reference/scenes.md describes it)")
      ->required()
      ->check(existing_file())
      ->type_name("");
  add_overrides(*command, *options);
  CLI::Option* const resume =
      command->add_flag("--resume", options->resume, "continue from the last checkpoint in the output folder");
  command
      ->add_flag("--overwrite", options->overwrite, "replace the run in the output folder; other files there are kept")
      ->excludes(resume);
  command->add_flag("--json", options->json, "print the summary as JSON, and nothing else, on stdout");
  command
      ->add_option("--progress", options->progress_seconds,
                   "seconds between lines of progress if stderr is no terminal; 0: no lines")
      ->check(any_number())
      ->type_name("SECONDS")
      ->capture_default_str();
  command->add_flag("--quiet", options->quiet, "no progress, no summary");
  add_explain_option(*command, options->explain);
  command->footer(
      "Examples:\n"
      "  quadrat run examples/dam_break.toml\n"
      "  quadrat run examples/dam_break.toml --device cuda --particles 131072 --output out/large\n"
      "  quadrat run examples/dam_break.toml --deterministic --threads 2 --json > result.json\n"
      "  quadrat run examples/circles_2d.toml --method hybrid\n"
      "  quadrat run examples/poiseuille.toml   (a fluid between plates, measured against theory)\n"
      "  quadrat run examples/dam_break.toml --resume --steps 4000   (after Ctrl-C, kill -9, or for longer)\n"
      "  mpirun -n 4 quadrat run examples/dam_break.toml             (four processes share the grains)\n\n"
      "A run changes only its own files, and replaces an earlier run only with --overwrite.\n"
      "Ctrl-C during steps writes a checkpoint and stops; a second Ctrl-C stops at once. All files are complete\n"
      "in either case.\n"
      "Returns 0; 1 when something failed; 2 when the command line or the scene is wrong; 130 after Ctrl-C,\n"
      "143 after SIGTERM.");
  command->callback([options] { run_scene(*options); });
}

}  // namespace quadrat::program

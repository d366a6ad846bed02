// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "io/text.hpp"
#include "program/commands.hpp"
#include "program/device.hpp"
#include "program/option_checks.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/atomic_file.hpp"
#include "quadrat/io/scene.hpp"
#include "quadrat/tune/device_profile.hpp"

#include "choice/tuning.hpp"

namespace quadrat::program {
namespace {

struct tune_options {
  bench::tuning what;
  std::string device = "auto";
  std::filesystem::path output;
  std::filesystem::path profile;  ///< an existing profile to evaluate instead of a new one
  std::string name;
};

/// The device that is measured, or that the given results are of.
[[nodiscard]] device_facts measured_device(tune_options& options) {
  const bool cuda = options.device == "cuda" || (options.device == "auto" && !cuda_devices().empty());
  options.what.asked.on_cuda = cuda;
  device_facts facts;
  if (cuda && !options.what.from.empty()) {
    facts = shipped_profile(true).device;
  } else if (cuda) {
    facts = facts_of(cuda_context());
  } else {
    cpu_context::options chosen;
    chosen.threads = options.what.asked.threads;
    facts = facts_of(cpu_context(chosen));
  }
  if (!options.name.empty()) facts.name = options.name;
  options.what.asked.device_name = facts.name;
  options.what.asked.topic = "choice";
  options.what.asked.full = true;
  if (options.what.asked.threads == 0) options.what.asked.threads = cpu_context().threads();
  if (options.what.asked.limit_s == 0) options.what.asked.limit_s = cuda ? 110 : 280;
  return facts;
}

/// Evaluates an existing profile.
void judge_profile(tune_options& options) {
  require(!options.what.check.empty(), "--judge needs results of quadrat bench choice; name them with --check");
  const device_profile profile = profile_from_json(io::read_whole_file(options.profile));
  options.what.asked.on_cuda = profile.device.cuda;
  options.what.asked.device_name = options.name.empty() ? profile.device.name : options.name;
  options.what.asked.topic = "choice";
  options.what.asked.full = true;
  bench::check_profile(options.what, profile);
}

void run_tune(tune_options& options) {
  if (!options.profile.empty()) return judge_profile(options);
  const device_facts device = measured_device(options);
  std::filesystem::path target = options.output.empty() ? profile_path(device) : options.output;
  require(!target.empty(), "there is no home folder to put the profile in; say where with --output");
  {
    const io::atomic_file trial(target);  // not committed: only checks before measuring that the file can be written
  }
  const device_profile profile = bench::tune(options.what, device);
  io::write_text_file(target, to_json(profile));
  std::printf("%zu constants of %s are in %s\n", profile.constants.size(), device.name.c_str(), target.c_str());
  bench::check_profile(options.what, profile);
}

}  // namespace

void add_tune(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("tune", "Measure this machine, to make the automatic choices fit it");
  const auto options = std::make_shared<tune_options>();
  tune_options& o = *options;
  command->add_option("--device", o.device, "auto, cpu or cuda")
      ->check(one_of(io::names_of<io::device_choice>))
      ->capture_default_str();
  command->add_option("--threads", o.what.asked.threads, "CPU threads; 0: all")
      ->check(whole_number(0, cpu_context::most_threads));
  command->add_option("--limit", o.what.asked.limit_s, "seconds to measure; 0, the default: 110 on a GPU, 280 on a CPU")
      ->check(any_number());
  command->add_option("--from", o.what.from, "fit to results of quadrat bench choice --json instead of measuring")
      ->check(existing_file());
  command->add_option("--name", o.name, "name of the device of these results");
  command->add_option("--check", o.what.check, "evaluate the profile on the test cases of such results")
      ->check(existing_file());
  command->add_option("--judge", o.profile, "evaluate this profile; measure and fit nothing")->check(existing_file());
  command->add_option("--json", o.what.judged, "write the evaluation to this file");
  command->add_option("-o,--output", o.output, "file for the profile; default: where the library looks for it");
  command->footer(
      "All methods are timed on some hundred random cases. The constants of their costs go to a profile in\n"
      "$XDG_CACHE_HOME/quadrat or ~/.cache/quadrat, which every choice on this device then uses; QUADRAT_PROFILE "
      "names\n"
      "another file. docs/concepts/choosing.md says more.\n\n"
      "Examples:\n"
      "  quadrat tune                                 this machine's GPU, or its CPU\n"
      "  quadrat tune --device cpu --threads 16\n"
      "  quadrat bench choice --full --json all.json && quadrat tune --from all.json --check all.json\n\n"
      "Returns 0; 1 when something failed; 2 when the command line is wrong.");
  command->callback([options] {
    require(options->what.asked.limit_s >= 0, "--limit is ", options->what.asked.limit_s, "; it must not be negative");
    run_tune(*options);
  });
}

}  // namespace quadrat::program

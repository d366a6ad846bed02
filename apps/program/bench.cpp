// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "program/commands.hpp"
#include "program/device.hpp"
#include "program/option_checks.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/scene.hpp"

#include "topics.hpp"

namespace quadrat::program {
namespace {

constexpr std::array<std::string_view, 2> choice_grids{"fit", "test"};

struct bench_options {
  bench::settings asked;
  bool quick = false;
  std::string device = "auto";
  std::string part;
};

/// Parses "2/5": the second of five parts.
void read_part(const std::string& text, bench::settings& asked) {
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, asked.part);
  const bool divided = first.ec == std::errc{} && first.ptr != end && *first.ptr == '/';
  const auto second = divided ? std::from_chars(first.ptr + 1, end, asked.parts) : first;
  require(divided && second.ec == std::errc{} && second.ptr == end && asked.part >= 1 && asked.part <= asked.parts,
          "--part is ", text, "; it must be K/N with 1 <= K <= N, as 2/5");
}

/// Chooses the device and sets its name.
void choose_device(bench_options& options) {
  const auto devices = cuda_devices();
  options.asked.on_cuda = options.device == "cuda" || (options.device == "auto" && !devices.empty());
  if (options.asked.on_cuda) {
    const cuda_context context;  // throws an error that says what is missing
    options.asked.device_name = devices.at(static_cast<std::size_t>(context.device())).name;
  } else {
    options.asked.device_name = cpu_name();
  }
  if (options.asked.threads == 0) options.asked.threads = cpu_context().threads();
}

std::string footer() {
  std::string text = "Topics and their operations:\n";
  for (const bench::topic& topic : bench::topics()) {
    text += "  " + std::string(topic.name) + ": " + std::string(topic.summary) + "\n";
    std::size_t longest = 0;
    for (const bench::operation& operation : topic.operations) longest = std::max(longest, operation.name.size());
    for (const bench::operation& operation : topic.operations) {
      std::string name(operation.name);
      name.resize(longest + 2, ' ');
      text += "    " + name + std::string(operation.summary);
      if (operation.figure != 0) text += " (--figure " + std::to_string(operation.figure) + ")";
      text += "\n";
    }
  }
  return text +
         "Results of methods are compared before methods are timed. A row whose times vary much says so.\n"
         "Examples:\n"
         "  quadrat bench cells                                    some small sizes, in seconds\n"
         "  quadrat bench cells --full --json cells.json           all sizes\n"
         "  quadrat bench granular --figure 2 --full --device cuda  a figure of the paper\n"
         "Returns 0; 1 when a row failed; 2 when the command line is wrong.";
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("bench", "Time the methods of a topic");
  const auto options = std::make_shared<bench_options>();
  command->add_option("TOPIC", options->asked.topic, "what to time")->required()->type_name("");
  CLI::Option* const quick = command->add_flag("--quick", options->quick, "some small sizes, in seconds (the default)");
  command->add_flag("--full", options->asked.full, "all sizes that suit the device, in minutes")->excludes(quick);
  command->add_option("--device", options->device, "auto, cpu or cuda")
      ->check(one_of(io::names_of<io::device_choice>))
      ->capture_default_str();
  command->add_option("--threads", options->asked.threads, "CPU threads; 0: all")
      ->check(whole_number(0, cpu_context::most_threads));
  command->add_option("--method", options->asked.methods, "only these methods");
  command->add_option("--op", options->asked.operations, "only these operations");
  command->add_option("--figure", options->asked.figures, "only these figures of the paper")->check(whole_number());
  command->add_option("--json", options->asked.json, "write the result to this file");
  command->add_option("--limit", options->asked.limit_s, "start no new measurement after this many seconds")
      ->check(any_number());
  command
      ->add_option(
          "--turns", options->asked.turns,
          "lock file: processes that share it prepare cases of a choice concurrently, but time them one at a time")
      ->type_name("FILE");
  command->add_option("--part", options->part, "only every N-th case of a choice, starting at the K-th")
      ->type_name("K/N");
  command->add_flag("--resume", options->asked.resume,
                    "keep the cases of a choice that are already in the file of --json");
  command
      ->add_option("--grid", options->asked.grid,
                   "only the cases of a choice for fitting constants (fit), or only the others (test)")
      ->check(one_of(choice_grids));
  command->footer(footer());
  command->callback([options] {
    require(options->asked.limit_s >= 0, "--limit is ", options->asked.limit_s, "; it must not be negative");
    require(!options->asked.resume || !options->asked.json.empty(), "--resume needs the file of --json");
    if (!options->part.empty()) read_part(options->part, options->asked);
    choose_device(*options);
    const std::size_t failures = bench::run(options->asked);
    if (failures == 0) return;
    std::fprintf(stderr, "quadrat: %zu rows failed; the messages above say why\n", failures);
    throw CLI::RuntimeError(failure);
  });
}

}  // namespace quadrat::program

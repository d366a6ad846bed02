// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "interruption.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"
#include "waiting.hpp"

namespace quadrat::program {
namespace {

/// One line on stderr, whatever the text quotes from files.
int report(std::string text, exit_code code) {
  std::ranges::replace_if(
      text, [](char c) { return (c >= 0 && c < ' ') || c == 127; }, ' ');
  std::fprintf(stderr, "quadrat: %s\n", text.c_str());
  return code;
}

void describe(CLI::App& app) {
  app.set_version_flag("--version", "quadrat " QUADRAT_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  app.footer(
      "Examples:\n"
      "  quadrat run examples/dam_break_small.toml          a wave of grains, in seconds\n"
      "  quadrat run examples/dam_break.toml --device cuda  a larger one, on the GPU\n"
      "  quadrat neighbors points.npy --cutoff 0.1          pairs of points nearer than that\n"
      "  quadrat contacts grains.csv -o contacts.csv        where bodies overlap\n"
      "  quadrat spread points.npy --mesh 64,64,64 -o mesh.vti   points onto a mesh; interpolate reads it back\n"
      "  quadrat reduce keys.npy values.npy -o sums.npy     sums, extremes, means or counts by key\n"
      "  quadrat info                                       what this program can use\n"
      "  quadrat help run                                   more examples\n\n"
      "Returns 0; 1 when something failed; 2 when the command line or the scene is wrong; 130 after Ctrl-C.");
  add_run(app);
  add_neighbors(app);
  add_contacts(app);
  add_spread(app);
  add_interpolate(app);
  add_reduce(app);
  add_info(app);
  add_bench(app);
  add_help(app);
}

/// The name of the subcommand that the user was writing, for "see ... --help".
std::string help_command(const CLI::App& app) {
  const auto used = app.get_subcommands();
  return "quadrat " + (used.empty() ? std::string() : used.front()->get_name() + " ") + "--help";
}

/// Whether the problem is that --help or --version was asked for, and of a command that there is.
bool asks_for_text(const CLI::App& app, const CLI::ParseError& problem) {
  return problem.get_exit_code() == 0 && app.remaining().empty();
}

/// The exit code, or failure when not all that was printed has reached its file or pipe.
int end_of_output(int code) {
  std::cout.flush();
  const bool arrived = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  return arrived ? code : report("standard output could not be written", failure);
}

int run(int argc, char** argv) {
  CLI::App app{"Quadrat: everything that happens between particles and a uniform grid", "quadrat"};
  describe(app);
  try {
    app.parse(argc, argv);
    return end_of_output(success);
  } catch (const CLI::RuntimeError& result) {
    return result.get_exit_code();
  } catch (const CLI::ParseError& problem) {
    if (asks_for_text(app, problem)) return end_of_output(app.exit(problem));
    const std::vector<std::string_view> words(argv + std::min(argc, 1), argv + argc);
    return report(complaint(app, problem, words) + " (see " + help_command(app) + ")", usage_error);
  } catch (const argument_error& problem) {
    return report(problem.what(), usage_error);
  } catch (const std::bad_alloc&) {
    return report("out of memory", failure);
  } catch (const std::exception& problem) {
    return report(problem.what(), failure);
  }
}

}  // namespace
}  // namespace quadrat::program

int main(int argc, char** argv) {
  quadrat::program::wait_passively(argv);
  quadrat::program::listen_for_signals();
  // A pipe that nobody reads and a limit on the size of files are errors of writing, like a full disk.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return quadrat::program::run(argc, argv);
}

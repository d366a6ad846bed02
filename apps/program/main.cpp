// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "program/command_line.hpp"
#include "program/commands.hpp"
#include "program/process/interruption.hpp"
#include "program/process/rank_of_several.hpp"
#include "program/process/waiting.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/atomic_file.hpp"

namespace quadrat::program {
namespace {

/// Prints one line on stderr, without control characters (the input may contain some). Allocates nothing, since memory
/// may be exhausted.
int report(std::string_view text, exit_code code) {
  if (!speaks()) return code;
  std::array<char, 4096> part{};
  const char* before = "quadrat: ";
  do {
    const std::size_t count = std::min(text.size(), part.size());
    std::transform(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(count), part.begin(),
                   [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0 ? ' ' : c; });
    text.remove_prefix(count);
    std::fprintf(stderr, "%s%.*s%s", before, static_cast<int>(count), part.data(), text.empty() ? "\n" : "");
    before = "";
  } while (!text.empty());
  end_without_words();
  return code;
}

const char* words_of(const std::exception& problem) {
  const bool of_ours = dynamic_cast<const out_of_memory*>(&problem) != nullptr;
  return !of_ours && dynamic_cast<const std::bad_alloc*>(&problem) != nullptr ? "out of memory" : problem.what();
}

/// The terminate handler: ends the process if an exception cannot be caught, for example if the destructor of a JSON
/// value finds no memory.
[[noreturn]] void end_of_exception() {
  const std::exception_ptr thrown = std::current_exception();
  if (!thrown && std::uncaught_exceptions() == 0) std::abort();
  io::remove_temporary_files();
  if (!thrown) {
    // The exception reached a noexcept function; some functions of toml++ that allocate are noexcept. Its message is
    // lost.
    report("out of memory, or another failure where none can be reported", failure);
    std::_Exit(failure);
  }
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& problem) {
    report(words_of(problem), failure);
  } catch (...) {
    std::abort();
  }
  std::_Exit(failure);
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
      "  quadrat clusters points.npy --cutoff 0.2 -o labels.npy    friends-of-friends, DBSCAN\n"
      "  quadrat contacts grains.csv -o contacts.csv        where bodies overlap\n"
      "  quadrat spread points.npy --mesh 64,64,64 -o mesh.vti   points onto a mesh; interpolate reads it back\n"
      "  quadrat nufft points.npy values.npy --modes 64,64 -o modes.npy   a Fourier transform of values at points\n"
      "  quadrat pairs points.npy --range 0.01,0.1 --bins 10 -o pairs.csv   pair counts and correlation functions\n"
      "  quadrat spectrum points.npy --mesh 64 -o spectrum.csv            a power spectrum\n"
      "  quadrat electrostatics salt.xyz -o forces.npy      energies and forces of charges in periodic cells\n"
      "  quadrat reduce keys.npy values.npy -o sums.npy     sums, extremes, means or counts by key\n"
      "  quadrat info                                       what this program can use\n"
      "  quadrat help run                                   more examples\n\n"
      "Returns 0; 1 when something failed; 2 when the command line or the scene is wrong; 130 after Ctrl-C.");
  add_commands(app);
}

/// The help option of the subcommand that was used, for "see ... --help".
std::string help_command(const CLI::App& app) {
  const auto used = app.get_subcommands();
  return "quadrat " + (used.empty() ? std::string() : used.front()->get_name() + " ") + "--help";
}

/// Whether --help or --version was requested, of a command that exists.
bool asks_for_text(const CLI::App& app, const CLI::ParseError& problem) {
  return problem.get_exit_code() == 0 && app.remaining().empty();
}

/// The exit code; failure if some output has not reached its file or pipe.
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
  }
}

}  // namespace
}  // namespace quadrat::program

int main(int argc, char** argv) {
  using namespace quadrat::program;
  std::set_terminate(end_of_exception);
  // With these signals ignored, a closed pipe and a limit on file sizes become write errors, like a full disk.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  // The try block covers everything: describing the command line, or composing an error message, may run out of memory,
  // too.
  try {
    wait_passively(argv);
    listen_for_signals();
    return run(argc, argv);
  } catch (const std::exception& problem) {
    return report(words_of(problem), failure);
  }
}

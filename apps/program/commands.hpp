// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace quadrat::program {

/// The exit codes of the program.
enum exit_code : int {
  success = 0,
  failure = 1,      ///< a runtime error: the disk, the device, a run that blew up
  usage_error = 2,  ///< the command line or the scene is wrong; nothing was started
  // A run stopped by signal number n returns 128 + n: 130 after Ctrl-C.
};

/// Each adds a subcommand, whose callback runs the command. On failure the callback throws quadrat::error. To return a
/// code other than `success` it throws CLI::RuntimeError(code).
void add_run(CLI::App& app);
void add_neighbors(CLI::App& app);
void add_clusters(CLI::App& app);
void add_contacts(CLI::App& app);
void add_spread(CLI::App& app);
void add_interpolate(CLI::App& app);
void add_nufft(CLI::App& app);
void add_pairs(CLI::App& app);
void add_spectrum(CLI::App& app);
void add_electrostatics(CLI::App& app);
void add_reduce(CLI::App& app);
void add_info(CLI::App& app);
void add_bench(CLI::App& app);
void add_tune(CLI::App& app);
void add_choose(CLI::App& app);
void add_help(CLI::App& app);
/// Adds a stand-in for a command that this build lacks; it says so.
void add_absent(CLI::App& app, const char* name);

/// Adds the commands of QUADRAT_COMMANDS, in the order of --help.
void add_commands(CLI::App& app);

}  // namespace quadrat::program

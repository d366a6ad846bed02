// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace quadrat::program {

/// What the program returns to its caller.
enum exit_code : int {
  success = 0,
  failure = 1,      ///< something went wrong on the way: the disk, the device, a run that blew up
  usage_error = 2,  ///< the command line or the scene is wrong; nothing was started
  // A run that was stopped by signal number n returns 128 + n: 130 after Ctrl-C.
};

/// Each adds a subcommand. Its callback runs the command; where that fails it throws quadrat::error, and to return
/// another code than `success` it throws CLI::RuntimeError(code).
void add_run(CLI::App& app);
void add_neighbors(CLI::App& app);
void add_clusters(CLI::App& app);
void add_contacts(CLI::App& app);
void add_spread(CLI::App& app);
void add_interpolate(CLI::App& app);
void add_nufft(CLI::App& app);
void add_electrostatics(CLI::App& app);
void add_reduce(CLI::App& app);
void add_info(CLI::App& app);
void add_bench(CLI::App& app);
void add_tune(CLI::App& app);
void add_choose(CLI::App& app);
void add_help(CLI::App& app);
/// In place of a command that this build lacks: says so.
void add_absent(CLI::App& app, const char* name);

/// Those of QUADRAT_COMMANDS, in the order of --help.
void add_commands(CLI::App& app);

}  // namespace quadrat::program

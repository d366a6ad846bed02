// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "program/command_line.hpp"
#include "program/commands.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::program {
namespace {

/// The command of that name; without a name, the program itself.
const CLI::App& app_named(const CLI::App& app, const std::string& name) {
  if (name.empty()) return app;
  const auto found = app.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
  require(!found.empty(), unknown_command(app, name));
  return *found.front();
}

}  // namespace

void add_help(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("help", "Show how a command is used");
  const auto name = std::make_shared<std::string>();
  command->add_option("COMMAND", *name, "a command of quadrat --help; default: quadrat itself");
  command->footer("Examples:\n  quadrat help\n  quadrat help neighbors");
  command->callback([name, &app] {
    const CLI::App& shown = app_named(app, *name);
    const std::string prefix = name->empty() ? "quadrat" : "quadrat " + *name;
    const std::string text = app.get_formatter()->make_help(&shown, prefix, CLI::AppFormatMode::Normal);
    std::fputs(text.c_str(), stdout);
  });
}

void add_absent(CLI::App& app, const char* name) {
  CLI::App* const command = app.add_subcommand(name, "(not in this build)");
  command->allow_extras();
  command->callback([name] {
    throw backend_error(
        message("this program was built without the command ", name, ": QUADRAT_COMMANDS names those that it has"));
  });
}

}  // namespace quadrat::program

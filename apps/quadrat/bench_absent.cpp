// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::program {

/// In place of bench.cpp, where benchmarks are not built.
void add_bench(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("bench", "Time the methods of a topic (not in this build)");
  command->allow_extras();
  command->callback([] {
    throw backend_error(
        "this program was built without benchmarks, as script/demo does; build it with -DQUADRAT_BENCHMARKS=ON");
  });
}

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/commands.hpp"
#include "program/device_options.hpp"
#include "program/explain.hpp"
#include "program/option_checks.hpp"
#include "program/process/activity.hpp"
#include "program/process/stopwatch.hpp"
#include "program/reduce/calculation.hpp"
#include "program/reduce/report.hpp"
#include "program/table_output.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/io/scene.hpp"
#include "quadrat/keyed/methods.hpp"

namespace quadrat::program {
namespace {

constexpr std::array<std::string_view, 5> reduce_operations{"sum", "min", "max", "mean", "count"};

/// The command line of `quadrat reduce`.
struct reduce_command {
  std::string keys;
  std::optional<std::string> values;
  std::string operation = "sum";
  std::optional<std::uint64_t> key_count;
  std::string method;  ///< empty: chosen automatically
  std::string reproducible = "none";
  bool compensated = false;
  device_options device;
  std::optional<std::string> precision;
  std::optional<std::string> output;
  bool json = false;
  bool explain = false;
  bool quiet = false;
};

bool counts_only(const reduce_command& options) { return options.operation == "count"; }

void check_reduce_command(const reduce_command& options) {
  require(counts_only(options) || options.values.has_value(), "--op ", options.operation,
          " needs VALUES; only count needs none");
  require(!counts_only(options) || !options.values, "--op count takes no VALUES");
  require(!counts_only(options) || !options.precision, "--precision: counts are integers");
  require(!options.compensated || options.operation == "sum" || options.operation == "mean",
          "--compensated is for sums ", "and means; --op ", options.operation, " has nothing to compensate");
  if (options.output) {
    check_output_file(*options.output, options.json, {options.keys, options.values.value_or("")}, "results", {".npy"});
  }
}

/// Means of integers are computed in double.
value_precision precision_of(const reduce_command& options) {
  if (options.precision) return *options.precision == "float" ? value_precision::single : value_precision::twice;
  return options.operation == "mean" ? value_precision::floating : value_precision::as_stored;
}

std::optional<value_array> read_reduce_values(const reduce_command& options, std::size_t rows) {
  if (!options.values) return std::nullopt;
  return read_values(*options.values, rows, precision_of(options));
}

/// Refuses compensation for integers: their sums are exact, or wrap around.
void check_compensation(const reduce_command& options, const value_array& values) {
  const bool integers = values.type() == io::npy_type::int32 || values.type() == io::npy_type::int64;
  require(!options.compensated || !integers, "--compensated: ", values.file, " holds ", name_of(values.stored),
          ", whose sums have no rounding to compensate; leave it out, or ask for --precision double");
}

void print_reduction(const reduce_command& options, const reduce_report& report, const reduce_task& task,
                     const key_array& keys, const value_array* values, const reduce_outcome& outcome) {
  if (options.json) {
    const auto result = as_json(report, task, keys, values, outcome);
    std::puts(explained_json(result, options.explain, outcome.explanation).c_str());
  } else if (!options.quiet) {
    const std::string text = as_text(report, task, keys, values, outcome);
    std::fputs(explained_text(text, options.explain, outcome.explanation).c_str(), summary_stream(options.output));
  }
}

void run_reduce(reduce_command options) {
  double total = 0;
  const stopwatch time(total);
  check_reduce_command(options);
  const auto& names = io::names_of<determinism>;
  options.device.reproducible =
      static_cast<determinism>(std::find(names.begin(), names.end(), options.reproducible) - names.begin());
  reduce_report report;
  report.reproducible = options.reproducible;
  report.output = options.output;
  activity doing(!options.quiet);
  doing.begins("reading " + options.keys);
  const key_array keys = read_keys(options.keys);
  const std::optional<value_array> values = read_reduce_values(options, keys.size());
  const value_array* const given = values ? &*values : nullptr;
  if (given != nullptr) check_compensation(options, *given);
  report.reading_seconds = time.elapsed();
  reduce_task task{options.operation, number_of_keys(keys, options.key_count), {}};
  task.options.method = options.method;
  task.options.compensated = options.compensated;
  doing.begins("reducing");
  const reduce_outcome outcome = reduce_arrays(task, options.device, keys, given);
  if (options.output) {
    const stopwatch writing(report.writing_seconds);
    write_results(*options.output, outcome.results);
  }
  report.total_seconds = time.elapsed();
  doing.end();
  print_reduction(options, report, task, keys, given, outcome);
}

std::string reduce_footer() {
  std::string text = "Methods (all give the same results, up to the rounding of sums):\n";
  for (const key_method& method : key_methods()) {
    const char* const where = method.on_cpu ? (method.on_cuda ? "cpu, cuda" : "cpu") : "cuda";
    text += fmt::format("  {:<14} {:<10} {}\n", method.name, where, method.summary);
  }
  text += fmt::format("  {:<14} {:<10} {}\n\n", "auto", "", "one of these is chosen, and the output says why");
  return text +
         "Row k of the result belongs to key k. A key that no element has gets 0 (sum, count), NaN (mean), or what "
         "any\n"
         "value would beat (min, max). Sums of integers wrap around; integers of fewer than 32 bits are taken as "
         "int64;\n"
         "means of integers are computed in double. docs/guides/keyed.md says more.\n\n"
         "Examples:\n"
         "  quadrat reduce keys.npy values.npy -o sums.npy\n"
         "  quadrat reduce cells.npy momenta.npy --op mean --keys 1000000 -o means.npy    (n, 3) gives (1000000, 3)\n"
         "  quadrat reduce keys.npy --op count -o counts.npy                              as numpy.bincount\n"
         "  quadrat reduce keys.npy values.npy --deterministic --compensated -o sums.npy\n\n"
         "Returns 0; 1 when something failed; 2 when the command line is wrong; 130 after Ctrl-C.";
}

void add_reduce_options(CLI::App& command, reduce_command& o) {
  command.add_option("KEYS", o.keys, ".npy (n,) of integers from 0")->required()->check(existing_file())->type_name("");
  command.add_option("VALUES", o.values, ".npy (n,) or (n, 1 to 8): int32, int64, float32, float64; none for count")
      ->check(existing_file())
      ->type_name("");
  command.add_option("--op", o.operation, "sum, min, max, mean or count")
      ->check(one_of(reduce_operations))
      ->capture_default_str();
  command.add_option("--keys", o.key_count, "number of results; default: the largest key + 1")
      ->check(whole_number(1, static_cast<std::int64_t>(max_count)))
      ->type_name("N");
  command.add_option("--method", o.method, "how to reduce; default: auto")->type_name("NAME");
  command
      .add_flag("--deterministic{run_to_run}", o.reproducible,
                "same bits in every run; --deterministic=canonical where a method has that level")
      ->check(one_of(io::names_of<determinism>));
  command.add_flag("--compensated", o.compensated,
                   "compensated sums of floating-point numbers: they keep what rounding would lose");
  add_device_options(command, o.device);
  command.add_option("--precision", o.precision, "float or double; default: that of the values")
      ->check(one_of(io::names_of<io::number_precision>));
  add_output_option(command, o.output, "the results: .npy");
  command.add_flag("--json", o.json, "print counts and times as JSON, and nothing else, on stdout");
  add_explain_option(command, o.explain);
  command.add_flag("--quiet", o.quiet, "print nothing");
}

}  // namespace

void add_reduce(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("reduce", "Reduce values by key: sums, extremes, means, counts");
  const auto options = std::make_shared<reduce_command>();
  add_reduce_options(*command, *options);
  command->footer(reduce_footer());
  command->callback([options] { run_reduce(*options); });
}

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
#include "program/table_output.hpp"

#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "quadrat/core/error.hpp"

namespace quadrat::program {
namespace {

namespace fs = std::filesystem;

bool is_standard_output(const fs::path& output) {
  return output == "/dev/stdout" || output == "/dev/fd/1" || output == "/proc/self/fd/1";
}

bool is_pipe_or_device(const fs::path& output) {
  std::error_code none;
  const fs::file_status status = fs::status(output, none);
  return is_standard_output(output) ||
         (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status));
}

}  // namespace

void add_output_option(CLI::App& command, std::optional<std::string>& output, const std::string& description) {
  const auto standard_output = [](std::string& name) {
    if (name == "-") name = "/dev/stdout";
    return std::string();
  };
  command.add_option("-o,--output", output, description + "; - is standard output")
      ->transform(CLI::Validator(standard_output, ""))
      ->type_name("FILE");
}

void check_output_file(const fs::path& output, bool json, std::initializer_list<fs::path> inputs, std::string_view what,
                       std::initializer_list<std::string_view> endings, const char* option) {
  require(!json || !is_standard_output(output), option, ": ", what,
          " and --json cannot both go to standard output; give one of them a file");
  std::string valid;
  bool known = false;
  for (const std::string_view ending : endings) {
    valid += (valid.empty() ? "" : " and ") + std::string(ending);
    known = known || output.extension() == ending;
  }
  require(known || is_pipe_or_device(output), option, ": ", what, " are written to ", valid, " files; ",
          output.string(), endings.size() > 1 ? " ends in neither" : " ends otherwise");
  const bool text = std::find(endings.begin(), endings.end(), ".csv") != endings.end();
  require(text || !is_standard_output(output) || ::isatty(STDOUT_FILENO) == 0, option, ": ", what,
          " are binary (.npy), which a terminal cannot show: send them into a file or a pipe");
  for (const fs::path& input : inputs) {
    std::error_code ignored;
    require(!fs::equivalent(output, input, ignored), option, ": ", output.string(), " is the file that is read");
  }
}

void check_table_output(const fs::path& output, bool json, const fs::path& input, std::string_view what) {
  check_output_file(output, json, {input}, what, {".npy", ".csv"});
}

std::FILE* summary_stream(const std::optional<std::string>& output) {
  return output && is_standard_output(*output) ? stderr : stdout;
}

}  // namespace quadrat::program

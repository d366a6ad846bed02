// SPDX-License-Identifier: BSD-3-Clause
#include "table_output.hpp"

#include <string>
#include <system_error>

#include "quadrat/core/error.hpp"

namespace quadrat::program {

void check_output_file(const std::filesystem::path& output, std::initializer_list<std::filesystem::path> inputs,
                       std::string_view what, std::initializer_list<std::string_view> endings) {
  std::string valid;
  bool known = false;
  for (const std::string_view ending : endings) {
    valid += (valid.empty() ? "" : " and ") + std::string(ending);
    known = known || output.extension() == ending;
  }
  require(known, "--output: ", what, " are written to ", valid, " files; ", output.string(),
          endings.size() > 1 ? " ends in neither" : " ends otherwise");
  for (const std::filesystem::path& input : inputs) {
    std::error_code ignored;
    require(!std::filesystem::equivalent(output, input, ignored), "--output: ", output.string(),
            " is the file that is read");
  }
}

void check_table_output(const std::filesystem::path& output, const std::filesystem::path& input,
                        std::string_view what) {
  check_output_file(output, {input}, what, {".npy", ".csv"});
}

}  // namespace quadrat::program

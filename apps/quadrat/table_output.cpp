// SPDX-License-Identifier: BSD-3-Clause
#include "table_output.hpp"

#include <system_error>

#include "quadrat/core/error.hpp"

namespace quadrat::program {

void check_table_output(const std::filesystem::path& output, const std::filesystem::path& input,
                        std::string_view what) {
  require(output.extension() == ".npy" || output.extension() == ".csv", "--output: ", what,
          " are written to .npy and .csv files; ", output.string(), " ends in neither");
  std::error_code ignored;
  require(!std::filesystem::equivalent(output, input, ignored), "--output: ", output.string(),
          " is the file that is read");
}

}  // namespace quadrat::program

// SPDX-License-Identifier: BSD-3-Clause
// For any bytes, the reader of tables gives columns of equal length, or an io_error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/expect.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/csv.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using quadrat::test::expect;
  quadrat::test::expect_sound_or_refused<quadrat::io_error>("a.csv", [&] {
    const quadrat::io::csv_columns columns{{"x"}, {"radius"}, {"shape"}};
    const auto table = quadrat::io::parse_csv({reinterpret_cast<const char*>(bytes), size}, "a.csv", columns);
    expect(!table.names.empty() && table.lines.size() == table.rows, "every row has its line");
    for (const auto& column : table.columns) expect(column.empty() || column.size() == table.rows, "columns are whole");
    if (table.has("x")) expect(table.column("x").size() == table.rows, "a column is found by its name");
    if (table.has("shape")) expect(table.text("shape").size() == table.rows, "a column of words has all of them");
  });
  return 0;
}

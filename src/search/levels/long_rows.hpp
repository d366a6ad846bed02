// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/macros.hpp"

/// Rows with so many candidates that one thread would take longer than all others together. Their candidates, in the
/// order of the walk, are cut into parts of equal length, one warp each. Hundreds of warps search a row of a million
/// candidates.
namespace quadrat::detail {

/// The most candidates of a row that one thread searches alone.
inline constexpr std::uint32_t most_candidates_of_thread = 1024;
/// The most rows of cells of a layer, empty ones included, for such a row.
inline constexpr std::uint32_t most_cell_rows_of_thread = 300;
/// Candidates of a part, at least.
inline constexpr std::uint64_t least_candidates_of_part = 1024;
/// Candidates of a part, at least, for each row of cells: every part begins with a walk over all rows of cells.
inline constexpr std::uint64_t least_candidates_a_cell_row = 4;

/// The number of parts allowed in addition to one per row.
[[nodiscard]] inline std::size_t spare_parts(std::size_t rows) { return rows / 4 > 16384 ? rows / 4 : 16384; }

/// Arrays of long rows, on the device.
struct long_rows {
  std::uint32_t all;          ///< rows of the list
  std::uint64_t spare;        ///< spare_parts(all)
  std::uint32_t* slots;       ///< of long rows, in any order; nullptr: all rows are long
  std::uint32_t* count;       ///< of `slots`
  std::uint64_t* candidates;  ///< by long row
  std::uint32_t* cell_rows;   ///< by long row
  std::uint64_t* total;       ///< candidates of all
  std::uint32_t* parts;       ///< by long row
  std::uint32_t* first_part;  ///< by long row, and one more
  std::uint32_t* pairs;       ///< by part: first its own pairs, then those of all earlier parts of the row

  [[nodiscard]] QUADRAT_HD std::uint32_t size() const { return slots != nullptr ? *count : all; }
  [[nodiscard]] QUADRAT_HD std::uint32_t slot(std::uint32_t number) const {
    return slots != nullptr ? slots[number] : number;
  }
  /// Candidates of a part of a row: more than the least if there would be too many parts.
  [[nodiscard]] QUADRAT_HD std::uint64_t part_length(std::uint32_t number) const {
    const std::uint64_t fair = (*total + spare - 1) / spare, walk = least_candidates_a_cell_row * cell_rows[number];
    const std::uint64_t longer = fair > walk ? fair : walk;
    return longer > least_candidates_of_part ? longer : least_candidates_of_part;
  }
  /// The last row whose first part is not after `part`. Each row has at least one part.
  [[nodiscard]] QUADRAT_HD std::uint32_t row_of_part(std::uint32_t part) const {
    std::uint32_t low = 0, high = size();
    while (high - low > 1) {
      const std::uint32_t middle = low + (high - low) / 2;
      (first_part[middle] <= part ? low : high) = middle;
    }
    return low;
  }
};

/// Index: row of the list. Sets the number of parts; 0 for those that are not long rows.
struct cut_long_row {
  long_rows rows;

  QUADRAT_HD void operator()(std::size_t number) const {
    std::uint64_t parts = 0;
    if (number < rows.size()) {
      const std::uint64_t length = rows.part_length(static_cast<std::uint32_t>(number));
      parts = (rows.candidates[number] + length - 1) / length;
      if (parts == 0) parts = 1;
    }
    rows.parts[number] = static_cast<std::uint32_t>(parts);
  }
};

}  // namespace quadrat::detail

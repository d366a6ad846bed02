// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "keyed/cost.hpp"
#include "keyed/engine.hpp"
#include "keyed/row_join.hpp"
#include "parallel/partition.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// Keys are cut into ranges whose results fit a level-2 cache. Elements and their values are grouped by range, in
/// their order; then one thread joins each range. Random access to all results becomes one sequential pass over the
/// elements and one over a cache. Blocks of elements with all keys in one range are not moved, so elements in order of
/// their keys are read once. A range with a large share of the elements is cut into pieces with tables of results,
/// which are joined at the end. The order of joins depends on the keys alone. Memory: for each element its key in the
/// range and a row of values of up to 8 bytes, or of key_reducer_options::value_bytes; longer rows take several
/// passes.
class partitioned_engine : public typed_key_engine<cpu_context, partitioned_engine> {
 public:
  /// Some consecutive elements of a range.
  struct piece {
    std::uint32_t range;
    std::uint32_t table;  ///< no_table: they are joined to the results
    std::uint64_t first, last;
  };
  static constexpr std::uint32_t no_table = 0xffffffffu;

  partitioned_engine(const cpu_context& context, const key_setup& setup);

  [[nodiscard]] std::size_t bytes_needed(std::size_t count) const override;
  void set_keys(const key_source& keys) override;
  void count(std::uint64_t* results, bool accumulate) override;
  [[nodiscard]] std::size_t bytes() const override;
  template <typename T>
  void run(const key_reduction<T>& reduction);

  /// The keys of a range. One thread joins the elements of each piece.
  [[nodiscard]] std::size_t range_rows() const { return std::size_t{1} << shift_; }
  [[nodiscard]] const std::vector<piece>& pieces() const { return pieces_; }

 private:
  /// The elements of a range of keys: first those in blocks that stay, then moved ones.
  struct key_range {
    std::uint64_t first_block;  ///< in `blocks_`
    std::uint64_t stay;         ///< elements in blocks
    std::uint64_t first_moved;  ///< place
    std::uint64_t moved;        ///< elements
  };
  /// A part's share of a range: numbers of blocks that stay and elements to move; later the places of the next ones.
  struct range_share {
    std::uint64_t blocks, moved;
  };
  /// The least number of elements of a piece.
  [[nodiscard]] std::size_t piece_elements(std::size_t count) const;
  [[nodiscard]] std::size_t tables_for(std::size_t count) const { return count / piece_elements(count); }
  [[nodiscard]] std::size_t places_for(std::size_t count) const;
  /// Entries of a part in `shares_` and `next_`: a multiple of two cache lines, so that no two threads write to one.
  [[nodiscard]] std::size_t part_ranges() const { return (ranges_ + 15) / 16 * 16; }
  [[nodiscard]] range_share* shares_of(std::size_t part) { return shares_.data() + part * part_ranges(); }
  void allocate(std::size_t count);

  template <typename Key>
  void count_part(const Key* keys, std::size_t part);
  void place_shares();
  void list_blocks(std::size_t part);
  void cut_pieces();
  template <int Components, typename T, typename Key, typename Source>
  void move_part(const Key* keys, std::size_t part, const Source& source, int components);
  template <typename Fold, int Components, typename T, typename Source, typename Rows>
  void join(const Source& source, const Rows& results, int components, bool accumulate);
  template <typename Fold, int Components, typename T, typename Source, typename Rows>
  void join_piece(const piece& work, const Source& source, const Rows& results, int components, bool accumulate);
  template <typename Join, typename Moved>
  void join_elements(const piece& work, const Join& join, const Moved& join_moved);
  template <typename Fold, int Components, typename T, typename Rows>
  void collect(std::size_t part, std::size_t parts, const Rows& results, int components);
  template <int Components, typename T>
  [[nodiscard]] packed_rows<Components, T> table_of(const piece& work, int components);

  cpu_context context_;
  key_setup setup_;
  key_source keys_{};
  std::size_t row_bytes_;  // of values that are moved at a time
  int shift_;              // a range has 2^shift keys
  std::size_t ranges_;
  partition block_parts_{0, 1};
  array<std::uint32_t, cpu_context> range_of_block_;  // no_key: elements are moved
  array<std::uint64_t, cpu_context> blocks_;          // that stay, by range
  array<range_share, cpu_context> shares_;            // [part][range]
  array<std::uint64_t, cpu_context> next_;            // [part][range]: the place of the next moved element
  array<key_range, cpu_context> where_;
  array<std::uint16_t, cpu_context> moved_keys_;  // counted from the first of the range
  array<std::byte, cpu_context> moved_values_, tables_;
  std::vector<piece> pieces_;
};

struct partitioned_method : key_method_defaults {
  static constexpr std::string_view name = "partitioned";
  static constexpr std::string_view summary = "elements moved to ranges of keys whose results fit a cache";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = false;
  static constexpr determinism reproducible = determinism::run_to_run;
  static method_cost cost(const key_request& request);
  template <typename Context>
  using engine = partitioned_engine;
};

}  // namespace quadrat::detail

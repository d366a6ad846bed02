// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "io/checkpoint_format.hpp"
#include "io/ranks_file.hpp"
#include "io/text.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/key_reducer.hpp"
#include "quadrat/io/rank_files.hpp"

namespace quadrat::io {
namespace {

/// A run of bytes of the file, of which each rank has a part.
struct part_sum {
  checksum sum;
  std::uint64_t bytes;
};

[[nodiscard]] checksum joined(checksum before, const part_sum& next) {
  return next.bytes == 0 ? before
                         : static_cast<checksum>(crc32_combine(before, next.sum, static_cast<z_off_t>(next.bytes)));
}
[[nodiscard]] std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Throws on all ranks unless all have the same arrays.
void require_same_arrays(communicator& ranks, const checkpoint& rows) {
  std::uint64_t hash = hash_of("");
  for (const checkpoint_array& one : rows.arrays) hash = hash * 31 + hash_of(array_head(one, 0));
  const auto all = all_values(ranks, hash);
  together(ranks, [&] {
    require(std::all_of(all.begin(), all.end(), [&](auto one) { return one == all[0]; }),
            "ranks write different arrays into one checkpoint");
  });
}

/// Where the parts of a checkpoint are in its file.
class checkpoint_layout {
 public:
  /// `front`: bytes before the first array, on rank 0.
  checkpoint_layout(communicator& ranks, const checkpoint& rows, std::uint64_t front) {
    std::uint64_t place = all_values(ranks, front)[0];
    for (const checkpoint_array& one : rows.arrays) {
      array_place array{{}, place, place, 0, all_values(ranks, part_sum{add_to(0, one.bytes), one.bytes.size()})};
      for (std::size_t rank = 0; rank < array.parts.size(); ++rank) {
        if (static_cast<int>(rank) < ranks.rank()) array.own += array.parts[rank].bytes;
        array.bytes += array.parts[rank].bytes;
      }
      array.head = array_head(one, array.bytes);
      array.own += array.head.size();
      place += array.head.size() + array.bytes;
      arrays.push_back(std::move(array));
    }
    end = place;
  }

  struct array_place {
    std::string head;
    std::uint64_t begin;  ///< of the head
    std::uint64_t own;    ///< of this rank's rows
    std::uint64_t bytes;  ///< of the rows of all
    std::vector<part_sum> parts;
  };

  /// That of the arrays, after what has that checksum.
  [[nodiscard]] checksum continued(checksum sum) const {
    for (const array_place& one : arrays) {
      sum = add_to(sum, bytes_of(one.head));
      for (const part_sum& part : one.parts) sum = joined(sum, part);
    }
    return sum;
  }

  std::vector<array_place> arrays;
  std::uint64_t end = 0;  ///< of the arrays
};

/// An open file, of which parts are read.
class part_reader {
 public:
  explicit part_reader(const std::filesystem::path& file) : name_(file.string()) {
    descriptor_ = ::open(name_.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail();
    const ::off_t end = ::lseek(descriptor_, 0, SEEK_END);
    if (end < 0) {
      const int problem = errno;
      ::close(descriptor_);  // no destructor runs
      errno = problem;
      fail();
    }
    size_ = static_cast<std::uint64_t>(end);
  }
  ~part_reader() { ::close(descriptor_); }
  part_reader(const part_reader&) = delete;
  part_reader& operator=(const part_reader&) = delete;

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  [[nodiscard]] std::vector<std::byte> bytes(std::uint64_t offset, std::uint64_t count) const {
    if (offset > size_ || count > size_ - offset) {
      throw io_error(message(name_, ": the lengths inside the checkpoint do not add up"));
    }
    std::vector<std::byte> result(static_cast<std::size_t>(count));
    for (std::size_t done = 0; done < result.size();) {
      const ::ssize_t got =
          ::pread(descriptor_, result.data() + done, result.size() - done, static_cast<::off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail();
      if (got == 0) throw io_error(message(name_, ": the file became shorter while it was read"));
      done += static_cast<std::size_t>(got);
    }
    return result;
  }
  template <typename N>
  [[nodiscard]] N number(std::uint64_t& offset) const {
    N value;
    std::memcpy(&value, bytes(offset, sizeof(N)).data(), sizeof(N));
    offset += sizeof(N);
    return value;
  }
  [[nodiscard]] std::string text(std::uint64_t& offset, std::uint64_t count) const {
    const auto taken = bytes(offset, count);
    offset += count;
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

 private:
  [[noreturn]] void fail() const { throw io_error(message("cannot read ", name_, ": ", std::strerror(errno))); }

  std::string name_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// That of the rank's share of the bytes, piece by piece.
[[nodiscard]] part_sum sum_of_share(const part_reader& in, std::uint64_t bytes, int rank, int ranks) {
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  const key_share share = keys_of_rank(bytes, rank, ranks);
  part_sum result{0, share.end - share.first};
  for (std::uint64_t at = share.first; at < share.end; at += piece) {
    result.sum = add_to(result.sum, in.bytes(at, std::min(piece, share.end - at)));
  }
  return result;
}

/// All arrays of the file; `offset`: of the first.
void read_arrays(const part_reader& in, const file_header& header, std::uint64_t offset, communicator& ranks,
                 std::span<const std::string_view> by_row, checkpoint_share& result) {
  const key_share own = keys_of_rank(header.particles, ranks.rank(), ranks.size());
  for (std::uint32_t i = 0; i < header.array_count; ++i) {
    checkpoint_array array;
    array.name = in.text(offset, in.number<std::uint32_t>(offset));
    array.type = in.number<element_type>(offset);
    if (array.type < element_type::float32 || array.type > element_type::uint8) {
      throw io_error(message(in.name(), ": array ", shown(array.name), " is of the unknown element type ",
                             static_cast<std::uint32_t>(array.type)));
    }
    array.components = in.number<std::uint64_t>(offset);
    const auto length = in.number<std::uint64_t>(offset);
    if (length % size_of(array.type) != 0) {
      throw io_error(message(in.name(), ": array ", shown(array.name), " is cut"));
    }
    const bool named = std::find(by_row.begin(), by_row.end(), array.name) != by_row.end();
    const std::uint64_t row = header.particles == 0 ? 0 : length / header.particles;
    if (named && header.particles > 0 && row > 0 && row * header.particles == length) {
      array.bytes = in.bytes(offset + own.first * row, (own.end - own.first) * row);
      result.rows.arrays.push_back(std::move(array));
    } else if (named && length == 0 && header.particles == 0) {
      result.rows.arrays.push_back(std::move(array));
    } else if (ranks.rank() == 0) {
      array.bytes = in.bytes(offset, length);
      result.rest.arrays.push_back(std::move(array));
    }
    offset += length;
  }
}

}  // namespace

void write_checkpoint(communicator& ranks, const std::filesystem::path& file, const checkpoint& rows,
                      const checkpoint& rest) {
  require_same_arrays(ranks, rows);
  const bool root = ranks.rank() == 0;
  const checkpoint_layout layout(ranks, rows, sizeof(file_header) + rest.parameters.size());
  std::string front, back;
  if (root) {
    for (const checkpoint_array& one : rest.arrays) {
      back += array_head(one, one.bytes.size());
      back.append(reinterpret_cast<const char*>(one.bytes.data()), one.bytes.size());
    }
    const file_header header =
        header_of(rest, rows.arrays.size() + rest.arrays.size(), layout.end + back.size() + sizeof(checksum));
    front.assign(reinterpret_cast<const char*>(&header), sizeof header);
    front += rest.parameters;
    const checksum sum = add_to(layout.continued(add_to(0, bytes_of(front))), bytes_of(back));
    back.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  }
  ranks_file out(ranks, file);
  together(ranks, [&] {
    for (std::size_t k = 0; k < rows.arrays.size(); ++k) {
      out.write_at(layout.arrays[k].own, rows.arrays[k].bytes);
      if (root) out.write_at(layout.arrays[k].begin, layout.arrays[k].head);
    }
    if (!root) return;
    out.write_at(0, front);
    out.write_at(layout.end, back);
  });
  out.commit();
}

checkpoint_share read_checkpoint(communicator& ranks, const std::filesystem::path& file,
                                 std::span<const std::string_view> by_row) {
  checkpoint_share result;
  std::unique_ptr<part_reader> in;
  file_header header{};
  part_sum mine{};
  together(ranks, [&] {
    in = std::make_unique<part_reader>(file);
    header = checked_header(in->name(), in->bytes(0, std::min<std::uint64_t>(in->size(), sizeof header)), in->size());
    mine = sum_of_share(*in, in->size() - sizeof(checksum), ranks.rank(), ranks.size());
  });
  checksum found = 0;
  for (const part_sum& one : all_values(ranks, mine)) found = joined(found, one);
  together(ranks, [&] {
    std::uint64_t place = in->size() - sizeof(checksum);
    check_sum(in->name(), found, in->number<checksum>(place));
    place = sizeof header;
    result.rest.step = result.rows.step = header.step;
    result.rest.particles = result.rows.particles = header.particles;
    result.rest.precision_bytes = result.rows.precision_bytes = header.precision_bytes;
    result.rest.parameters = in->text(place, header.parameters_length);
    if (hash_of(result.rest.parameters) != header.parameters_hash) {
      throw io_error(message(in->name(), ": the hash of its parameters does not match them"));
    }
    read_arrays(*in, header, place, ranks, by_row, result);
  });
  return result;
}

}  // namespace quadrat::io

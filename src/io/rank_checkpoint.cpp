// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "io/checkpoint_format.hpp"
#include "io/checkpoint_hdf5.hpp"
#include "io/ranks_file.hpp"
#include "io/text.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/key_reducer.hpp"
#include "quadrat/io/rank_files.hpp"

namespace quadrat::io {
namespace {

/// The checksum and length of one rank's part of a run of bytes.
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

/// An array whose rows are distributed over ranks.
struct shared_array {
  array_place place;
  std::vector<part_sum> parts;  ///< by rank

  shared_array(communicator& ranks, const checkpoint_array& own)
      : place{{own.name, own.type, own.components, {}}},
        parts(all_values(ranks, part_sum{add_to(0, own.bytes), own.bytes.size()})) {
    for (const part_sum& one : parts) place.bytes += one.bytes;
  }
};

[[nodiscard]] std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
[[nodiscard]] std::string front_of(const checkpoint& rest, std::size_t arrays, std::uint64_t end,
                                   std::uint32_t version) {
  const file_header header = header_of(rest, arrays, end + sizeof(checksum), version);
  return text_of(std::as_bytes(std::span(&header, 1))) + rest.parameters;
}

[[nodiscard]] checkpoint_frame own_frame(const checkpoint& rest, std::span<shared_array> shared) {
  checkpoint_frame frame;
  frame.pieces.push_back({0, {}});
  frame.end = sizeof(file_header) + rest.parameters.size();
  for (shared_array& one : shared) {
    frame.pieces.push_back({frame.end, array_head(one.place.array, one.place.bytes)});
    one.place.offset = frame.end + frame.pieces.back().bytes.size();
    frame.end = one.place.offset + one.place.bytes;
  }
  placed_bytes back{frame.end, {}};
  for (const checkpoint_array& one : rest.arrays) {
    back.bytes += array_head(one, one.bytes.size()) + text_of(one.bytes);
  }
  frame.end += back.bytes.size();
  frame.pieces.push_back(std::move(back));
  frame.pieces[0].bytes = front_of(rest, shared.size() + rest.arrays.size(), frame.end, format_version);
  return frame;
}

[[nodiscard]] checkpoint_frame hdf5_frame(const std::string& name, const checkpoint& rest,
                                          std::span<shared_array> shared) {
  std::vector<array_place> places;
  for (const shared_array& one : shared) places.push_back(one.place);
  for (const checkpoint_array& one : rest.arrays) {
    places.push_back({{one.name, one.type, one.components, {}}, one.bytes.size()});
  }
  const std::uint64_t begin = hdf5_begin(rest.parameters.size());
  checkpoint_frame frame = make_hdf5(name, begin, rest, places);
  for (std::size_t k = 0; k < shared.size(); ++k) shared[k].place = places[k];
  for (std::size_t k = 0; k < rest.arrays.size(); ++k) {
    frame.pieces.push_back({places[shared.size() + k].offset, text_of(rest.arrays[k].bytes)});
  }
  std::string front = front_of(rest, places.size(), frame.end, hdf5_version);
  front.resize(begin, '\0');
  frame.pieces.push_back({0, std::move(front)});
  return frame;
}

/// The checksum of the whole file: of the pieces and the rows between them.
[[nodiscard]] checksum sum_of(const checkpoint_frame& frame, std::span<const shared_array> shared) {
  std::vector<std::pair<std::uint64_t, part_sum>> all;
  for (const placed_bytes& one : frame.pieces) {
    all.push_back({one.offset, {add_to(0, bytes_of(one.bytes)), one.bytes.size()}});
  }
  for (const shared_array& one : shared) {
    std::uint64_t at = one.place.offset;
    for (const part_sum& part : one.parts) {
      all.push_back({at, part});
      at += part.bytes;
    }
  }
  std::erase_if(all, [](const auto& one) { return one.second.bytes == 0; });
  std::ranges::sort(all, {}, [](const auto& one) { return one.first; });
  checksum sum = 0;
  for (const auto& [offset, part] : all) sum = joined(sum, part);
  return sum;
}

/// Reads parts of an open file.
class part_reader {
 public:
  explicit part_reader(const std::filesystem::path& file) : name_(file.string()) {
    descriptor_ = ::open(name_.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail();
    const ::off_t end = ::lseek(descriptor_, 0, SEEK_END);
    if (end < 0) {
      const int problem = errno;
      ::close(descriptor_);  // the destructor will not run
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

/// The checksum of this rank's share of the file, read piece by piece.
[[nodiscard]] part_sum sum_of_share(const part_reader& in, std::uint64_t bytes, int rank, int ranks) {
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  const key_share share = keys_of_rank(bytes, rank, ranks);
  part_sum result{0, share.end - share.first};
  for (std::uint64_t at = share.first; at < share.end; at += piece) {
    result.sum = add_to(result.sum, in.bytes(at, std::min(piece, share.end - at)));
  }
  return result;
}

/// The arrays of a file of version 1; `offset`: where the first begins.
[[nodiscard]] std::vector<array_place> arrays_in_own(const part_reader& in, std::uint32_t count, std::uint64_t offset) {
  std::vector<array_place> result;
  for (std::uint32_t i = 0; i < count; ++i) {
    array_place place;
    checkpoint_array& array = place.array;
    array.name = in.text(offset, in.number<std::uint32_t>(offset));
    array.type = in.number<element_type>(offset);
    if (array.type < element_type::float32 || array.type > element_type::uint8) {
      throw io_error(message(in.name(), ": array ", shown(array.name), " is of the unknown element type ",
                             static_cast<std::uint32_t>(array.type)));
    }
    array.components = in.number<std::uint64_t>(offset);
    place.bytes = in.number<std::uint64_t>(offset);
    if (place.bytes % size_of(array.type) != 0) {
      throw io_error(message(in.name(), ": array ", shown(array.name), " is cut"));
    }
    place.offset = offset;
    offset += place.bytes;
    result.push_back(std::move(place));
  }
  return result;
}

void read_array(const part_reader& in, communicator& ranks, std::span<const std::string_view> by_row,
                const array_place& place, checkpoint_share& result) {
  checkpoint_array array = place.array;
  const std::uint64_t particles = result.rest.particles;
  const key_share own = keys_of_rank(particles, ranks.rank(), ranks.size());
  const bool named = std::find(by_row.begin(), by_row.end(), array.name) != by_row.end();
  const std::uint64_t row = particles == 0 ? 0 : place.bytes / particles;
  if (named && particles > 0 && row > 0 && row * particles == place.bytes) {
    array.bytes = in.bytes(place.offset + own.first * row, (own.end - own.first) * row);
    result.rows.arrays.push_back(std::move(array));
  } else if (named && place.bytes == 0 && particles == 0) {
    result.rows.arrays.push_back(std::move(array));
  } else if (ranks.rank() == 0) {
    array.bytes = in.bytes(place.offset, place.bytes);
    result.rest.arrays.push_back(std::move(array));
  }
}

}  // namespace

void write_checkpoint(communicator& ranks, const std::filesystem::path& file, const checkpoint& rows,
                      const checkpoint& rest, checkpoint_format format) {
  require_same_arrays(ranks, rows);
  std::vector<shared_array> shared;
  for (const checkpoint_array& one : rows.arrays) shared.emplace_back(ranks, one);
  const bool processes = ranks.size() > 1 && ranks.name() == "mpi";
  const bool as_hdf5 =
      format == checkpoint_format::automatic ? hdf5_is_there() && processes : format == checkpoint_format::hdf5;
  ranks_file out(ranks, file);
  checkpoint_frame frame;
  checksum sum = 0;
  together(ranks, [&] {
    if (ranks.rank() != 0) return;
    frame = as_hdf5 ? hdf5_frame(file.string(), rest, shared) : own_frame(rest, shared);
    sum = sum_of(frame, shared);
  });
  for (shared_array& one : shared) one.place.offset = all_values(ranks, one.place.offset)[0];
  together(ranks, [&] {
    for (std::size_t k = 0; k < shared.size(); ++k) {
      std::uint64_t own = shared[k].place.offset;
      for (int rank = 0; rank < ranks.rank(); ++rank) own += shared[k].parts[static_cast<std::size_t>(rank)].bytes;
      out.write_at(own, rows.arrays[k].bytes);
    }
    if (ranks.rank() != 0) return;
    for (const placed_bytes& one : frame.pieces) out.write_at(one.offset, one.bytes);
    out.write_at(frame.end, std::as_bytes(std::span(&sum, 1)));
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
    const bool as_hdf5 = header.version == hdf5_version;
    for (const array_place& one :
         as_hdf5 ? arrays_in_hdf5(in->name()) : arrays_in_own(*in, header.array_count, place)) {
      read_array(*in, ranks, by_row, one, result);
    }
  });
  return result;
}

}  // namespace quadrat::io

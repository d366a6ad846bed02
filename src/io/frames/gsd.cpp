// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/gsd.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "io/text.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

constexpr std::uint64_t gsd_magic = 0x65DF65DF65DF65DF;
constexpr std::size_t gsd_header_bytes = 256, gsd_name_bytes = 64, gsd_entry_bytes = 32;

/// An array of the file: rows of `width` numbers.
struct gsd_chunk {
  std::uint64_t rows = 0;
  std::uint64_t location = 0;
  std::uint32_t width = 0;
  std::uint8_t type = 0;
};

/// Bytes of a number of that type; 0 if there is no such type.
std::size_t gsd_type_bytes(std::uint8_t type) {
  constexpr std::size_t bytes[] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 1};
  return type < std::size(bytes) ? bytes[type] : 0;
}

}  // namespace

class gsd_reader::parser {
 public:
  parser(std::string bytes, std::string file, const frame_columns& wanted)
      : bytes_(std::move(bytes)), file_(std::move(file)), wanted_(wanted) {}

  [[nodiscard]] bool next(file_frame& frame) {
    if (read_ == frames()) return false;
    read_frame(frame);
    frame.frames = ++read_;
    return true;
  }
  /// The number of frames in the file. The first call reads the file's index.
  [[nodiscard]] std::size_t frames() {
    if (frames_ == 0) read_header();
    return frames_;
  }

 private:
  void read_header() {
    if (bytes_.size() < gsd_header_bytes || at<std::uint64_t>(0) != gsd_magic) fail("this is not a GSD file");
    const std::string_view schema = text_at(112, gsd_name_bytes);
    if (schema != "hoomd") fail("the schema is " + shown(schema) + "; expected \"hoomd\"");
    const std::uint32_t version = at<std::uint32_t>(44) >> 16;
    if (version != 1 && version != 2) fail(message("the version of the format is ", version, "; 1 and 2 are read"));
    read_index(names_of(version));
    if (frames_ == 0) fail("the file holds no frames");
  }

  void read_frame(file_frame& frame) {
    frame = {};
    frame.file = file_;
    const auto number = numbers("particles/N", 1, 1);
    const double count = number.empty() ? 0 : number[0];
    if (!(count >= 0 && count <= static_cast<double>(bytes_.size()))) fail(message("particles/N is ", count));
    count_ = static_cast<std::uint64_t>(count);
    read_box(frame);
    if (count_ > 0 && find("particles/position", count_) == nullptr)
      fail(message("frame ", read_, " has no positions"));
    frame.positions.resize(count_);
    const auto positions = numbers("particles/position", count_, 3);
    for (std::size_t k = 0; k < positions.size(); ++k) frame.positions[k / 3][static_cast<int>(k % 3)] = positions[k];
    const auto step = numbers("configuration/step", 1, 1);
    if (!step.empty() && !(step[0] >= 0 && step[0] < 0x1p63)) fail(message("configuration/step is ", step[0]));
    frame.step = step.empty() ? 0 : static_cast<std::uint64_t>(step[0]);
    if (const auto time = numbers("log/configuration/time", 1, 1); !time.empty()) frame.time = time[0];
    if (wanted_.charges) read_charges(frame);
    if (wanted_.species) frame.species = species();
    if (wanted_.fields) read_fields(frame);
  }

  [[noreturn]] void fail(const std::string& what) const { throw io_error(file_ + ": " + what); }

  template <typename T>
  [[nodiscard]] T at(std::size_t place) const {
    T value;
    std::memcpy(&value, bytes_.data() + place, sizeof(T));
    return value;
  }
  [[nodiscard]] std::string_view text_at(std::size_t place, std::size_t length) const {
    const std::string_view text = std::string_view(bytes_).substr(place, length);
    return text.substr(0, text.find('\0'));
  }
  /// Whether the file has `count` items of `size` bytes from `place` on.
  [[nodiscard]] bool has(std::uint64_t place, std::uint64_t count, std::uint64_t size) const {
    return place <= bytes_.size() && (size == 0 || count <= (bytes_.size() - place) / size);
  }

  [[nodiscard]] std::vector<std::string> names_of(std::uint32_t version) const {
    const auto place = at<std::uint64_t>(24), count = at<std::uint64_t>(32);
    if (!has(place, count, gsd_name_bytes)) fail("the list of names lies outside of the file; it is cut");
    std::vector<std::string> names;
    const std::size_t end = place + count * gsd_name_bytes;
    for (std::size_t k = place; k < end && bytes_[k] != '\0';) {
      names.emplace_back(text_at(k, version == 1 ? gsd_name_bytes : end - k));
      k += version == 1 ? gsd_name_bytes : names.back().size() + 1;
    }
    return names;
  }

  void read_index(const std::vector<std::string>& names) {
    const auto place = at<std::uint64_t>(8), count = at<std::uint64_t>(16);
    if (!has(place, count, gsd_entry_bytes)) fail("the index lies outside of the file; it is cut");
    for (std::uint64_t k = 0; k < count; ++k) {
      const std::size_t entry = place + k * gsd_entry_bytes;
      const auto frame = at<std::uint64_t>(entry);
      const auto name = at<std::uint16_t>(entry + 28);
      const gsd_chunk chunk{at<std::uint64_t>(entry + 8), at<std::uint64_t>(entry + 16), at<std::uint32_t>(entry + 24),
                            at<std::uint8_t>(entry + 30)};
      if (chunk.location == 0) break;
      const std::size_t size = gsd_type_bytes(chunk.type);
      if (name >= names.size() || size == 0 || chunk.width == 0 || frame >= bytes_.size()) {
        fail(message("entry ", k, " of the index is damaged"));
      }
      if (!has(chunk.location, chunk.rows, std::uint64_t{chunk.width} * size)) {
        fail(message("the file is cut: ", names[name], " of frame ", frame, " lies outside of it"));
      }
      chunks_[names[name]][frame] = chunk;
      frames_ = std::max<std::size_t>(frames_, frame + 1);
    }
  }

  /// The chunk of this frame, else that of the first frame if it has as many rows; null if there is none.
  [[nodiscard]] const gsd_chunk* find(const std::string& name, std::uint64_t rows) const {
    const auto named = chunks_.find(name);
    if (named == chunks_.end()) return nullptr;
    if (const auto own = named->second.find(read_); own != named->second.end()) {
      if (own->second.rows == rows) return &own->second;
      fail(message("frame ", read_, " has ", own->second.rows, " rows of ", name, "; expected ", rows));
    }
    const auto first = named->second.find(0);
    return first != named->second.end() && first->second.rows == rows ? &first->second : nullptr;
  }

  /// The numbers of a chunk, row by row; empty if there is none.
  [[nodiscard]] std::vector<double> numbers(const std::string& name, std::uint64_t rows, std::uint32_t width) const {
    const gsd_chunk* const chunk = find(name, rows);
    if (chunk == nullptr) return {};
    if (chunk->width != width) fail(message(name, " has ", chunk->width, " columns; expected ", width));
    return numbers_in(*chunk);
  }

  [[nodiscard]] std::vector<double> numbers_in(const gsd_chunk& chunk) const {
    std::vector<double> result(chunk.rows * chunk.width);
    for (std::size_t k = 0; k < result.size(); ++k) {
      result[k] = number_at(chunk.type, chunk.location + k * gsd_type_bytes(chunk.type));
    }
    return result;
  }

  [[nodiscard]] double number_at(std::uint8_t type, std::size_t place) const {
    switch (type) {
      case 1:
        return at<std::uint8_t>(place);
      case 2:
        return at<std::uint16_t>(place);
      case 3:
        return at<std::uint32_t>(place);
      case 4:
        return static_cast<double>(at<std::uint64_t>(place));
      case 6:
        return at<std::int16_t>(place);
      case 7:
        return at<std::int32_t>(place);
      case 8:
        return static_cast<double>(at<std::int64_t>(place));
      case 9:
        return at<float>(place);
      case 10:
        return at<double>(place);
      default:  // 5, and characters
        return at<std::int8_t>(place);
    }
  }

  /// Converts lengths and tilts to vectors: a along x, b in the plane of x and y.
  void read_box(file_frame& frame) const {
    std::vector<double> box = numbers("configuration/box", 6, 1);
    if (box.empty()) box = {1, 1, 1, 0, 0, 0};
    const auto dimensions = numbers("configuration/dimensions", 1, 1);
    const bool flat = !dimensions.empty() && dimensions[0] == 2;
    frame.lattice = {{{box[0], 0, 0}, {box[3] * box[1], box[1], 0}, {box[4] * box[2], box[5] * box[2], box[2]}}};
    frame.periodic = {true, true, !flat};
    for (int k = 0; k < 3; ++k) frame.origin += -0.5 * (*frame.lattice)[k];
  }

  [[nodiscard]] std::vector<std::string> species() const {
    std::vector<std::string> names;
    // The rows of particles/types are the names, padded with zeros.
    const auto named = chunks_.find("particles/types");
    if (named != chunks_.end()) {
      const auto own = named->second.find(read_), first = named->second.find(0);
      const auto& found = own != named->second.end() ? own : first;
      for (std::size_t k = 0; found != named->second.end() && k < found->second.rows; ++k) {
        const std::size_t width = found->second.width * gsd_type_bytes(found->second.type);
        names.emplace_back(text_at(found->second.location + k * width, width));
      }
    }
    if (names.empty()) names.emplace_back("A");
    std::vector<std::string> result(count_, names.front());
    const auto types = numbers("particles/typeid", count_, 1);
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (!(types[i] >= 0 && types[i] < static_cast<double>(names.size()))) {
        fail(
            message("frame ", read_, ": particle ", i, " has type ", types[i], "; there are ", names.size(), " types"));
      }
      result[i] = names[static_cast<std::size_t>(types[i])];
    }
    return result;
  }

  void read_charges(file_frame& frame) const {
    if (count_ > 0 && find("particles/charge", count_) == nullptr) fail("there are no charges");
    frame.charges = numbers("particles/charge", count_, 1);
    for (std::size_t i = 0; i < frame.charges.size(); ++i) {
      if (std::isfinite(frame.charges[i])) continue;
      fail(message("frame ", read_, ": the charge of particle ", i, " is ", frame.charges[i],
                   "; charges must be finite"));
    }
  }

  void read_fields(file_frame& frame) const {
    frame.fields.push_back({.name = "species", .kind = 'S', .words = species()});
    const auto add = [&](std::string name, const std::string& chunk, double factor) {
      const gsd_chunk* const found = find(chunk, count_);
      if (found == nullptr) return;
      std::vector<double> values = numbers_in(*found);
      for (double& value : values) value *= factor;
      frame.fields.push_back({.name = std::move(name), .width = found->width, .reals = std::move(values)});
    };
    add("velocity", "particles/velocity", 1);
    add("radius", "particles/diameter", 0.5);
    add("charge", "particles/charge", 1);
    add("mass", "particles/mass", 1);
    constexpr std::string_view logged = "log/particles/";
    for (const auto& [name, chunk] : chunks_) {
      if (name.starts_with(logged)) add(name.substr(logged.size()), name, 1);
    }
  }

  std::string bytes_;
  std::string file_;
  frame_columns wanted_;
  std::map<std::string, std::map<std::uint64_t, gsd_chunk>> chunks_;  ///< by name and frame
  std::size_t frames_ = 0, read_ = 0;
  std::uint64_t count_ = 0;  ///< particles of the frame
};

gsd_reader::gsd_reader(std::string bytes, std::string file, const frame_columns& columns)
    : parser_(std::make_unique<parser>(std::move(bytes), std::move(file), columns)) {}
gsd_reader::~gsd_reader() = default;
bool gsd_reader::next(file_frame& frame) { return parser_->next(frame); }
std::size_t gsd_reader::count_rest() { return parser_->frames(); }

}  // namespace quadrat::io

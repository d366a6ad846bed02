// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "core/counted.hpp"
#include "io/frames/xyz_comment.hpp"
#include "io/text.hpp"
#include "program/electrostatics/systems.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/npy.hpp"

namespace quadrat::program {
namespace {

/// The number of points per frame, which must be the same in all frames.
std::size_t points_of_frames(const std::string& file, const charged_systems& systems) {
  const std::size_t frames = systems.cells.size();
  std::vector<std::size_t> counts(frames, 0);
  for (const std::uint32_t system : systems.system_of_point) ++counts[system];
  for (std::size_t k = 1; k < frames; ++k) {
    require(counts[k] == counts[0], "--exclusions: the pairs of ", file, " hold for each frame of ", systems.file,
            ", but ", systems.names[k], " has ", detail::counted(counts[k], "point"), ", and the first one has ",
            counts[0]);
  }
  return counts.empty() ? 0 : counts[0];
}

/// `points`: number of points of a frame.
scaled_pair checked_pair(const std::string& place, std::size_t points, std::int64_t first, std::int64_t second,
                         double scale) {
  for (const std::int64_t point : {first, second}) {
    if (point >= 0 && static_cast<std::uint64_t>(point) < points) continue;
    throw io_error(message(place, ": there is no point ", point, " in a frame; it has ",
                           detail::counted(points, "point"), ", which count from 0"));
  }
  if (first == second) throw io_error(message(place, ": point ", first, " stands twice in one pair"));
  return {static_cast<particle_id>(first), static_cast<particle_id>(second), scale};
}

std::vector<scaled_pair> pairs_of_text(const std::string& file, std::size_t points) {
  const std::string text = io::read_whole_file(file);
  std::vector<scaled_pair> pairs;
  for (io::line_reader lines(text); lines.next();) {
    const std::string_view line = io::trimmed(lines.line().substr(0, lines.line().find('#')));
    if (line.empty()) continue;
    const auto words = io::words_of(line, " \t,");
    const std::string place = message(file, ":", lines.number());
    std::optional<std::int64_t> first, second;
    std::optional<double> scale = 0.0;
    if (words.size() == 2 || words.size() == 3) {
      first = io::number_from<std::int64_t>(words[0]);
      second = io::number_from<std::int64_t>(words[1]);
      if (words.size() == 3) scale = io::number_from<double>(words[2]);
    }
    if (!first || !second || !scale || !std::isfinite(*scale)) {
      throw io_error(message(place, ": ", io::shown(line),
                             " is no pair; expected two points, and perhaps a scale: 0 1, or 0 1 0.5"));
    }
    pairs.push_back(checked_pair(place, points, *first, *second, *scale));
  }
  return pairs;
}

template <typename Integer>
std::vector<scaled_pair> pairs_of(const io::npy_array& array, std::size_t points) {
  std::vector<scaled_pair> pairs;
  const auto numbers = array.as<Integer>();
  // A number that is not a valid integer is no valid point either.
  const auto whole = [](Integer number) {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    return number > 0 && static_cast<std::uint64_t>(number) > most ? static_cast<std::int64_t>(most)
                                                                   : static_cast<std::int64_t>(number);
  };
  for (std::size_t k = 0; k + 1 < numbers.size(); k += 2) {
    pairs.push_back(
        checked_pair(message(array.file, ": row ", k / 2), points, whole(numbers[k]), whole(numbers[k + 1]), 0));
  }
  return pairs;
}

std::vector<scaled_pair> pairs_of_array(const std::filesystem::path& file, std::size_t points) {
  const io::npy_array array = io::read_npy(file);
  if (array.shape.size() != 2 || array.shape[1] != 2) {
    throw io_error(message(array.file, ": the array has shape ", array.shape_text(), "; pairs are N x 2"));
  }
  switch (array.type) {
    case io::npy_type::int32:
      return pairs_of<std::int32_t>(array, points);
    case io::npy_type::int64:
      return pairs_of<std::int64_t>(array, points);
    case io::npy_type::uint32:
      return pairs_of<std::uint32_t>(array, points);
    case io::npy_type::uint64:
      return pairs_of<std::uint64_t>(array, points);
    default:
      throw io_error(
          message(array.file, ": the array holds ", name_of(array.type), "; pairs are int32, int64, uint32 or uint64"));
  }
}

}  // namespace

std::vector<scaled_pair> read_scaled_pairs(const std::filesystem::path& file, const charged_systems& systems) {
  const std::size_t points = points_of_frames(file.string(), systems);
  const auto pairs = file.extension() == ".npy" ? pairs_of_array(file, points) : pairs_of_text(file.string(), points);
  std::vector<scaled_pair> all;
  all.reserve(pairs.size() * systems.cells.size());
  for (std::size_t k = 0; k < systems.cells.size(); ++k) {
    const auto first = static_cast<particle_id>(k * points);
    for (const scaled_pair& pair : pairs) all.push_back({pair.first + first, pair.second + first, pair.scale});
  }
  return all;
}

}  // namespace quadrat::program

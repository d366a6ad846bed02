// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/frames.hpp"

#include "io/text.hpp"
#include "quadrat/io/gsd.hpp"
#include "quadrat/io/xyz.hpp"

namespace quadrat::io {

bool holds_frames(const std::filesystem::path& file) {
  const std::filesystem::path extension = file.extension();
  return extension == ".xyz" || extension == ".extxyz" || extension == ".gsd";
}

std::unique_ptr<frame_reader> open_frames(const std::filesystem::path& file, const frame_columns& columns) {
  std::string bytes = read_whole_file(file);
  if (file.extension() == ".gsd") return std::make_unique<gsd_reader>(std::move(bytes), file.string(), columns);
  return std::make_unique<xyz_reader>(std::move(bytes), file.string(), columns);
}

file_frame read_first_frame(const std::filesystem::path& file) {
  const auto reader = open_frames(file);
  file_frame frame;
  (void)reader->next(frame);
  frame.frames = reader->count_rest();
  return frame;
}

void for_each_frame(const std::filesystem::path& file, const frame_columns& columns,
                    const std::function<void(const file_frame&)>& f) {
  const auto reader = open_frames(file, columns);
  for (file_frame frame; reader->next(frame);) f(frame);
}

}  // namespace quadrat::io

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "quadrat/io/frames.hpp"

namespace quadrat::io {

/// Reads the frames of HOOMD's .gsd files (https://gsd.readthedocs.io, versions 1 and 2 of the format, schema "hoomd").
///
/// The box is centered at 0. It is periodic along all axes, in two dimensions along x and y. Species are the names of
/// the types. Fields are `species`, `velocity`, `radius` (half of the diameter), `charge`, `mass`, and those of
/// `log/particles/NAME`. A field that is neither in the frame nor in the first frame is left out. The time is
/// `log/configuration/time`.
class gsd_reader final : public frame_reader {
 public:
  /// The bytes of a file; `file` is its name in messages.
  gsd_reader(std::string bytes, std::string file, const frame_columns& columns = {});
  ~gsd_reader() override;
  gsd_reader(const gsd_reader&) = delete;
  gsd_reader& operator=(const gsd_reader&) = delete;

  /// Also throws io_error if this is not a .gsd file, or has no frames.
  [[nodiscard]] bool next(file_frame& frame) override;
  [[nodiscard]] std::size_t count_rest() override;

 private:
  class parser;
  std::unique_ptr<parser> parser_;
};

}  // namespace quadrat::io

// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/io/png.hpp"
#include "quadrat/io/vtk.hpp"

int main() {
  const std::vector<quadrat::vec<float, 3>> positions{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  const std::vector<float> charges{1, -1, 0.5F};
  quadrat::io::write_vtp("frame.vtp", quadrat::points_of(positions), "charge", charges, 0.25);
  quadrat::io::write_png("frame.png", {1, 2, {255, 0, 0, 0, 0, 255}});
  const std::uintmax_t frame = std::filesystem::file_size("frame.vtp"),
                       picture = std::filesystem::file_size("frame.png");
  std::printf("frame.vtp has %ju bytes, frame.png %ju\n", frame, picture);
  return frame > 100 && picture > 50 ? 0 : 1;
}

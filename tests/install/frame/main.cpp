// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <cstdio>
#include <filesystem>

#include "quadrat/io/particle_frame.hpp"
#include "quadrat/io/png.hpp"

int main() {
  quadrat::io::particle_frame particles;
  particles.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  particles.fields = {{"charge", {1, -1, 0.5F}}};
  quadrat::io::write_vtp("frame.vtp", particles);
  quadrat::io::write_png("frame.png", {1, 2, {255, 0, 0, 0, 0, 255}, {}});
  const std::uintmax_t frame = std::filesystem::file_size("frame.vtp"),
                       picture = std::filesystem::file_size("frame.png");
  std::printf("frame.vtp has %ju bytes, frame.png %ju\n", frame, picture);
  return frame > 100 && picture > 50 ? 0 : 1;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/png.hpp"

#include <gtest/gtest.h>
#include <png.h>

#include <cstdint>
#include <random>
#include <vector>

#include "io/temporary_folder.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

image read_png(const std::filesystem::path& file) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&png, file.c_str()) == 0) throw std::runtime_error(png.message);
  png.format = PNG_FORMAT_RGB;
  image result{png.width, png.height, std::vector<std::uint8_t>(PNG_IMAGE_SIZE(png)), {}};
  if (png_image_finish_read(&png, nullptr, result.rgb.data(), 0, nullptr) == 0) throw std::runtime_error(png.message);
  return result;
}

TEST(png, pixels_read_back) {
  const temporary_folder folder;
  std::mt19937 random(5);
  for (const auto& [width, height] : {std::pair<std::size_t, std::size_t>{1, 1}, {7, 3}, {640, 480}}) {
    image picture{width, height, std::vector<std::uint8_t>(3 * width * height), {}};
    for (auto& byte : picture.rgb) byte = static_cast<std::uint8_t>(random());
    write_png(folder / "a.png", picture);
    const image read = read_png(folder / "a.png");
    EXPECT_EQ(read.width, width);
    EXPECT_EQ(read.height, height);
    EXPECT_EQ(read.rgb, picture.rgb);
  }
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(png, texts_stand_before_the_pixels) {
  const temporary_folder folder;
  write_png(folder / "a.png", image{1, 1, {1, 2, 3}, {{"Title", "a dam \u00b7 of grains"}, {"Color top", ""}}});
  const std::string bytes = contents(folder / "a.png");
  const std::size_t title = bytes.find(std::string("iTXtTitle\0\0\0\0\0a dam \u00b7 of grains", 32));
  ASSERT_NE(title, std::string::npos);
  EXPECT_NE(bytes.find("iTXtColor top"), std::string::npos);
  EXPECT_LT(title, bytes.find("IDAT"));
  EXPECT_EQ(read_png(folder / "a.png").rgb, (std::vector<std::uint8_t>{1, 2, 3}));
  for (const std::string& keyword : {std::string(), std::string(80, 'a'), std::string("\n")}) {
    EXPECT_THROW(write_png("never.png", image{1, 1, {1, 2, 3}, {{keyword, "a"}}}), argument_error);
  }
}

TEST(png, a_size_that_does_not_match_is_refused) {
  EXPECT_THROW(write_png("never.png", image{2, 2, std::vector<std::uint8_t>(11), {}}), argument_error);
  EXPECT_THROW(write_png("never.png", image{}), argument_error);
}

TEST(png, a_failed_write_is_an_io_error) {
  const temporary_folder folder;
  std::filesystem::create_directory(folder / "a.png");
  EXPECT_THROW(write_png(folder / "a.png", image{1, 1, {1, 2, 3}, {}}), io_error);
}

}  // namespace
}  // namespace quadrat::io

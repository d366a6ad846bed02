// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/png.hpp"

#include <png.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <new>

#include "quadrat/core/error.hpp"
#include "quadrat/io/atomic_file.hpp"

namespace quadrat::io {
namespace {

/// What libpng's C callbacks work on. An exception cannot pass through C frames: it is stored here.
struct sink {
  atomic_file& file;
  std::exception_ptr failure;
  std::array<char, 128> complaint;  ///< of libpng; a std::string could throw
};

void write_data(png_structp png, png_bytep bytes, png_size_t count) {
  sink& out = *static_cast<sink*>(png_get_io_ptr(png));
  try {
    out.file.write(std::as_bytes(std::span(bytes, count)));
  } catch (...) {
    out.failure = std::current_exception();
  }
  if (out.failure) png_error(png, "write failed");
}

void flush_data(png_structp) {}

void remember(png_structp png, png_const_charp text) {
  auto& complaint = static_cast<sink*>(png_get_error_ptr(png))->complaint;
  const std::size_t length = std::min(std::strlen(text), complaint.size() - 1);
  std::memcpy(complaint.data(), text, length);
  complaint[length] = '\0';
  png_longjmp(png, 1);
}

void ignore(png_structp, png_const_charp) {}

/// The calls that may jump back here with an error; no object with a destructor may live in this function.
bool encode(png_structp png, png_infop info, const image& picture, std::vector<png_text>& texts) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width), static_cast<png_uint_32>(picture.height), 8,
               PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
  if (!texts.empty()) png_set_text(png, info, texts.data(), static_cast<int>(texts.size()));
  png_write_info(png, info);
  for (std::size_t y = 0; y < picture.height; ++y) png_write_row(png, picture.rgb.data() + 3 * y * picture.width);
  png_write_end(png, info);
  return true;
}

/// As libpng takes them; they point into the picture.
std::vector<png_text> texts_of(const image& picture) {
  std::vector<png_text> result;
  for (const auto& [keyword, text] : picture.text) {
    png_text one{};
    one.compression = PNG_ITXT_COMPRESSION_NONE;
    // libpng copies what it does not declare const.
    one.key = const_cast<char*>(keyword.c_str());
    one.text = const_cast<char*>(text.c_str());
    result.push_back(one);
  }
  return result;
}

}  // namespace

void write_png(const std::filesystem::path& file, const image& picture) {
  require(picture.width > 0 && picture.height > 0 && picture.rgb.size() == 3 * picture.width * picture.height,
          "write_png got ", picture.rgb.size(), " bytes for ", picture.width, " x ", picture.height, " pixels");
  for (const auto& [keyword, text] : picture.text) {
    const bool ascii = std::ranges::all_of(keyword, [](char c) { return c >= ' ' && c <= '~'; });
    require(ascii && !keyword.empty() && keyword.size() < 80, "write_png got the keyword \"", keyword,
            "\"; it must be 1 to 79 characters of ASCII");
  }
  std::vector<png_text> texts = texts_of(picture);
  atomic_file out(file);
  sink target{out, nullptr, {}};
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &target, remember, ignore);
  png_infop info = png == nullptr ? nullptr : png_create_info_struct(png);
  if (info == nullptr) {
    png_destroy_write_struct(&png, nullptr);
    throw std::bad_alloc();  // not a version mismatch: the version passed is the header's
  }
  png_set_write_fn(png, &target, write_data, flush_data);
  const bool encoded = encode(png, info, picture, texts);
  png_destroy_write_struct(&png, &info);
  if (target.failure) std::rethrow_exception(target.failure);
  if (!encoded) throw io_error(message("cannot write ", file.string(), ": libpng says ", target.complaint.data()));
  out.commit();
}

}  // namespace quadrat::io

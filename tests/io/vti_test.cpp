// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "io/temporary_folder.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/vtk.hpp"

namespace quadrat::io {
namespace {

/// 100 x + 10 y + z, and half of that as the second part.
template <typename T>
std::vector<T> numbered(const vti_grid& grid, std::size_t parts) {
  std::vector<T> values;
  for (std::size_t x = 0; x < grid.extent[0]; ++x) {
    for (std::size_t y = 0; y < grid.extent[1]; ++y) {
      for (std::size_t z = 0; z < grid.extent[2]; ++z) {
        const T value = static_cast<T>(100 * x + 10 * y + z);
        values.push_back(value);
        if (parts == 2) values.push_back(value / 2);
      }
    }
  }
  return values;
}

/// The array at that offset of the payload.
template <typename T>
std::vector<T> payload_array(const std::string& text, std::size_t offset) {
  const std::size_t at = text.find("\n_") + 2 + offset;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, text.data() + at, sizeof bytes);
  std::vector<T> result(bytes / sizeof(T));
  std::memcpy(result.data(), text.data() + at + sizeof bytes, bytes);
  return result;
}

template <typename T>
class vti_of : public testing::Test {};
using vti_number_types = testing::Types<float, double>;
TYPED_TEST_SUITE(vti_of, vti_number_types);

TYPED_TEST(vti_of, meshes_are_turned_so_that_x_varies_fastest) {
  using T = TypeParam;
  const temporary_folder folder;
  const vti_grid grid{{3, 2, 40}, {-1, 0, 2.5}, {0.5, 1, 0.25}};
  const std::vector<T> real = numbered<T>(grid, 1), complex = numbered<T>(grid, 2);
  const std::vector<vti_array<T>> arrays{{"a", real, false}, {"b", complex, true}};
  write_vti<T>(folder / "mesh.vti", grid, arrays);
  const std::string text = contents(folder / "mesh.vti");
  EXPECT_NE(text.find("<ImageData WholeExtent=\"0 2 0 1 0 39\" Origin=\"-1 0 2.5\" Spacing=\"0.5 1 0.25\">"),
            std::string::npos);
  EXPECT_NE(text.find("Name=\"b\" NumberOfComponents=\"2\""), std::string::npos);
  EXPECT_TRUE(text.ends_with("\n</AppendedData>\n</VTKFile>\n"));
  const auto a = payload_array<T>(text, 0);
  const auto b = payload_array<T>(text, 8 + real.size() * sizeof(T));
  ASSERT_EQ(a.size(), real.size());
  ASSERT_EQ(b.size(), complex.size());
  std::size_t at = 0;
  for (std::size_t z = 0; z < 40; ++z) {
    for (std::size_t y = 0; y < 2; ++y) {
      for (std::size_t x = 0; x < 3; ++x, ++at) {
        const T value = static_cast<T>(100 * x + 10 * y + z);
        ASSERT_EQ(a[at], value);
        ASSERT_EQ(b[2 * at], value);
        ASSERT_EQ(b[2 * at + 1], value / 2);
      }
    }
  }
}

TYPED_TEST(vti_of, arrays_of_another_size_are_refused) {
  using T = TypeParam;
  const temporary_folder folder;
  const std::vector<T> values(6);
  const std::vector<vti_array<T>> real{{"a", values, false}}, complex{{"a", values, true}};
  EXPECT_THROW(write_vti<T>(folder / "a.vti", {{7, 1, 1}}, real), argument_error);
  EXPECT_THROW(write_vti<T>(folder / "a.vti", {{6, 1, 1}}, complex), argument_error);
  EXPECT_THROW(write_vti<T>(folder / "a.vti", {{6, 0, 1}}, {}), argument_error);
  EXPECT_NO_THROW(write_vti<T>(folder / "a.vti", {{6, 1, 1}}, real));
}

TYPED_TEST(vti_of, meshes_are_read_back_as_they_were_written) {
  using T = TypeParam;
  const temporary_folder folder;
  for (const vti_grid& grid : {vti_grid{{3, 2, 40}, {-1, 0, 2.5}, {0.5, 1, 0.25}}, vti_grid{{7, 1, 1}}}) {
    for (const bool complex : {false, true}) {
      const std::vector<T> values = numbered<T>(grid, complex ? 2 : 1);
      std::vector<T> other = values;
      for (T& value : other) value = -value;
      const std::vector<vti_array<T>> arrays{{"a", values, complex}, {"b", other, complex}};
      write_vti<T>(folder / "mesh.vti", grid, arrays);
      const vti_mesh mesh = read_vti(folder / "mesh.vti");
      EXPECT_EQ(mesh.grid.extent, grid.extent);
      EXPECT_EQ(mesh.grid.origin, grid.origin);
      EXPECT_EQ(mesh.grid.spacing, grid.spacing);
      EXPECT_EQ(mesh.single, sizeof(T) == 4);
      EXPECT_EQ(mesh.complex, complex);
      EXPECT_EQ(mesh.names, (std::vector<std::string>{"a", "b"}));
      ASSERT_EQ(mesh.bytes.size(), 2 * values.size() * sizeof(T));
      EXPECT_EQ(std::memcmp(mesh.bytes.data(), values.data(), values.size() * sizeof(T)), 0);
      EXPECT_EQ(std::memcmp(mesh.bytes.data() + values.size() * sizeof(T), other.data(), other.size() * sizeof(T)), 0);
    }
  }
}

TEST(vti, what_is_not_as_it_was_written_is_named) {
  const temporary_folder folder;
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  write_vti<float>(folder / "a.vti", {{1, 2, 3}}, std::vector<vti_array<float>>{{"a", values, false}});
  const std::string text = contents(folder / "a.vti");
  const auto failure = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    try {
      (void)parse_vti(changed, "a.vti");
      return std::string("no error");
    } catch (const io_error& problem) {
      return std::string(problem.what());
    }
  };
  const auto expect = [&](const std::string& from, const std::string& to, const std::string& words) {
    const std::string found = failure(from, to);
    EXPECT_TRUE(found.starts_with("a.vti: ")) << found;
    EXPECT_NE(found.find(words), std::string::npos) << found;
  };
  EXPECT_EQ(failure("Name=\"a\"", "Name=\"b\""), "no error");
  expect("encoding=\"raw\"", "encoding=\"base64\"", "no raw AppendedData");
  expect("ImageData\" version", "PolyData\" version", "no ImageData");
  expect("UInt64", "UInt32", "not UInt64");
  expect("header_type", "compressor=\"vtkZLibDataCompressor\" header_type", "compressed");
  expect("LittleEndian", "BigEndian", "another order");
  expect("Float32", "Int32", "\"Int32\"");
  expect("0 0 0 1 0 2", "0 0 0 1 0 3", "24 bytes, where the mesh has 32");
  expect("0 0 0 1 0 2", "0 0 0 1 0 2000000000", "too short");
  expect("0 0 0 1 0 2", "0 0 0 -1 0 2", "not those of a mesh");
  expect("0 0 0 1 0 2", "0 0 0 1 0", "not 6 numbers");
  expect("offset=\"0\"", "offset=\"1000\"", "ends before");
  expect("Components=\"1\"", "Components=\"3\"", "3 components");
}

}  // namespace
}  // namespace quadrat::io

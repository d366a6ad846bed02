// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/vtk.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <regex>
#include <vector>

#include "io/temporary_folder.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

/// A reader for the one shape of VTP that Quadrat writes: the attributes from the XML, the values from the payload.
struct vtp_file {
  struct array {
    std::string type;
    std::size_t components;
    std::string bytes;
  };

  explicit vtp_file(const std::string& text) : head(text.substr(0, text.find("\n_"))) {
    const std::string payload = text.substr(text.find("\n_") + 2);
    const std::regex pattern(
        "<DataArray type=\"(\\w+)\" Name=\"(\\w+)\" NumberOfComponents=\"(\\d)\" format=\"appended\" "
        "offset=\"(\\d+)\"/>");
    for (std::sregex_iterator i(head.begin(), head.end(), pattern), end; i != end; ++i) {
      const std::size_t offset = std::stoul((*i)[4]);
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, payload.substr(offset, sizeof bytes).data(), sizeof bytes);
      arrays[(*i)[2]] = {(*i)[1], std::stoul((*i)[3]), payload.substr(offset + sizeof bytes, bytes)};
      end_of_arrays = std::max<std::size_t>(end_of_arrays, offset + sizeof bytes + bytes);
    }
    tail = payload.substr(end_of_arrays);
  }

  template <typename T>
  [[nodiscard]] std::vector<T> values(const std::string& name) const {
    const std::string& bytes = arrays.at(name).bytes;
    std::vector<T> result(bytes.size() / sizeof(T));
    if (!result.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }

  std::string head, tail;
  std::map<std::string, array> arrays;
  std::size_t end_of_arrays = 0;
};

template <typename T>
class vtk_of : public testing::Test {};
using number_types = testing::Types<float, double>;
TYPED_TEST_SUITE(vtk_of, number_types);

TYPED_TEST(vtk_of, particles_read_back) {
  using T = TypeParam;
  const temporary_folder folder;
  for (const std::size_t count : {0u, 1u, 3u, 8191u, 8192u, 20000u}) {
    std::vector<vec<T, 3>> x(count), v(count);
    for (std::size_t i = 0; i < count; ++i) {
      const T t = static_cast<T>(i);
      x[i] = {t, t + T(0.25), -t};
      v[i] = {T(3) * t, T(4) * t, T(0)};
    }
    write_vtp<T>(folder / "a.vtp", points_of(x.data(), count), points_of(v.data(), count), 12.5);
    const vtp_file file(contents(folder / "a.vtp"));
    EXPECT_NE(file.head.find("NumberOfPoints=\"" + std::to_string(count) + "\""), std::string::npos);
    EXPECT_NE(file.head.find(">12.5</DataArray>"), std::string::npos);
    EXPECT_EQ(file.tail, "\n</AppendedData>\n</VTKFile>\n");
    const auto points = file.values<float>("Points");
    const auto velocity = file.values<float>("velocity");
    const auto speed = file.values<float>("speed");
    ASSERT_EQ(points.size(), 3 * count);
    ASSERT_EQ(velocity.size(), 3 * count);
    ASSERT_EQ(speed.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      const float t = static_cast<float>(i);
      ASSERT_EQ(points[3 * i], t);
      ASSERT_EQ(points[3 * i + 1], t + 0.25f);
      ASSERT_EQ(points[3 * i + 2], -t);
      ASSERT_EQ(velocity[3 * i + 1], 4 * t);
      ASSERT_FLOAT_EQ(speed[i], 5 * t);
      ASSERT_EQ(file.values<std::uint32_t>("id").at(i), i);
      if (i > 100) i += 97;
    }
    ASSERT_EQ(file.values<std::int64_t>("connectivity").size(), count);
    ASSERT_EQ(file.values<std::int64_t>("offsets").size(), count > 0 ? 1u : 0u);
  }
}

TEST(vtk, radii_stand_beside_the_speeds) {
  const temporary_folder folder;
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  const std::vector<float> radii{0.5f, 0.25f};
  const auto points = strided_points<3>(x.data(), 2);
  write_vtp<float>(folder / "a.vtp", points, points, 0, radii);
  const vtp_file file(contents(folder / "a.vtp"));
  EXPECT_EQ(file.values<float>("radius"), radii);
  EXPECT_EQ(file.values<float>("Points"), x);
  EXPECT_THROW(write_vtp<float>(folder / "b.vtp", points, points, 0, std::span(radii).first(1)), argument_error);
}

TEST(vtk, unequal_lengths_are_refused) {
  const std::vector<float> x(9);
  EXPECT_THROW(write_vtp<float>("never.vtp", strided_points<3>(x.data(), 3), strided_points<3>(x.data(), 2), 0),
               argument_error);
  EXPECT_FALSE(std::filesystem::exists("never.vtp"));
}

TEST(vtk, a_collection_lists_its_files) {
  const temporary_folder folder;
  const std::vector<pvd_entry> entries{{0, "frames/a.vtp"}, {0.1, "frames/b.vtp"}};
  write_pvd(folder / "a.pvd", entries);
  EXPECT_EQ(contents(folder / "a.pvd"),
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n"
            "<DataSet timestep=\"0\" file=\"frames/a.vtp\"/>\n"
            "<DataSet timestep=\"0.10000000000000001\" file=\"frames/b.vtp\"/>\n"
            "</Collection>\n</VTKFile>\n");
}

}  // namespace
}  // namespace quadrat::io

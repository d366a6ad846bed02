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
#include "quadrat/io/particle_frame.hpp"

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

particle_frame frame_with(std::size_t count) {
  particle_frame frame;
  frame.time = 12.5;
  for (std::size_t i = 0; i < count; ++i) {
    const float t = static_cast<float>(i);
    frame.positions.push_back({t, t + 0.25f, -t});
    frame.velocities.push_back({3 * t, 4 * t, 0});
  }
  return frame;
}

TEST(vtk, particles_read_back) {
  const temporary_folder folder;
  for (const std::size_t count : {0u, 1u, 3u, 8191u, 8192u, 20000u}) {
    write_vtp(folder / "a.vtp", frame_with(count));
    const vtp_file file(contents(folder / "a.vtp"));
    EXPECT_NE(file.head.find("NumberOfPoints=\"" + std::to_string(count) + "\""), std::string::npos);
    EXPECT_NE(file.head.find(">12.5</DataArray>"), std::string::npos);
    EXPECT_EQ(file.tail, "\n</AppendedData>\n</VTKFile>\n");
    const auto points = file.values<float>("Points");
    ASSERT_EQ(file.values<std::int64_t>("connectivity").size(), count);
    ASSERT_EQ(file.values<std::int64_t>("offsets").size(), count > 0 ? 1u : 0u);
    ASSERT_EQ(file.arrays.contains("velocity"), count > 0);
    if (count == 0) continue;
    const auto velocity = file.values<float>("velocity");
    const auto speed = file.values<float>("speed");
    ASSERT_EQ(points.size(), 3 * count);
    ASSERT_EQ(velocity.size(), 3 * count);
    ASSERT_EQ(speed.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      const float t = static_cast<float>(i);
      ASSERT_EQ(points[3 * i + 1], t + 0.25f);
      ASSERT_EQ(points[3 * i + 2], -t);
      ASSERT_EQ(velocity[3 * i + 1], 4 * t);
      ASSERT_FLOAT_EQ(speed[i], 5 * t);
      ASSERT_EQ(file.values<std::uint32_t>("id").at(i), i);
      if (i > 100) i += 97;
    }
  }
}

TEST(vtk, a_grid_has_a_vertex_for_each_particle) {
  const temporary_folder folder;
  write_vtu(folder / "a.vtu", frame_with(3));
  const vtp_file file(contents(folder / "a.vtu"));
  EXPECT_NE(file.head.find("<Piece NumberOfPoints=\"3\" NumberOfCells=\"3\">"), std::string::npos);
  EXPECT_EQ(file.values<std::int64_t>("connectivity"), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(file.values<std::int64_t>("offsets"), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(file.values<std::uint8_t>("types"), (std::vector<std::uint8_t>{1, 1, 1}));
  EXPECT_EQ(file.values<float>("Points").size(), 9u);
}

TEST(vtk, radii_and_fields_stand_beside_the_speeds) {
  const temporary_folder folder;
  particle_frame frame = frame_with(2);
  frame.radii = {0.5f, 0.25f};
  frame.fields = {{"charge", {1, -1}}, {"heat", {7, 8}}};
  write_vtp(folder / "a.vtp", frame);
  const vtp_file file(contents(folder / "a.vtp"));
  EXPECT_EQ(file.values<float>("radius"), frame.radii);
  EXPECT_EQ(file.values<float>("charge"), frame.fields[0].values);
  EXPECT_EQ(file.values<float>("heat"), frame.fields[1].values);
}

TEST(vtk, the_box_is_in_the_head) {
  const temporary_folder folder;
  particle_frame frame = frame_with(1);
  frame.lower = {-1, 0.5, 0};
  frame.upper = {1, 2, 3};
  frame.periodic = {true, false, true};
  write_vtp(folder / "a.vtp", frame);
  const std::string text = contents(folder / "a.vtp");
  for (const char* const one : {"\"BoxLower\" NumberOfTuples=\"1\" NumberOfComponents=\"3\" format=\"ascii\">-1 0.5 0<",
                                "format=\"ascii\">1 2 3<", "format=\"ascii\">1 0 1<"}) {
    EXPECT_NE(text.find(one), std::string::npos) << one;
  }
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

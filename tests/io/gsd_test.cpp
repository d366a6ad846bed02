// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/gsd.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "io/temporary_folder.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

/// A file of version 2, put together by hand.
class gsd_bytes {
 public:
  template <typename T>
  void add(std::uint64_t frame, const std::string& name, std::uint8_t type, std::uint32_t width,
           const std::vector<T>& values) {
    std::size_t id = 0;
    for (; id < names_.size() && names_[id] != name;) ++id;
    if (id == names_.size()) names_.push_back(name);
    entries_.push_back({frame, values.size() / width, 256 + data_.size(), width, static_cast<std::uint16_t>(id), type});
    data_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  [[nodiscard]] std::string text(const std::string& schema = "hoomd") const {
    std::string names, index;
    for (const std::string& name : names_) names += name + '\0';
    names.resize((names.size() / 64 + 1) * 64, '\0');
    for (const entry& one : entries_) {
      put(index, one.frame), put(index, one.rows), put(index, one.location), put(index, one.width);
      put(index, one.id), put(index, one.type), put(index, std::uint8_t{0});
    }
    index.append(32, '\0');
    std::string head;
    put(head, std::uint64_t{0x65DF65DF65DF65DF}), put(head, std::uint64_t{256 + data_.size() + names.size()});
    put(head, std::uint64_t{index.size() / 32}), put(head, std::uint64_t{256 + data_.size()});
    put(head, std::uint64_t{names.size() / 64}), put(head, std::uint32_t{0x10004}), put(head, std::uint32_t{0x20001});
    head.resize(112, '\0');
    head += schema;
    head.resize(256, '\0');
    return head + data_ + names + index;
  }

 private:
  struct entry {
    std::uint64_t frame, rows, location;
    std::uint32_t width;
    std::uint16_t id;
    std::uint8_t type;
  };
  template <typename T>
  static void put(std::string& to, T value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  std::vector<std::string> names_;
  std::vector<entry> entries_;
  std::string data_;
};

constexpr std::uint8_t uint8 = 1, uint32 = 3, uint64 = 4, int8 = 5, real = 9, wide = 10;

gsd_bytes two_frames() {
  gsd_bytes file;
  file.add<float>(0, "configuration/box", real, 1, {4, 5, 6, 0.5, 0.25, 0});
  file.add<std::uint32_t>(0, "particles/N", uint32, 1, {2});
  file.add<char>(0, "particles/types", int8, 3, {'H', '\0', '\0', 'H', 'e', '\0'});
  file.add<std::uint32_t>(0, "particles/typeid", uint32, 1, {1, 0});
  file.add<float>(0, "particles/position", real, 3, {1, 2, 3, -1, -2, -3});
  file.add<float>(0, "particles/charge", real, 1, {1.5, -1.5});
  file.add<float>(0, "particles/diameter", real, 1, {1, 2});
  file.add<double>(0, "log/particles/heat", wide, 1, {7, 8});
  file.add<std::uint64_t>(1, "configuration/step", uint64, 1, {20});
  file.add<float>(1, "particles/position", real, 3, {0, 0, 0, 1, 1, 1});
  file.add<float>(1, "particles/velocity", real, 3, {1, 0, 0, 0, 1, 0});
  file.add<double>(1, "log/configuration/time", wide, 1, {0.5});
  return file;
}

std::string refusal(const std::string& bytes, const frame_columns& columns = {.species = true, .fields = true}) {
  try {
    gsd_reader reader(bytes, "a.gsd", columns);
    for (file_frame frame; reader.next(frame);) continue;
  } catch (const io_error& problem) {
    return problem.what();
  }
  return "no error";
}

TEST(gsd_test, what_a_frame_does_not_have_is_that_of_the_first) {
  gsd_reader reader(two_frames().text(), "a.gsd", {.species = true, .charges = true, .fields = true});
  file_frame first, second;
  ASSERT_TRUE(reader.next(first) && reader.next(second));
  EXPECT_EQ(reader.count_rest(), 2u);
  EXPECT_EQ(first.positions, (std::vector<vec<double, 3>>{{1, 2, 3}, {-1, -2, -3}}));
  EXPECT_EQ(second.positions, (std::vector<vec<double, 3>>{{0, 0, 0}, {1, 1, 1}}));
  EXPECT_EQ((*second.lattice)[1], (vec<double, 3>{2.5, 5, 0}));
  EXPECT_EQ((*second.lattice)[2], (vec<double, 3>{1.5, 0, 6}));
  EXPECT_EQ(second.origin, (vec<double, 3>{-4, -2.5, -3}));
  EXPECT_EQ(second.periodic, (vec<bool, 3>{true, true, true}));
  EXPECT_EQ(second.species, (std::vector<std::string>{"He", "H"}));
  EXPECT_EQ(second.charges, (std::vector<double>{1.5, -1.5}));
  EXPECT_EQ(first.step, 0u);
  EXPECT_EQ(second.step, 20u);
  EXPECT_FALSE(first.time.has_value());
  EXPECT_EQ(second.time, 0.5);
  EXPECT_EQ(second.place(), "a.gsd");
  std::vector<std::string> names;
  for (const frame_field& field : second.fields) names.push_back(field.name);
  EXPECT_EQ(names, (std::vector<std::string>{"species", "velocity", "radius", "charge", "heat"}));
  EXPECT_EQ(second.fields[1].width, 3u);
  EXPECT_EQ(second.fields[2].reals, (std::vector<double>{0.5, 1}));
  EXPECT_EQ(second.fields[4].reals, (std::vector<double>{7, 8}));
  EXPECT_FALSE(reader.next(second));
}

TEST(gsd_test, two_dimensions_are_open_along_z) {
  gsd_bytes file = two_frames();
  file.add<std::uint8_t>(0, "configuration/dimensions", uint8, 1, {2});
  const temporary_folder folder;
  put(folder / "a.gsd", file.text());
  EXPECT_TRUE(holds_frames(folder / "a.gsd"));
  const file_frame frame = read_first_frame(folder / "a.gsd");
  EXPECT_EQ(frame.periodic, (vec<bool, 3>{true, true, false}));
  EXPECT_EQ(frame.frames, 2u);
}

TEST(gsd_test, what_is_wrong_is_named) {
  const std::string whole = two_frames().text();
  EXPECT_EQ(refusal(whole), "no error");
  EXPECT_EQ(refusal(""), "a.gsd: this is not a GSD file");
  EXPECT_EQ(refusal(std::string(300, 'x')), "a.gsd: this is not a GSD file");
  EXPECT_EQ(refusal(two_frames().text("other")), "a.gsd: the schema is \"other\"; expected \"hoomd\"");
  EXPECT_EQ(refusal(whole.substr(0, whole.size() - 1)), "a.gsd: the index lies outside of the file; it is cut");
  EXPECT_EQ(refusal(gsd_bytes().text()), "a.gsd: the file holds no frames");
  gsd_bytes file = two_frames();
  file.add<float>(1, "particles/charge", real, 1, {1, 2, 3});
  EXPECT_EQ(refusal(file.text()), "a.gsd: frame 1 has 3 rows of particles/charge; expected 2");
  file = two_frames();
  file.add<std::uint32_t>(1, "particles/typeid", uint32, 1, {0, 2});
  EXPECT_EQ(refusal(file.text()), "a.gsd: frame 1: particle 1 has type 2; there are 2 types");
  file = two_frames();
  file.add<std::uint32_t>(1, "particles/N", uint32, 1, {3});
  EXPECT_EQ(refusal(file.text()), "a.gsd: frame 1 has 2 rows of particles/position; expected 3");
  gsd_bytes bare;
  bare.add<std::uint32_t>(0, "particles/N", uint32, 1, {1});
  EXPECT_EQ(refusal(bare.text()), "a.gsd: frame 0 has no positions");
  bare.add<float>(0, "particles/position", real, 3, {1, 2, 3});
  EXPECT_EQ(refusal(bare.text(), {.charges = true}), "a.gsd: there are no charges");
}

}  // namespace
}  // namespace quadrat::io

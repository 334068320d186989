#include "parallel_impl/recorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fixtures/error.hpp"
#include "fixtures/scratch_folder.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<RecordSpec> table() {
  RecordSpec out;
  out.name = "layer0.out";
  out.shape = {4, 2};
  out.order = 7;
  RecordSpec norm = out;
  norm.name = "layer0.norm1";
  norm.level = Level::all;
  RecordSpec ids;
  ids.name = "sample_ids";
  ids.phase = Phase::exact;
  ids.shape = {4};
  ids.order = 9;
  ids.type = ElementType::int64;
  return {out, norm, ids};
}

Placement rows(std::int64_t first, std::int64_t count) {
  return BoxPlacement{{Box{{first, 0}, {count, 2}}}};
}

const std::vector<double> kFour = {1, 2, 3, 4};

class Recorded : public testing::Test {
 protected:
  DumpReader written(const Recorder& recorder) {
    const std::filesystem::path file = folder_ / "piece.h5";
    DumpWriter writer(file, DumpHeader{});
    recorder.write(writer);
    writer.complete();
    return DumpReader(file);
  }

 private:
  ScratchFolder folder_;
};

TEST_F(Recorded, PiecesReachTheDumpWithTheirPlaces) {
  Recorder recorder(table(), Level::standard, "fp64");
  recorder.record(Phase::forward, "layer0.out", {1, 2, rows(2, 2), "tp"},
                  std::span<const double>(kFour));
  const std::vector<std::int64_t> ids = {5, 6, 7, 1LL << 60};
  recorder.record_integers(Phase::exact, "sample_ids",
                           {1, 0, whole(std::vector<std::int64_t>{4}), "dp,tp"}, ids);

  const DumpReader reader = written(recorder);

  ASSERT_EQ(reader.pieces().size(), 2U);
  const Piece& piece = reader.pieces()[0];
  EXPECT_EQ(piece.record, "layer0.out");
  EXPECT_EQ(piece.order, 7);
  EXPECT_EQ(piece.step, 1);
  EXPECT_EQ(piece.mb, 2);
  EXPECT_EQ(piece.shared_over, "tp");
  EXPECT_EQ(piece.computed_in, "fp64");
  EXPECT_EQ(piece.type, ElementType::float64);
  EXPECT_EQ(piece.placement, rows(2, 2));
  EXPECT_EQ(reader.read(piece), kFour);
  EXPECT_EQ(reader.read_integers(reader.pieces()[1]), ids);
}

TEST_F(Recorded, ValuesAreCopiedWhenTheyAreRecorded) {
  Recorder recorder(table(), Level::standard, "fp64");
  std::vector<double> values = kFour;
  recorder.record(Phase::forward, "layer0.out", {0, 0, rows(0, 2), ""},
                  std::span<const double>(values));
  values.assign(4, -1);

  const DumpReader reader = written(recorder);

  EXPECT_EQ(reader.read(reader.pieces()[0]), kFour);
}

TEST_F(Recorded, SingleAndEmptyPiecesAreKept) {
  Recorder recorder(table(), Level::standard, "fp32");
  const std::vector<float> values = {0.5F, 1.5F};
  recorder.record(Phase::forward, "layer0.out", {0, 0, rows(0, 1), ""},
                  std::span<const float>(values));
  recorder.record(Phase::forward, "layer0.out", {0, 1, rows(1, 0), ""}, std::span<const float>());

  const DumpReader reader = written(recorder);

  ASSERT_EQ(reader.pieces().size(), 2U);
  EXPECT_EQ(reader.pieces()[0].type, ElementType::float32);
  EXPECT_EQ(reader.read(reader.pieces()[0]), (std::vector<double>{0.5, 1.5}));
  EXPECT_TRUE(reader.read(reader.pieces()[1]).empty());
}

TEST_F(Recorded, WhatTheLevelDoesNotHoldIsDropped) {
  Recorder standard(table(), Level::standard, "fp64");
  Recorder all(table(), Level::all, "fp64");
  for (Recorder* recorder : {&standard, &all}) {
    recorder->record(Phase::forward, "layer0.norm1", {0, 0, rows(0, 2), ""},
                     std::span<const double>(kFour));
    recorder->record_local("step0/part", {2, 2}, kFour);
  }

  EXPECT_FALSE(standard.wants(Phase::forward, "layer0.norm1"));
  EXPECT_TRUE(standard.wants(Phase::forward, "layer0.out"));
  EXPECT_TRUE(all.wants(Phase::forward, "layer0.norm1"));
  EXPECT_FALSE(standard.wants_local());
  const DumpReader reader = written(all);
  EXPECT_EQ(reader.pieces().size(), 1U);
  EXPECT_EQ(reader.read_local("step0/part"), kFour);
}

TEST_F(Recorded, AtALowerLevelNothingOfAHigherOneIsWritten) {
  Recorder standard(table(), Level::standard, "fp64");
  standard.record(Phase::forward, "layer0.norm1", {0, 0, rows(0, 2), ""},
                  std::span<const double>(kFour));
  standard.record_local("step0/part", {2, 2}, kFour);

  const DumpReader reader = written(standard);

  EXPECT_TRUE(reader.pieces().empty());
  EXPECT_TRUE(reader.local_paths().empty());
}

TEST(Recorder, RefusesWhatTheTableDoesNotHave) {
  Recorder recorder(table(), Level::standard, "fp64");
  const auto record = [&](Phase phase, std::string_view name, std::int64_t count) {
    recorder.record(phase, name, {0, 3, rows(0, count), ""}, std::span<const double>(kFour));
  };
  EXPECT_THAT([&] { record(Phase::backward, "layer0.out", 2); },
              ThrowsMessage<Error>(HasSubstr("backward/layer0.out")));
  EXPECT_THAT([&] { static_cast<void>(recorder.wants(Phase::forward, "layer0.outt")); },
              ThrowsMessage<Error>(HasSubstr("no such record")));
  EXPECT_THAT([&] { record(Phase::forward, "layer0.out", 3); },
              ThrowsMessage<Error>(HasSubstr("4 values for a place of 6")));
  EXPECT_THAT([&] { record(Phase::exact, "sample_ids", 2); },
              ThrowsMessage<Error>(HasSubstr("the table holds integers")));
}

TEST(Recorder, CountsEvenWhatItWillDrop) {
  Recorder recorder(table(), Level::standard, "fp64");
  EXPECT_THROW(recorder.record(Phase::forward, "layer0.norm1", {0, 0, rows(0, 3), ""},
                               std::span<const double>(kFour)),
               Error);
}

}  // namespace
}  // namespace meshparity

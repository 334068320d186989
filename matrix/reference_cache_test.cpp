#include "matrix/reference_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "fixtures/companions.hpp"
#include "fixtures/dump.hpp"
#include "fixtures/error.hpp"
#include "matrix/references.hpp"

namespace meshparity {
namespace {

namespace fs = std::filesystem;

class ReferenceCacheTest : public testing::Test {
 protected:
  ReferenceCacheTest() {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::ofstream(folder_ / "program") << "a reference";
  }
  ReferenceCache cache(const std::string& cpu = "a cpu") const {
    return {folder_ / "cache", folder_ / "program", cpu};
  }
  static void write_dump(const fs::path& folder, const std::string& case_id, bool whole = true) {
    DumpHeader header;
    header.case_id = case_id;
    DumpWriter writer(folder / rank_file_name(0), header);
    if (whole) {
      writer.complete();
    }
  }
  void make(const ReferenceKey& key) const {
    const fs::path making = cache().begin(key);
    write_dump(making, key.case_id);
    write_companions(making / "companions_fp32.h5", "fp32", {});
    cache().adopt(key);
  }

  fs::path folder_;
  ReferenceKey key_{"gpt-tiny.single.plain.fp64.host-threads", "abc", Level::standard};
};

TEST_F(ReferenceCacheTest, HoldsWhatItAdopted) {
  EXPECT_FALSE(cache().holds(key_));

  make(key_);

  EXPECT_TRUE(cache().holds(key_));
  EXPECT_TRUE(fs::exists(cache().folder(key_) / "rank_0000.h5"));
}

TEST_F(ReferenceCacheTest, KeepsProgramCpuModelAndLevelApart) {
  make(key_);

  ReferenceKey other_model = key_;
  other_model.model_hash = "abd";
  ReferenceKey other_level = key_;
  other_level.level = Level::all;
  EXPECT_FALSE(cache().holds(other_model));
  EXPECT_FALSE(cache().holds(other_level));
  EXPECT_FALSE(cache("another cpu").holds(key_));
  std::ofstream(folder_ / "program") << "another reference";
  EXPECT_FALSE(cache().holds(key_));
}

TEST_F(ReferenceCacheTest, AsksEachPrecisionForTheCompanionsOfItsLane) {
  const auto file = [](Precision precision) {
    return ReferenceCache::companions_file("entry", precision).string();
  };
  EXPECT_EQ(file(Precision::fp64), "entry/companions_fp32.h5");
  EXPECT_EQ(file(Precision::fp32), "entry/companions_fp32.h5");
  EXPECT_EQ(file(Precision::tf32), "entry/companions_tf32.h5");
  EXPECT_EQ(file(Precision::bf16), "entry/companions_bf16.h5");

  key_.case_id = "gpt-tiny.single.plain.bf16.host-threads";
  EXPECT_THROW(make(key_), Error);  // it holds fp32's alone
}

TEST_F(ReferenceCacheTest, MakesOneReferenceForFp64AndFp32AndOneForEachOtherLane) {
  const auto run = [](const std::string& id) { return reference_run(parse_case(id)); };
  const std::string key = "gpt-tiny.single.plain.fp64.host-threads";
  EXPECT_EQ(run("gpt-tiny.dp2-tp2.mb2.fp64.host-threads"), key);
  EXPECT_EQ(run("gpt-tiny.dp2-tp2.mb2.fp32.host-threads"), key);
  EXPECT_EQ(run("gpt-tiny.tp2.plain.tf32.host-threads"), "gpt-tiny.single.plain.tf32.host-threads");
  EXPECT_EQ(run("gpt-tiny.tp2.plain.bf16.host-threads"), "gpt-tiny.single.plain.bf16.host-threads");
}

TEST_F(ReferenceCacheTest, RefusesATornEntry) {
  make(key_);

  fs::resize_file(cache().folder(key_) / "rank_0000.h5", 100);

  EXPECT_FALSE(cache().holds(key_));
}

TEST_F(ReferenceCacheTest, RefusesAnEntryOfAnotherKey) {
  ReferenceKey other = key_;
  other.case_id = "gpt-tiny.single.sgd.fp64.host-threads";
  make(key_);
  make(other);

  fs::remove_all(cache().folder(other));
  fs::copy(cache().folder(key_), cache().folder(other));

  EXPECT_FALSE(cache().holds(other));
}

TEST_F(ReferenceCacheTest, RefusesTheSameCaseOfAnotherModelFile) {
  ReferenceKey other = key_;
  other.model_hash = "abd";
  make(key_);

  fs::copy(cache().folder(key_), cache().folder(other));

  EXPECT_FALSE(cache().holds(other));
}

TEST_F(ReferenceCacheTest, RefusesAnEntryWhoseFileGrew) {
  make(key_);

  std::ofstream(cache().folder(key_) / "rank_0000.h5", std::ios::app) << "more";

  EXPECT_FALSE(cache().holds(key_));
}

TEST_F(ReferenceCacheTest, MakesARefusedEntryAgain) {
  make(key_);
  fs::remove(cache().folder(key_) / "companions_fp32.h5");
  ASSERT_FALSE(cache().holds(key_));

  make(key_);

  EXPECT_TRUE(cache().holds(key_));
}

TEST_F(ReferenceCacheTest, LeavesAnEntryThatAnotherRunMadeMeanwhile) {
  make(key_);
  const fs::path theirs = cache().folder(key_) / "open in another run's judge";
  std::ofstream(theirs) << "theirs";

  make(key_);

  EXPECT_TRUE(fs::exists(theirs));
  EXPECT_TRUE(cache().holds(key_));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "cache"), fs::directory_iterator()), 1);
}

TEST_F(ReferenceCacheTest, AdoptsNoTornDump) {
  const fs::path making = cache().begin(key_);
  write_dump(making, key_.case_id, false);
  write_companions(making / "companions_fp32.h5", "fp32", {});

  EXPECT_THROW(cache().adopt(key_), Error);
  EXPECT_FALSE(cache().holds(key_));
}

TEST_F(ReferenceCacheTest, AdoptsNoDumpOfAnotherCase) {
  const fs::path making = cache().begin(key_);
  write_dump(making, "gpt-tiny.single.sgd.fp64.host-threads");
  write_companions(making / "companions_fp32.h5", "fp32", {});

  EXPECT_THROW(cache().adopt(key_), Error);
}

TEST_F(ReferenceCacheTest, TrimsTheEntryUsedLongestAgoButNoneInUse) {
  ReferenceKey old = key_;
  old.model_hash = "old";
  ReferenceKey oldest = key_;
  oldest.model_hash = "oldest";
  for (const ReferenceKey& key : {oldest, old, key_}) {
    make(key);
  }
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(cache().folder(oldest) / "entry.txt", now - std::chrono::hours(3));
  fs::last_write_time(cache().folder(old) / "entry.txt", now - std::chrono::hours(2));
  const std::uintmax_t one = fs::file_size(cache().folder(key_) / "rank_0000.h5") +
                             fs::file_size(cache().folder(key_) / "companions_fp32.h5") +
                             fs::file_size(cache().folder(key_) / "entry.txt");

  cache().trim(2 * one + 100, {cache().folder(oldest)});

  EXPECT_TRUE(cache().holds(oldest));
  EXPECT_FALSE(cache().holds(old));
  EXPECT_TRUE(cache().holds(key_));
}

TEST_F(ReferenceCacheTest, SaysThatTheCacheCannotBeWritten) {
  std::ofstream(folder_ / "cache") << "a file stands in the way";

  EXPECT_THROW(cache().begin(key_), UsageError);
}

}  // namespace
}  // namespace meshparity

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/command.h"
#include "tools/command_outcome.h"
#include "tools/pareto.h"
#include "tools/report_columns.h"
#include "tools/sweep_grid.h"
#include "tools/sweep_run.h"
#include "tools/sweep_store.h"

namespace kvsim {
namespace {

using ::testing::HasSubstr;

std::string Path(const std::string& name) {
  return testing::TempDir() + "/" + name;
}

std::string Read(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Requests of a few lengths that crowd a small pool.
std::string TracePath(int requests = 60) {
  const std::string path = Path(absl::StrCat("sweep", requests, ".jsonl"));
  std::ofstream file(path);
  for (int i = 0; i < requests; ++i) {
    file << "{\"timestamp\": " << i * 30
         << ", \"input_length\": " << 200 + i % 7 * 100
         << ", \"output_length\": " << 20 + i % 5 << ", \"hash_ids\": ["
         << i % 4;
    for (int b = 1; b * 512 < 200 + i % 7 * 100; ++b) file << ", " << 100 + i;
    file << "]}\n";
  }
  return path;
}

std::vector<std::string> Arguments(const std::string& db) {
  return {"--trace", TracePath(),        "--db",   Path(db),
          "--csv",   Path(db) + ".csv",  "--vary", "num-gpu-blocks=150,300,40",
          "--vary",  "block-size=16,32", "--vary", "max-num-seqs=2,8"};
}

Outcome Sweep(const std::string& db, std::vector<std::string> more) {
  for (const char* end : {"", ".partial", ".csv"}) {
    std::filesystem::remove(Path(db) + end);
  }
  std::vector<std::string> arguments = Arguments(db);
  arguments.insert(arguments.end(), more.begin(), more.end());
  return Kvsim("sweep", std::move(arguments));
}

int64_t Query(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr),
            SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr),
            SQLITE_OK)
      << sqlite3_errmsg(db);
  EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
  const int64_t value = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(db);
  return value;
}

TEST(SweepGridTest, CountsTheLastFlagFastest) {
  const auto grid = SweepGrid::Parse({"block-size=16,32", "--tp=1,2"});
  ASSERT_TRUE(grid.ok()) << grid.status();
  EXPECT_EQ(grid->size(), 4);
  EXPECT_EQ(grid->Values(1), (std::vector<std::string>{"16", "2"}));
  EXPECT_EQ(grid->Values(2), (std::vector<std::string>{"32", "1"}));
  ReplayFlags flags;
  flags.trace = "x";
  flags.block_size = "1";
  ASSERT_TRUE(grid->Apply(3, &flags).ok());
  EXPECT_EQ(flags.block_size, "32");
  EXPECT_EQ(flags.tensor, "2");
  EXPECT_EQ(flags.trace, "x");
}

TEST(SweepGridTest, ValuesWithCommasAndSwitches) {
  const auto grid = SweepGrid::Parse(
      {"linear-us=base=1,prefill=2;base=3", "async-scheduling=true,false"});
  ASSERT_TRUE(grid.ok()) << grid.status();
  ReplayFlags flags;
  flags.trace = "x";
  ASSERT_TRUE(grid->Apply(0, &flags).ok());
  EXPECT_EQ(flags.linear_us, "base=1,prefill=2");
  EXPECT_TRUE(flags.async_scheduling);
  ASSERT_TRUE(grid->Apply(3, &flags).ok());
  EXPECT_FALSE(flags.async_scheduling);
}

TEST(SweepGridTest, NamesWhatItCannotVary) {
  for (const char* bad : {"block-size", "=1", "blok-size=1", "trace=a,b",
                          "block-size=16,,32", "timeline=a,b"}) {
    const auto grid = SweepGrid::Parse({bad});
    EXPECT_TRUE(IsUsageError(grid.status())) << bad;
    EXPECT_THAT(std::string(grid.status().message()), HasSubstr(bad));
  }
  EXPECT_FALSE(SweepGrid::Parse({"tp=1", "--tp=2"}).ok());
}

TEST(ParetoTest, KeepsWhatNobodyBeats) {
  EXPECT_EQ(ParetoFront({{1, 5}, {2, 2}, {1, 4}, {2, 2}, {0, 6}}),
            (std::vector<size_t>{0, 1, 3, 4}));
  EXPECT_TRUE(ParetoFront({}).empty());
}

// Every row equals the replay of its own.
TEST(SweepCommandTest, RowsAreReplays) {
  const Outcome outcome = Sweep("rows.db", {});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("12 points"));
  const std::string db = Path("rows.db");
  EXPECT_EQ(Query(db, "SELECT count(*) FROM points WHERE error IS NULL"), 12);
  // Forty blocks of 16 hold no prompt of 800 tokens.
  EXPECT_GT(Query(db, "SELECT never_fit FROM points WHERE point = 8"), 0);
  for (const auto& [blocks, size, seqs] :
       {std::tuple{"150", "16", "8"}, std::tuple{"300", "32", "2"}}) {
    const Outcome run = Kvsim(
        "replay", {"--trace", TracePath(), "--num-gpu-blocks", blocks,
                   "--block-size", size, "--max-num-seqs", seqs, "--json"});
    ASSERT_EQ(run.code, kExitOk) << run.err;
    const std::string where =
        absl::StrCat(" FROM points WHERE \"num-gpu-blocks\" = '", blocks,
                     "' AND \"block-size\" = '", size,
                     "' AND \"max-num-seqs\" = '", seqs, "'");
    for (const char* name : {"preemptions", "steps", "hit_tokens"}) {
      EXPECT_THAT(run.out,
                  HasSubstr(absl::StrCat(
                      "\"", name, "\": \"",
                      Query(db, absl::StrCat("SELECT ", name, where)), "\"")));
    }
  }
}

TEST(SweepCommandTest, TheSameBytesSerialAndParallel) {
  ASSERT_EQ(Sweep("serial.db", {"--jobs", "1"}).code, kExitOk);
  ASSERT_EQ(Sweep("parallel.db", {"--jobs", "7"}).code, kExitOk);
  EXPECT_EQ(Read(Path("serial.db")), Read(Path("parallel.db")));
  EXPECT_EQ(Read(Path("serial.db.csv")), Read(Path("parallel.db.csv")));
  EXPECT_FALSE(Read(Path("serial.db")).empty());
  const std::vector<std::string> lines =
      absl::StrSplit(Read(Path("serial.db.csv")), '\n', absl::SkipEmpty());
  EXPECT_EQ(lines.size(), 13u);
}

// Groups, retention and a model of several groups: the same on all cores.
TEST(SweepCommandTest, HybridsAreTheSameSerialAndParallel) {
  const auto sweep = [](const std::string& name, const char* jobs,
                        std::vector<std::string> more) {
    for (const char* end : {"", ".partial", ".csv"}) {
      std::filesystem::remove(Path(name) + end);
    }
    more.insert(more.end(), {"--trace", TracePath(), "--db", Path(name),
                             "--csv", Path(name) + ".csv", "--jobs", jobs});
    const Outcome outcome = Kvsim("sweep", std::move(more));
    EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
    return Read(Path(name)) + Read(Path(name) + ".csv");
  };
  const std::vector<std::string> groups = {
      "--block-size", "64",
      "--vary",       "groups=full,full+swa:128,full+mamba*3",
      "--vary",       "retention-interval=dense,0,256",
      "--vary",       "num-gpu-blocks=60,300"};
  const std::vector<std::string> model = {
      "--model", "kimi-linear-48b",
      "--vary",  "kv-memory=1GiB,4GiB",
      "--vary",  "max-model-len=16384,32768",
      "--vary",  "mamba-cache-mode=align,none"};
  for (const auto& flags : {groups, model}) {
    const std::string serial = sweep("hybrid1.db", "1", flags);
    EXPECT_EQ(serial, sweep("hybrid5.db", "5", flags));
    EXPECT_EQ(Query(Path("hybrid1.db"),
                    "SELECT count(*) FROM points WHERE error <> ''"),
              0);
  }
}

// Killed without warning at a few moments, then run again: what was stored is
// not computed twice, and the result is the same to the byte.
TEST(SweepCommandTest, GoesOnAfterAKill) {
  ASSERT_EQ(Sweep("whole.db", {}).code, kExitOk);
  for (const int delay_us : {2'000, 10'000, 20'000, 40'000, 80'000}) {
    for (const char* end : {"", ".partial", ".csv"}) {
      std::filesystem::remove(Path("cut.db") + end);
    }
    const pid_t child = fork();
    if (child == 0) {
      Kvsim("sweep", Arguments("cut.db"));
      _exit(0);
    }
    usleep(static_cast<useconds_t>(delay_us));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    if (std::filesystem::exists(Path("cut.db"))) continue;  // it was faster
    const Outcome again = Kvsim("sweep", Arguments("cut.db"));
    ASSERT_EQ(again.code, kExitOk) << again.err;
    EXPECT_EQ(Read(Path("cut.db")), Read(Path("whole.db")));
    EXPECT_FALSE(std::filesystem::exists(Path("cut.db.partial")));
  }
}

// What an earlier run stored is taken as it stands, only the rest is computed.
TEST(SweepRunTest, DoesNotComputeAStoredPointAgain) {
  const auto grid = SweepGrid::Parse({"num-gpu-blocks=100,200,300"});
  ASSERT_TRUE(grid.ok());
  SweepSchema schema;
  schema.varied = grid->names();
  for (const ReportColumn& column : ReportColumns()) {
    schema.figures.emplace_back(column.name, column.whole);
  }
  schema.signature = {{"kvsim", "a"}};
  const std::string path = Path("stored.db");
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".partial");
  const std::vector<std::string> made(schema.figures.size(), "7");
  {
    const auto store = SweepStore::Open(path, schema);
    ASSERT_TRUE(store.ok()) << store.status();
    ASSERT_TRUE((*store)->Put(1, {{"200"}, "", made}).ok());
  }
  const auto store = SweepStore::Open(path, schema);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->rows().size(), 1u);
  ReplayFlags flags;
  flags.trace = TracePath();
  int computed = 0;
  ASSERT_TRUE(RunSweep(
                  *grid, flags, 2, [&computed] { ++computed; }, store->get())
                  .ok());
  EXPECT_EQ(computed, 2);
  EXPECT_EQ((*store)->rows().at(1).figures, made);
  EXPECT_NE((*store)->rows().at(0).figures, made);
  ASSERT_TRUE((*store)->Finish().ok());
  EXPECT_EQ(Query(path, "SELECT steps FROM points WHERE point = 1"), 7);
  EXPECT_EQ(Query(path, "SELECT count(*) FROM points"), 3);
}

TEST(SweepCommandTest, APointThatCannotRunIsARow) {
  const Outcome outcome =
      Kvsim("sweep", {"--trace", TracePath(), "--db", Path("bad.db"), "--vary",
                      "num-gpu-blocks=100,0"});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("2 points, of which 1 could not run"));
  EXPECT_EQ(Query(Path("bad.db"),
                  "SELECT count(*) FROM points WHERE error IS NOT NULL AND "
                  "steps IS NULL"),
            1);
}

TEST(SweepCommandTest, RefusesToOverwriteOrMix) {
  ASSERT_EQ(Sweep("mine.db", {}).code, kExitOk);
  const Outcome again = Kvsim("sweep", Arguments("mine.db"));
  EXPECT_EQ(again.code, kExitBadInput);
  EXPECT_THAT(again.err, HasSubstr("mine.db' is already there"));
  // A partial file of another sweep.
  std::filesystem::remove(Path("mix.db"));
  std::filesystem::copy_file(Path("mine.db"), Path("mix.db.partial"),
                             std::filesystem::copy_options::overwrite_existing);
  const Outcome mixed =
      Kvsim("sweep", {"--trace", TracePath(), "--db", Path("mix.db"), "--vary",
                      "block-size=16", "--num-gpu-blocks", "100"});
  EXPECT_EQ(mixed.code, kExitBadInput);
  EXPECT_THAT(mixed.err, HasSubstr("holds points of another sweep"));
  std::ofstream(Path("garbage.db.partial")) << "this is no database at all";
  const Outcome garbage =
      Kvsim("sweep", {"--trace", TracePath(), "--db", Path("garbage.db"),
                      "--vary", "block-size=16", "--num-gpu-blocks", "100"});
  EXPECT_EQ(garbage.code, kExitBadInput);
  EXPECT_THAT(garbage.err, HasSubstr("garbage.db.partial"));
}

TEST(SweepCommandTest, WrongUsage) {
  EXPECT_EQ(Sweep("w.db", {"--pareto", "beauty"}).code, kExitWrongUsage);
  EXPECT_EQ(Sweep("w.db", {"--jobs", "0"}).code, kExitBadInput);
  EXPECT_EQ(Kvsim("sweep", {"--trace", TracePath(), "--db", Path("w.db")}).code,
            kExitWrongUsage);
  const Outcome missing =
      Kvsim("sweep", {"--trace", Path("none"), "--db", Path("w.db"), "--vary",
                      "block-size=16"});
  EXPECT_EQ(missing.code, kExitBadInput);
}

}  // namespace
}  // namespace kvsim

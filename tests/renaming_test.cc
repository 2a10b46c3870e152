// What a model, a file or a record is called decides nothing.
//
// Every catalogue model is written to a config.json of another name and planned
// again for each engine; every recorded start is predicted again with all names
// in it replaced. The answers must be the same.

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "models/catalogue.h"
#include "tests/startup_case.h"
#include "tests/startup_figures.h"
#include "tests/startup_predictor.h"
#include "tools/command.h"
#include "tools/command_outcome.h"

namespace kvsim {
namespace {

using Json = nlohmann::ordered_json;

struct Answer {
  int code = 0;
  std::string text;
};

// The answer with the model's name replaced and without the command line.
Answer Capacity(const std::string& model, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--model", model, "--json"});
  const Outcome outcome = Kvsim("capacity", std::move(arguments));
  std::string text = outcome.err;
  if (outcome.code == kExitOk) {
    Json json = Json::parse(outcome.out);
    json.erase("manifest");
    text = json.dump(1);
  }
  return {outcome.code, absl::StrReplaceAll(text, {{model, "MODEL"}})};
}

void ExpectSameAnswer(const CatalogueEntry& entry, const std::string& path,
                      const std::vector<std::string>& arguments) {
  const Answer known = Capacity(std::string(entry.name), arguments);
  const Answer copied = Capacity(path, arguments);
  EXPECT_EQ(known.code, copied.code) << entry.name;
  EXPECT_EQ(known.text, copied.text) << entry.name;
}

TEST(Renaming, ACopiedConfigGivesTheCatalogueModelsAnswer) {
  for (const CatalogueEntry& entry : Catalogue()) {
    const std::string path =
        WriteTestFile("copied under this name.json", std::string(entry.config));
    ExpectSameAnswer(entry, path, {"--kv-memory", "40GiB"});
    ExpectSameAnswer(entry, path, {"--gpu", "H200", "--tp", "8"});
  }
}

TEST(Renaming, OtherEnginesReadNoNamesEither) {
  for (const CatalogueEntry& entry : Catalogue()) {
    const std::string path =
        WriteTestFile("copied under this name.json", std::string(entry.config));
    for (const char* engine : {"sglang", "llama.cpp", "tensorrt-llm"}) {
      ExpectSameAnswer(entry, path,
                       {"--kv-memory", "40GiB", "--engine", engine,
                        "--max-model-len", "8192"});
    }
  }
}

// Fields of a config that only name things; `architectures` and `model_type`
// say what the model is.
void RenameIn(nlohmann::json& value) {
  if (value.is_array()) {
    for (nlohmann::json& element : value) RenameIn(element);
  }
  if (!value.is_object()) return;
  for (const char* name :
       {"_name_or_path", "name_or_path", "name", "model_name",
        "tokenizer_class", "transformers_version", "auto_map"}) {
    if (value.contains(name)) value[name] = "renamed";
  }
  for (auto& [key, field] : value.items()) RenameIn(field);
}

std::string Renamed(const std::string& config) {
  if (config.empty()) return config;
  nlohmann::json json = nlohmann::json::parse(config);
  RenameIn(json);
  return json.dump();
}

// Words that name a model, a server or a file.
std::vector<std::string> RenamedArguments(std::vector<std::string> words) {
  for (size_t i = 0; i < words.size(); ++i) {
    for (const char* flag : {"--model", "--model-path", "--served-model-name",
                             "--tokenizer", "-m", "--alias", "--hf-repo"}) {
      if (words[i] == flag && i + 1 < words.size()) words[i + 1] = "renamed/x";
      if (absl::StartsWith(words[i], absl::StrCat(flag, "="))) {
        words[i] = absl::StrCat(flag, "=renamed/x");
      }
    }
  }
  return words;
}

TEST(Renaming, RecordedStartsKeepTheirFigures) {
  const char* folder = std::getenv("KVSIM_SHARED");
  if (folder == nullptr) GTEST_SKIP() << "KVSIM_SHARED is not set";
  const auto cases = ReadStartupCases(absl::StrCat(folder, "/startup/cases"));
  ASSERT_TRUE(cases.ok()) << cases.status();
  int compared = 0;
  for (const StartupCase& startup : *cases) {
    const StartupPredict predict = FindStartupPredict(startup.engine);
    if (predict == nullptr) continue;
    StartupCase renamed = startup;
    renamed.id = renamed.kind = "renamed";
    renamed.config = Renamed(startup.config);
    renamed.draft_config = Renamed(startup.draft_config);
    renamed.args = RenamedArguments(startup.args);
    const StartupPool pool = {startup.memory, std::nullopt};
    const absl::StatusOr<StartupFigures> before = predict(startup, pool);
    const absl::StatusOr<StartupFigures> after = predict(renamed, pool);
    ASSERT_EQ(before.ok(), after.ok()) << startup.id << after.status();
    if (!before.ok()) continue;
    ++compared;
    EXPECT_EQ(before->units, after->units) << startup.id;
    EXPECT_EQ(before->refused, after->refused) << startup.id;
    EXPECT_EQ(before->values, after->values) << startup.id;
  }
  std::cout << compared << " starts predicted under other names\n";
  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace kvsim

#include "tools/models_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "models/catalogue.h"
#include "tools/kvsim.h"

namespace kvsim {
namespace {

TEST(ModelsCommandTest, ListsTheCatalogue) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(RunKvsim({"models"}, out, err), kExitOk) << err.str();
  for (const CatalogueEntry& entry : Catalogue()) {
    EXPECT_THAT(out.str(), ::testing::HasSubstr(std::string(entry.name)));
  }
}

TEST(ModelsCommandTest, JsonMarksAssumptions) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(RunKvsim({"models", "--json"}, out, err), kExitOk) << err.str();
  const auto report = nlohmann::json::parse(out.str());
  ASSERT_EQ(report["models"].size(), Catalogue().size());
  for (const auto& model : report["models"]) {
    EXPECT_EQ(model["assumed"], model["name"] == "kimi-k3.1-pro");
  }
}

}  // namespace
}  // namespace kvsim

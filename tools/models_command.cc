#include "tools/models_command.h"

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text.h"
#include "models/catalogue.h"
#include "models/layout_builder.h"
#include "models/parameter_count.h"

namespace kvsim {
namespace {

struct ModelRow {
  std::string name;
  std::string source;
  std::string kinds;  // "69 x KDA 96 x 128 x 128, 24 x MLA 512+64"
  int64_t layers = 0;
  double bytes_per_token = 0;
  Bytes fixed;
  int64_t parameters = 0;
  bool assumed = false;
};

std::string Kinds(const CacheLayout& layout) {
  std::map<std::string, int64_t> counts;
  for (const LayerCache& layer : layout.layers) ++counts[layer.kind];
  std::string text;
  for (const auto& [kind, count] : counts) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", count, " x ", kind);
  }
  return text;
}

absl::StatusOr<ModelRow> Describe(const CatalogueEntry& entry) {
  const absl::StatusOr<ModelSpec> spec = ReadCatalogueEntry(entry);
  if (!spec.ok()) return spec.status();
  const absl::StatusOr<CacheLayout> layout =
      BuildCacheLayout(*spec, LayoutOptions());
  if (!layout.ok()) return layout.status();
  ModelRow row;
  row.name = spec->name;
  row.source = spec->source;
  row.kinds = Kinds(*layout);
  row.layers = static_cast<int64_t>(spec->layers.size());
  row.bytes_per_token = layout->BytesPerToken();
  row.fixed = layout->FixedBytes();
  row.parameters = CountParameters(*spec).total();
  row.assumed = !spec->assumed_fields.empty();
  return row;
}

void PrintJson(const std::vector<ModelRow>& rows, std::ostream& out) {
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  for (const ModelRow& row : rows) {
    models.push_back({{"name", row.name},
                      {"source", row.source},
                      {"kinds", row.kinds},
                      {"num_layers", row.layers},
                      {"bytes_per_token", row.bytes_per_token},
                      {"fixed_bytes", row.fixed.value()},
                      {"parameters", row.parameters},
                      {"assumed", row.assumed}});
  }
  out << nlohmann::ordered_json({{"models", models}}).dump(2) << "\n";
}

void PrintText(const std::vector<ModelRow>& rows, ByteUnits units,
               std::ostream& out) {
  out << absl::StrFormat("%-18s %6s %14s %12s %10s  %s\n", "Name", "Layers",
                         "B per token", "Fixed", "Weights", "Kinds of layer");
  for (const ModelRow& row : rows) {
    out << absl::StrFormat(
        "%-18s %6d %14s %12s %8s B  %s%s\n", row.name, row.layers,
        absl::StrFormat("%.2f", row.bytes_per_token),
        FormatBytes(row.fixed, units),
        FormatRatio(row.parameters, 1'000'000'000, 1), row.kinds,
        row.assumed ? " (assumed, no public config)" : "");
  }
  out << "\nLayouts as engines store them, KV cache dtype auto; weights in "
         "10^9 parameters.\n";
}

absl::Status Models(bool json, CommandContext& context) {
  std::vector<ModelRow> rows;
  for (const CatalogueEntry& entry : Catalogue()) {
    absl::StatusOr<ModelRow> row = Describe(entry);
    if (!row.ok()) return row.status();
    rows.push_back(*std::move(row));
  }
  json ? PrintJson(rows, *context.out)
       : PrintText(rows, context.units, *context.out);
  return absl::OkStatus();
}

}  // namespace

void AddModelsCommand(CLI::App& app, CommandContext& context) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      AddCommand(app, context, "models",
                 "The models kvsim knows by name; --model also reads files.",
                 ServeArguments::kRefused,
                 [json, &context] { return Models(*json, context); });
  command->add_flag("--json", *json, "One JSON object on stdout.");
}

}  // namespace kvsim

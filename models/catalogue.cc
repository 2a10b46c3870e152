#include "models/catalogue.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "models/catalogue_entries.h"
#include "models/model_config.h"

namespace kvsim {
namespace {

std::vector<CatalogueEntry> AllEntries() {
  std::vector<CatalogueEntry> entries;
  for (const std::span<const CatalogueEntry> part :
       {DenseEntries(), ExpertsEntries(), LatentEntries(), HybridEntries()}) {
    entries.insert(entries.end(), part.begin(), part.end());
  }
  return entries;
}

}  // namespace

std::span<const CatalogueEntry> Catalogue() {
  static const std::vector<CatalogueEntry>& entries =
      *new std::vector<CatalogueEntry>(AllEntries());
  return entries;
}

const CatalogueEntry* FindCatalogueEntry(absl::string_view name) {
  for (const CatalogueEntry& entry : Catalogue()) {
    if (absl::EqualsIgnoreCase(entry.name, name)) return &entry;
  }
  return nullptr;
}

absl::StatusOr<ModelSpec> ReadCatalogueEntry(const CatalogueEntry& entry,
                                             absl::string_view overrides) {
  absl::StatusOr<ModelSpec> spec =
      ReadModelConfig(entry.config, entry.name, overrides);
  if (!spec.ok()) return spec.status();
  spec->source = std::string(entry.source);
  if (entry.article) spec->article = *entry.article;
  for (const absl::string_view field : entry.assumed_fields) {
    spec->assumed_fields.emplace_back(field);
  }
  return spec;
}

}  // namespace kvsim

// The named catalogue: configs of models people ask for by name.
//
// Each entry is the cache-relevant part of a config.json, written from the
// published figures, and goes through the same reader as a user's file.

#ifndef KVSIM_MODELS_CATALOGUE_H_
#define KVSIM_MODELS_CATALOGUE_H_

#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/model_spec.h"

namespace kvsim {

struct CatalogueEntry {
  absl::string_view name;
  absl::string_view source;  // where the figures come from
  absl::string_view config;  // JSON in Hugging Face spelling
  // Set where an article's assumptions differ from ArticleAssumptions' own.
  std::optional<ArticleAssumptions> article;
  // Fields that nobody has published, each with who assumes it and why.
  std::span<const absl::string_view> assumed_fields;
};

std::span<const CatalogueEntry> Catalogue();

// nullptr when there is no such name; case is ignored.
const CatalogueEntry* FindCatalogueEntry(absl::string_view name);

// The entry's spec, after merging `overrides` as LoadModel does.
absl::StatusOr<ModelSpec> ReadCatalogueEntry(const CatalogueEntry& entry,
                                             absl::string_view overrides = "");

}  // namespace kvsim

#endif  // KVSIM_MODELS_CATALOGUE_H_

// The catalogue's entries, in files by what their layers keep.

#ifndef KVSIM_MODELS_CATALOGUE_ENTRIES_H_
#define KVSIM_MODELS_CATALOGUE_ENTRIES_H_

#include <span>

#include "models/catalogue.h"

namespace kvsim {

std::span<const CatalogueEntry> DenseEntries();
std::span<const CatalogueEntry> ExpertsEntries();
std::span<const CatalogueEntry> LatentEntries();
std::span<const CatalogueEntry> HybridEntries();

}  // namespace kvsim

#endif  // KVSIM_MODELS_CATALOGUE_ENTRIES_H_

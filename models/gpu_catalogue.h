// GPUs by name: what an engine sees of their memory, and the peaks that a
// roofline needs.
//
// Model:   the memory that counts is `engine_total`, what the framework reports
//          as the device's total. A utilization is a share of this number. The
//          vendor's GB is only a name: an "80 GB" H100 has 79.19 GiB, an
//          "80 GB" A100 79.25, a "141 GB" H200 139.8.
// Units:   memory in bytes; rates per second, dense, one way.
// Missing: a rate that no source gives is nullopt, never a guess.
// Source:  engine start-up logs for memory; vendor data sheets, and published
//          catalogues that agree with them, for rates. `memory_source` says
//          which kind stands behind a card.

#ifndef KVSIM_MODELS_GPU_CATALOGUE_H_
#define KVSIM_MODELS_GPU_CATALOGUE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/units.h"

namespace kvsim {

// How well the engine-visible total of a card is known.
enum class MemorySource {
  kEngineLog,   // printed by an engine on that card
  kSiblingLog,  // printed on a card of the same family and memory
};

struct Gpu {
  std::string name;     // as people write it: "H100-SXM"
  double vendor_gb;     // the number in the product's name; never computed with
  Bytes engine_total;   // nominal
  Bytes engine_spread;  // largest distance of a log from the nominal figure
  MemorySource memory_source;
  std::optional<double> memory_bandwidth;  // bytes/s
  std::optional<double> bf16_flops;        // FLOP/s
  std::optional<double> fp8_flops;
  std::optional<double> fp4_flops;
  std::optional<double> link_bandwidth;  // bytes/s one way, GPU to GPU
  std::optional<Bytes> l2;
  int sm;  // NVIDIA compute capability times ten: 90 for Hopper; 0 elsewhere
};

// Every card, in the order of the catalogue; cards without any known memory
// (A30, Gaudi 3, TPUs) are not in it.
const std::vector<Gpu>& AllGpus();

// The card called `name`: letter case, blanks, '-', '_' and '/' do not matter,
// nor do a leading "NVIDIA" or "AMD". A family name ("H100", "A100") means its
// most common member (SXM, the larger memory).
// Errors: NotFound with the nearest names when nothing matches.
absl::StatusOr<Gpu> FindGpu(absl::string_view name);

// For reports: "engine log", "sibling's log".
absl::string_view MemorySourceName(MemorySource source);

}  // namespace kvsim

#endif  // KVSIM_MODELS_GPU_CATALOGUE_H_

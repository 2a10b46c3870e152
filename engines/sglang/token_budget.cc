#include "engines/sglang/token_budget.h"

#include <algorithm>
#include <cmath>

#include "engines/sglang/row_bytes.h"

namespace kvsim::sglang {
namespace {

constexpr double kWindowShare = 0.8;
constexpr double kCompressedWindowShare = 0.1;
constexpr int64_t kCompressedRequests = 256;
constexpr int64_t kLeastRequests = 2048;
constexpr int64_t kMostRequests = 4096;
constexpr int64_t kStateRing = 128;

struct LayerCount {
  int64_t model = 0;
  int64_t drafts = 0;
};

// Layers with rows of tokens.
LayerCount CountRowLayers(const BudgetInput& input) {
  LayerCount count;
  for (const RankLayer& layer : input.layers) {
    if (!layer.HasRows() && layer.compressed.empty()) continue;
    ++(layer.is_draft ? count.drafts : count.model);
  }
  return count;
}

// Charge of dense, latent and window rows.
double PlainCharge(const BudgetInput& input) {
  Bytes full(0);
  Bytes window(0);
  for (const RankLayer& layer : input.layers) {
    if (layer.is_draft || !layer.HasRows()) continue;
    (layer.IsWindow() ? window : full) +=
        ChargedRow(layer, input.type, input.settings);
  }
  if (!HasTwoPools(input)) {
    return static_cast<double>((full + window).value());
  }
  return static_cast<double>(full.value()) +
         WindowRatio(input) * static_cast<double>(window.value());
}

// Of one tensor of a compressed layer. `window`: tokens of the layer's window.
double CompressedCharge(const CacheTensor& tensor, int64_t window,
                        const BudgetInput& input) {
  const auto entry = static_cast<double>(tensor.EntryBytes().value());
  switch (tensor.store) {
    case CacheStore::kWindow:
      return WindowRatio(input) * entry;
    case CacheStore::kCompressorState:
    case CacheStore::kIndexCompressorState:
      if (tensor.retention.window > CompressorRing(input.settings)) return 0;
      return WindowRatio(input) *
             static_cast<double>(CompressorRing(input.settings)) /
             static_cast<double>(window) * entry;
    default:
      return entry / static_cast<double>(tensor.tokens_per_entry);
  }
}

double CompressedCharges(const BudgetInput& input) {
  double charge = 0;
  for (const RankLayer& layer : input.layers) {
    if (layer.is_draft) continue;
    for (const CacheTensor& tensor : layer.compressed) {
      charge +=
          CompressedCharge(tensor, layer.compressed[0].retention.window, input);
    }
  }
  return charge;
}

// States of compressors that are kept per request.
Bytes RequestStates(const BudgetInput& input) {
  Bytes row(0);
  for (const RankLayer& layer : input.layers) {
    if (layer.is_draft) continue;
    for (const CacheTensor& tensor : layer.compressed) {
      if (tensor.store == CacheStore::kCompressorState &&
          tensor.retention.window > CompressorRing(input.settings)) {
        row += tensor.EntryBytes();
      }
    }
  }
  return row * CompressorStateRows(input.settings);
}

double RatioStateBudget(const BudgetInput& input, Bytes rest) {
  const double ratio = input.settings.mamba_full_memory_ratio;
  return static_cast<double>(rest.value()) * ratio / (1 + ratio);
}

double StateBudget(const BudgetInput& input, Bytes rest) {
  const Bytes slot = SlotBytes(input);
  if (slot == Bytes(0)) return 0;
  if (const auto slots = SlotsByFlag(input.settings)) {
    return static_cast<double>(slot.value()) * static_cast<double>(*slots);
  }
  return RatioStateBudget(input, rest);
}

}  // namespace

bool HasTwoPools(const BudgetInput& input) {
  if (input.settings.disable_hybrid_swa_memory) return false;
  bool full = false;
  bool window = false;
  for (const RankLayer& layer : input.layers) {
    if (layer.is_draft || !layer.HasRows()) continue;
    (layer.IsWindow() ? window : full) = true;
  }
  return full && window;
}

bool HasCompressedRows(const BudgetInput& input) {
  return std::any_of(
      input.layers.begin(), input.layers.end(),
      [](const RankLayer& layer) { return !layer.compressed.empty(); });
}

double WindowRatio(const BudgetInput& input) {
  return input.settings.swa_full_tokens_ratio.value_or(
      HasCompressedRows(input) ? kCompressedWindowShare : kWindowShare);
}

int64_t WindowTokens(const BudgetInput& input, int64_t tokens) {
  const double share = WindowRatio(input) * static_cast<double>(tokens);
  return RoundDown(static_cast<int64_t>(share), input.page_size);
}

Bytes SlotBytes(const BudgetInput& input) {
  Bytes slot(0);
  for (const RankLayer& layer : input.layers) {
    if (!layer.is_draft) slot += StateOf(layer, input.settings).Total();
  }
  return slot;
}

std::optional<int64_t> SlotsByFlag(const Settings& settings) {
  std::optional<int64_t> slots = settings.max_mamba_cache_size;
  if (!slots.has_value() && settings.disable_radix_cache) {
    slots = settings.max_running_requests;
  }
  if (slots.has_value()) *slots /= settings.dp_size;
  return slots;
}

int64_t StateSlots(const BudgetInput& input, Bytes rest) {
  const Bytes slot = SlotBytes(input);
  if (slot == Bytes(0)) return 0;
  if (const auto slots = SlotsByFlag(input.settings)) return *slots;
  if (rest <= Bytes(0)) return 0;
  return static_cast<int64_t>(std::floor(RatioStateBudget(input, rest) /
                                         static_cast<double>(slot.value())));
}

TokenBudget BudgetTokens(const BudgetInput& input, Bytes rest) {
  TokenBudget budget;
  const LayerCount count = CountRowLayers(input);
  double charge = PlainCharge(input) + CompressedCharges(input);
  if (count.drafts > 0 && count.model > 0) {
    charge *= 1 + static_cast<double>(count.drafts) /
                      static_cast<double>(count.model);
  }
  budget.token_bytes = charge;
  budget.taken_first = RequestStates(input);
  const double left = static_cast<double>(rest.value()) -
                      StateBudget(input, rest) -
                      static_cast<double>(budget.taken_first.value());
  if (left <= 0 || charge <= 0) return budget;
  budget.tokens =
      RoundDown(static_cast<int64_t>(left / charge), input.page_size);
  return budget;
}

int64_t RunningRequests(const BudgetInput& input, int64_t tokens,
                        int64_t state_slots) {
  const Settings& settings = input.settings;
  int64_t requests = kLeastRequests;
  if (settings.max_running_requests.has_value()) {
    requests = *settings.max_running_requests / settings.dp_size;
  } else if (HasCompressedRows(input)) {
    requests = kCompressedRequests;
  } else if (input.context_length > 0) {
    const double longest =
        static_cast<double>(tokens) / static_cast<double>(input.context_length);
    requests = std::clamp(static_cast<int64_t>(longest * 512), kLeastRequests,
                          kMostRequests);
  }
  if (tokens > 0) requests = std::min(requests, tokens / 2);
  if (SlotBytes(input) > Bytes(0)) {
    requests = std::min(requests, state_slots / settings.SlotsPerRequest());
  }
  return requests;
}

int64_t CompressorStateRows(const Settings& settings) {
  const int64_t ring = settings.speculative ? 2 * kStateRing : kStateRing;
  const int64_t requests =
      settings.max_running_requests.value_or(kCompressedRequests);
  return RoundUp((requests + 1) * ring + kStateRing + 1, kStateRing);
}

int64_t CompressorRing(const Settings& settings) {
  return settings.speculative ? 16 : 8;
}

}  // namespace kvsim::sglang

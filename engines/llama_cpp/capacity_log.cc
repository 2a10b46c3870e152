#include "engines/llama_cpp/capacity_log.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace kvsim::llama_cpp {
namespace {

double MiB(Bytes bytes) { return static_cast<double>(bytes.value()) / 0x1p20; }

std::string CacheLine(const CachePlan& plan, const CachePool& pool, CacheType k,
                      CacheType v) {
  return absl::StrFormat(
      "llama_kv_cache: size = %7.2f MiB (%6d cells, %3d layers, %2d/%d seqs), "
      "K (%s): %7.2f MiB, V (%s): %7.2f MiB",
      MiB(TotalBytes(pool)), pool.entries, pool.layers.size(), plan.sequences,
      plan.streams, Name(k), MiB(PartBytes(pool, "K")), Name(v),
      MiB(PartBytes(pool, "V")));
}

std::string StateLine(const CachePlan& plan, const CachePool& pool,
                      int64_t model_layers) {
  std::string sequences = absl::StrFormat("%2d seqs", plan.sequences);
  if (plan.state_copies > 1) {
    absl::StrAppendFormat(&sequences, " %2d rs_seq", plan.state_copies - 1);
  }
  return absl::StrFormat(
      "llama_memory_recurrent: size = %7.2f MiB (%6d cells, %3d layers, %s), "
      "R (f32): %7.2f MiB, S (f32): %7.2f MiB",
      MiB(TotalBytes(pool)), pool.entries, model_layers, sequences,
      MiB(PartBytes(pool, "R")), MiB(PartBytes(pool, "S")));
}

// A cache, and the one of windows beside it.
void AddCaches(const CachePlan& plan, absl::string_view full_name,
               absl::string_view window_name, CacheType k, CacheType v,
               std::vector<std::string>& lines) {
  const CachePool* full = FindPool(plan.pools, full_name);
  const CachePool* windows = FindPool(plan.pools, window_name);
  if (windows != nullptr) {
    lines.push_back(absl::StrCat(
        "llama_kv_cache_iswa: creating non-SWA KV cache, size = ", plan.cells,
        " cells"));
  }
  if (full != nullptr) lines.push_back(CacheLine(plan, *full, k, v));
  if (windows == nullptr) return;
  lines.push_back(
      absl::StrCat("llama_kv_cache_iswa: creating     SWA KV cache, size = ",
                   windows->entries, " cells"));
  lines.push_back(CacheLine(plan, *windows, k, v));
}

}  // namespace

std::vector<std::string> CapacityLog(const CachePlan& plan,
                                     const Settings& settings,
                                     int64_t model_layers) {
  std::vector<std::string> lines;
  AddCaches(plan, "kv", "swa", settings.cache_type_k, settings.cache_type_v,
            lines);
  if (const CachePool* states = FindPool(plan.pools, "rs"); states != nullptr) {
    lines.push_back(StateLine(plan, *states, model_layers));
  }
  AddCaches(plan, "draft", "draft swa", settings.draft_type_k,
            settings.draft_type_v, lines);
  return lines;
}

}  // namespace kvsim::llama_cpp

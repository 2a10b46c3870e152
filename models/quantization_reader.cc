#include "models/quantization_reader.h"

#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace kvsim {
namespace {

// NVFP4 groups 16 elements per scale, MXFP4 32.
constexpr int64_t kNvfp4GroupSize = 16;

std::optional<DType> FromBits(int64_t bits, absl::string_view type,
                              int64_t group_size) {
  if (bits == 8) return type == "float" ? DType::kFp8 : DType::kInt8;
  if (bits != 4) return std::nullopt;
  if (type != "float") return DType::kInt4;
  return group_size == kNvfp4GroupSize ? DType::kNvfp4 : DType::kFp4;
}

std::optional<DType> FromMethod(const std::string& method, int64_t bits) {
  const std::string lower = absl::AsciiStrToLower(method);
  if (absl::StrContains(lower, "nvfp4")) return DType::kNvfp4;
  if (absl::StrContains(lower, "mxfp4")) return DType::kFp4;
  if (absl::StrContains(lower, "fp8")) return DType::kFp8;
  if (lower == "awq" || absl::StartsWith(lower, "gptq") ||
      absl::StrContains(lower, "int4")) {
    return FromBits(bits == 0 ? 4 : bits, "int", 0);
  }
  return std::nullopt;
}

struct GroupDTypes {
  std::optional<DType> eight_bit, four_bit;
};

// compressed-tensors and modelopt: one group of layers per number format.
GroupDTypes ReadGroups(ConfigFields& record) {
  GroupDTypes found;
  std::optional<ConfigFields> groups = record.Object("config_groups");
  if (!groups) return found;
  for (const char* name : {"group_0", "group_1", "group_2"}) {
    std::optional<ConfigFields> group = groups->Object(name);
    if (!group) continue;
    std::optional<ConfigFields> weights = group->Object("weights");
    if (!weights) continue;
    const std::optional<DType> dtype = FromBits(
        weights->CountOr({"num_bits"}, 0), weights->StringOr({"type"}, "int"),
        weights->CountOr({"group_size"}, 0));
    if (!dtype) continue;
    (BitsPerElement(*dtype) == 8 ? found.eight_bit : found.four_bit) = dtype;
  }
  return found;
}

std::optional<DType> ReadCacheDType(ConfigFields& record) {
  if (std::optional<ConfigFields> scheme = record.Object("kv_cache_scheme")) {
    return FromBits(scheme->CountOr({"num_bits"}, 0),
                    scheme->StringOr({"type"}, "float"), kNvfp4GroupSize);
  }
  const std::string algorithm = record.StringOr({"kv_cache_quant_algo"}, "");
  return algorithm.empty() ? std::nullopt : FromMethod(algorithm, 0);
}

}  // namespace

QuantizationSpec ReadQuantization(ConfigFields* record, ConfigFields& fields,
                                  DType model_dtype, bool has_experts) {
  QuantizationSpec spec;
  spec.weight_dtype = spec.expert_dtype = model_dtype;
  std::optional<DType> whole, experts;
  if (record != nullptr) {
    spec.method = record->StringOr({"quant_method", "quant_algo"}, "");
    const GroupDTypes groups = ReadGroups(*record);
    whole = groups.eight_bit;
    experts = groups.four_bit;
    if (!whole && !experts) {
      whole = FromMethod(record->StringOr({"quant_algo"}, spec.method),
                         record->CountOr({"bits", "w_bit"}, 0));
    }
    // V4's NVFP4 re-export keeps fp8 outside the experts.
    if (!whole && spec.method == "fp8") whole = DType::kFp8;
    spec.kv_cache_dtype = ReadCacheDType(*record);
    spec.weights_known = whole || experts;
  }
  const std::string expert_dtype = fields.StringOr({"expert_dtype"}, "");
  if (!expert_dtype.empty() && !experts) {
    experts = ParseDType(expert_dtype);
    if (!experts) fields.Fail("expert_dtype", "fp4, fp8, bf16 and the like");
  }
  if (whole && BitsPerElement(*whole) == 4 && has_experts) {
    experts = whole;
    whole.reset();
  }
  if (experts && !has_experts) whole = experts;
  spec.weight_dtype = whole.value_or(model_dtype);
  spec.expert_dtype = experts ? *experts : spec.weight_dtype;
  return spec;
}

}  // namespace kvsim

#include "models/recurrent_reader.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace kvsim {
namespace {

constexpr ConfigFields::Names kQueryHeads = {"num_attention_heads", "n_head",
                                             "num_heads"};
constexpr ConfigFields::Names kStateSize = {"ssm_state_size", "mamba_d_state",
                                            "state_size"};
constexpr ConfigFields::Names kConvKernel = {"conv_kernel", "mamba_d_conv"};
constexpr ConfigFields::Names kExpand = {"mamba_expand", "expand"};

// Q, K and V each pass a short convolution, so it runs over 3 * heads * dim.
RecurrentSpec ReadKda(ConfigFields& fields) {
  RecurrentSpec recurrent;
  recurrent.kind = RecurrentKind::kKda;
  std::optional<ConfigFields> config = fields.Object("linear_attn_config");
  if (!config) {
    fields.FailMissing("linear_attn_config",
                       "an object with num_heads, head_dim and "
                       "short_conv_kernel_size");
    return recurrent;
  }
  recurrent.value_heads = config->RequiredCount({"num_heads"});
  recurrent.key_heads = recurrent.value_heads;
  recurrent.key_dim = config->RequiredCount({"head_dim"});
  recurrent.value_dim = recurrent.key_dim;
  recurrent.conv_kernel = config->RequiredCount({"short_conv_kernel_size"});
  recurrent.conv_channels = 3 * recurrent.value_heads * recurrent.value_dim;
  recurrent.full_rank_gate = config->BoolOr({"use_full_rank_gate"}, false);
  return recurrent;
}

RecurrentSpec ReadGatedDeltaNet(ConfigFields& fields) {
  RecurrentSpec recurrent;
  recurrent.kind = RecurrentKind::kGatedDeltaNet;
  recurrent.key_heads = fields.RequiredCount({"linear_num_key_heads"});
  recurrent.value_heads = fields.RequiredCount({"linear_num_value_heads"});
  recurrent.key_dim = fields.RequiredCount({"linear_key_head_dim"});
  recurrent.value_dim = fields.RequiredCount({"linear_value_head_dim"});
  recurrent.conv_kernel = fields.RequiredCount({"linear_conv_kernel_dim"});
  recurrent.conv_channels = 2 * recurrent.key_heads * recurrent.key_dim +
                            recurrent.value_heads * recurrent.value_dim;
  if (recurrent.value_heads % recurrent.key_heads != 0) {
    fields.Fail("linear_num_value_heads",
                absl::StrCat("a multiple of linear_num_key_heads (",
                             recurrent.key_heads, ")"));
  }
  return recurrent;
}

// Width of one head: a number, or what the heads share of the inner width.
int64_t MambaHeadDim(int64_t heads, int64_t hidden_size, ConfigFields& fields) {
  // Plain Mamba-2 has no attention, so its head_dim is the state's.
  const bool named =
      fields.Has({"mamba_head_dim", "mamba_d_head", "mamba_headdim"});
  if (named && !fields.IsString({"mamba_d_head"})) {
    return fields.RequiredCount(
        {"mamba_head_dim", "mamba_d_head", "mamba_headdim"});
  }
  if (!named && fields.Has({"head_dim"}) && fields.Has({"num_heads"})) {
    return fields.RequiredCount({"head_dim"});
  }
  const int64_t inner = fields.PositiveOr(
      {"mamba_d_ssm"}, fields.PositiveOr(kExpand, 2) * hidden_size);
  if (inner % heads != 0) {
    fields.Fail("mamba_d_head",
                absl::StrCat("a number, or an inner width (", inner,
                             ") that the ", heads, " heads divide"));
    return 1;
  }
  return inner / heads;
}

RecurrentSpec ReadMamba2(int64_t hidden_size, ConfigFields& fields) {
  RecurrentSpec recurrent;
  recurrent.kind = RecurrentKind::kMamba2;
  recurrent.value_heads = fields.RequiredCount(
      {"mamba_num_heads", "mamba_n_heads", "n_mamba_heads", "num_heads"});
  recurrent.key_heads = recurrent.value_heads;
  recurrent.value_dim =
      MambaHeadDim(recurrent.value_heads, hidden_size, fields);
  recurrent.key_dim = fields.RequiredCount(kStateSize);
  recurrent.groups =
      fields.PositiveOr({"n_groups", "mamba_n_groups", "mamba_ngroups"}, 1);
  recurrent.conv_kernel = fields.PositiveOr(kConvKernel, 4);
  const int64_t inner = recurrent.value_heads * recurrent.value_dim;
  recurrent.conv_channels = inner + 2 * recurrent.groups * recurrent.key_dim;
  const int64_t stated = fields.PositiveOr({"mamba_d_ssm"}, inner);
  if (stated != inner) {
    fields.Fail("mamba_d_ssm",
                absl::StrCat(inner, ", the heads times their width"));
  }
  return recurrent;
}

RecurrentSpec ReadMamba1(int64_t hidden_size, ConfigFields& fields) {
  RecurrentSpec recurrent;
  recurrent.kind = RecurrentKind::kMamba1;
  const int64_t expanded = fields.PositiveOr(kExpand, 2) * hidden_size;
  // Only models of nothing but Mamba call the inner width intermediate_size.
  recurrent.value_heads =
      fields.Has({"num_attention_heads"})
          ? expanded
          : fields.PositiveOr({"intermediate_size"}, expanded);
  recurrent.key_heads = recurrent.value_heads;
  recurrent.value_dim = 1;
  recurrent.key_dim = fields.PositiveOr(kStateSize, 16);
  recurrent.conv_kernel = fields.PositiveOr(kConvKernel, 4);
  recurrent.conv_channels = recurrent.value_heads;
  return recurrent;
}

// Heads x dim x dim, no convolution.
RecurrentSpec ReadLightning(int64_t hidden_size, ConfigFields& fields) {
  RecurrentSpec recurrent;
  recurrent.kind = RecurrentKind::kLightning;
  recurrent.value_heads = fields.RequiredCount(kQueryHeads);
  recurrent.key_heads = recurrent.value_heads;
  recurrent.value_dim =
      fields.PositiveOr({"head_dim"}, hidden_size / recurrent.value_heads);
  recurrent.key_dim = recurrent.value_dim;
  return recurrent;
}

RecurrentSpec ReadShortConv(int64_t hidden_size, ConfigFields& fields) {
  RecurrentSpec recurrent;
  recurrent.kind = RecurrentKind::kShortConv;
  recurrent.conv_channels = fields.PositiveOr({"conv_dim"}, hidden_size);
  recurrent.conv_kernel = fields.PositiveOr({"conv_L_cache"}, 3);
  return recurrent;
}

RecurrentSpec ReadRgLru(int64_t hidden_size, ConfigFields& fields) {
  RecurrentSpec recurrent;
  recurrent.kind = RecurrentKind::kRgLru;
  recurrent.value_heads = fields.PositiveOr({"lru_width"}, hidden_size);
  recurrent.key_heads = recurrent.value_heads;
  recurrent.key_dim = recurrent.value_dim = 1;
  recurrent.conv_channels = recurrent.value_heads;
  recurrent.conv_kernel = fields.PositiveOr({"conv1d_width"}, 4);
  return recurrent;
}

// Both halves of a layer also mix in the token before: the last input of each,
// as a convolution of two taps.
RecurrentSpec ReadRwkv7(int64_t hidden_size, ConfigFields& fields) {
  RecurrentSpec recurrent;
  recurrent.kind = RecurrentKind::kRwkv7;
  recurrent.value_dim = fields.PositiveOr({"head_dim", "head_size"}, 64);
  if (hidden_size % recurrent.value_dim != 0) {
    fields.Fail("head_dim",
                absl::StrCat("a divisor of hidden_size (", hidden_size, ")"));
  }
  recurrent.value_heads = hidden_size / recurrent.value_dim;
  recurrent.key_heads = recurrent.value_heads;
  recurrent.key_dim = recurrent.value_dim;
  recurrent.conv_channels = 2 * hidden_size;
  recurrent.conv_kernel = 2;
  return recurrent;
}

RecurrentSpec ReadKind(RecurrentKind kind, int64_t hidden_size,
                       ConfigFields& fields) {
  switch (kind) {
    case RecurrentKind::kKda:
      return ReadKda(fields);
    case RecurrentKind::kGatedDeltaNet:
      return ReadGatedDeltaNet(fields);
    case RecurrentKind::kMamba1:
      return ReadMamba1(hidden_size, fields);
    case RecurrentKind::kMamba2:
      return ReadMamba2(hidden_size, fields);
    case RecurrentKind::kLightning:
      return ReadLightning(hidden_size, fields);
    case RecurrentKind::kShortConv:
      return ReadShortConv(hidden_size, fields);
    case RecurrentKind::kRgLru:
      return ReadRgLru(hidden_size, fields);
    case RecurrentKind::kRwkv7:
      return ReadRwkv7(hidden_size, fields);
  }
  KVSIM_CHECK(false) << "recurrent kind " << static_cast<int>(kind);
  return {};
}

}  // namespace

RecurrentSpec ReadRecurrent(const Dialect& dialect, int64_t hidden_size,
                            ConfigFields& fields) {
  KVSIM_CHECK(dialect.linear.has_value());
  RecurrentSpec recurrent = ReadKind(*dialect.linear, hidden_size, fields);
  recurrent.chunk =
      fields.PositiveOr({"mamba_chunk_size", "chunk_size"}, recurrent.chunk);
  const std::string dtype =
      fields.StringOr({"mamba_ssm_dtype", "mamba_ssm_cache_dtype"}, "");
  if (!dtype.empty()) {
    recurrent.state_dtype = ParseDType(dtype);
    if (!recurrent.state_dtype) {
      fields.Fail("mamba_ssm_dtype", "float32, bfloat16 or float16");
    }
  }
  return recurrent;
}

}  // namespace kvsim

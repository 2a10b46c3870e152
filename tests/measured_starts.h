// Starts of vLLM whose logs say where a GPU's memory went.
//
// Model:   what the server ran with, and what it printed. The figures of
//          MeasuredStarts() are those of public logs on many cards and versions;
//          a start whose card, model or batch is not known is not among them.
//          ReadMeasuredStarts() reads 59 more, all of one card and version, from
//          the folder of reference data.
// Units:   GiB of one rank.
// Ownership: plain values.

#ifndef KVSIM_TESTS_MEASURED_STARTS_H_
#define KVSIM_TESTS_MEASURED_STARTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/model_spec.h"

namespace kvsim {

struct MeasuredStart {
  std::string name;
  std::string model;      // in the catalogue, or a config's JSON
  std::string overrides;  // of the config, such as its quantization
  std::string version;
  double gpu_gib = 79.19;
  int sm = 90;
  bool fast_link = true;
  double utilization = 0.9;
  int64_t tensor = 1;
  int64_t pipeline = 1;
  std::optional<int64_t> batch_tokens, sequences;  // none: the card's default

  // As printed. `non_torch` is part of `weights` where a log prints their sum;
  // CUDA graphs are part of `activations` from v0.27 on.
  double weights = 0;
  std::optional<double> activations, non_torch, cuda_graphs;
  double kv = 0;
  bool consumed = false;  // `weights` is weights and non-torch memory
  // False: other ranks hold some of its experts, a draft's weights are among
  // them, or how its checkpoint is quantized is not known.
  bool whole_model = true;
};

std::vector<MeasuredStart> MeasuredStarts();

// Errors: NotFound for a file that cannot be read; InvalidArgument for a row
// without the columns, or of a model whose config is not known here.
absl::StatusOr<std::vector<MeasuredStart>> ReadMeasuredStarts(
    const std::string& csv);

absl::StatusOr<ModelSpec> ModelOf(const MeasuredStart& start);

}  // namespace kvsim

#endif  // KVSIM_TESTS_MEASURED_STARTS_H_

// Reading one layer's attention or recurrent state from a config's fields.

#ifndef KVSIM_MODELS_ATTENTION_READER_H_
#define KVSIM_MODELS_ATTENTION_READER_H_

#include <cstdint>
#include <vector>

#include "models/config_fields.h"
#include "models/dialects.h"
#include "models/layer_patterns.h"
#include "models/model_spec.h"

namespace kvsim {

// Reads fields of the layers one by one. Lists that name layers (indexer_types,
// compress_ratios) are read once, at construction. Errors go to
// fields.status().
class AttentionReader {
 public:
  AttentionReader(const Dialect& dialect, int64_t layers, int64_t mtp_layers,
                  int64_t hidden_size, ConfigFields& fields);

  // The attention of layer `layer`, or of MTP layer `layer - layers`.
  AttentionSpec Read(LayerMix mix, int64_t layer);

  // The dialect's linear layer. REQUIRES: dialect.linear.
  RecurrentSpec ReadRecurrent();

  CrossAttentionSpec ReadCross();

 private:
  AttentionSpec ReadHeads(LayerMix mix);
  AttentionSpec ReadMla(int64_t layer);
  AttentionSpec ReadCompressed(int64_t layer);
  void ReadBiases(AttentionSpec& attention);
  int64_t HeadDim(int64_t query_heads);
  IndexerSpec Indexer(IndexerKind kind);
  std::vector<IndexerKind> ReadIndexerKinds();
  RecurrentSpec ReadKda();
  RecurrentSpec ReadGatedDeltaNet();

  const Dialect& dialect_;
  const int64_t layers_;
  const int64_t mtp_layers_;
  const int64_t hidden_size_;
  ConfigFields& fields_;
  std::vector<IndexerKind> indexer_kinds_;  // MLA; empty without an indexer
  std::vector<int64_t> compress_ratios_;    // V4; MTP layers may follow
};

}  // namespace kvsim

#endif  // KVSIM_MODELS_ATTENTION_READER_H_

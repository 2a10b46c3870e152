// Reading one layer's attention from a config's fields.

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
// compress_ratios, num_attention_heads_per_layer, block_configs) are read once,
// at construction. Errors go to fields.status().
class AttentionReader {
 public:
  AttentionReader(const Dialect& dialect, int64_t layers, int64_t mtp_layers,
                  int64_t hidden_size, const LayerPlan& plan,
                  ConfigFields& fields);

  // The attention of layer `layer`, or of MTP layer `layer - layers`.
  // REQUIRES: `mix` is a kind of attention, or kHybrid.
  AttentionSpec Read(LayerMix mix, int64_t layer);

  // Decoder's attention to an encoder, and an encoder's to itself.
  CrossAttentionSpec ReadCross();
  AttentionSpec ReadEncoder();

 private:
  AttentionSpec ReadHeads(LayerMix mix, int64_t layer);
  AttentionSpec ReadMla(LayerMix mix, int64_t layer);
  AttentionSpec ReadCompressed(LayerMix mix, int64_t layer);
  void ReadWindow(AttentionSpec& attention, int64_t layer);
  void ReadShortConvolutions(AttentionSpec& attention);
  void ReadBiases(AttentionSpec& attention);
  int64_t KvHeads(int64_t query_heads, int64_t layer);
  int64_t HeadDim(int64_t query_heads);
  int64_t CompressRatio(LayerMix mix, int64_t layer);
  IndexerSpec Indexer(IndexerKind kind);
  IndexerSpec BlockIndexer();
  std::vector<IndexerKind> ReadIndexerKinds();
  void ReadBlockConfigs();

  const Dialect& dialect_;
  const int64_t layers_;
  const int64_t mtp_layers_;
  const int64_t hidden_size_;
  ConfigFields& fields_;
  std::vector<IndexerKind> indexer_kinds_;  // MLA; empty without an indexer
  std::vector<int64_t> compress_ratios_;    // V4; MTP layers may follow
  std::vector<int64_t> query_heads_;        // per layer, where they differ
  std::vector<int64_t> heads_per_kv_;       // block_configs; 0: no attention
  std::vector<int64_t> windows_;            // block_configs; 0: full
  bool some_layers_sparse_ = false;  // then the full ones have no indexer
};

}  // namespace kvsim

#endif  // KVSIM_MODELS_ATTENTION_READER_H_

// Reading what a layer keeps per sequence: recurrent and convolution states.

#ifndef KVSIM_MODELS_RECURRENT_READER_H_
#define KVSIM_MODELS_RECURRENT_READER_H_

#include <cstdint>

#include "models/config_fields.h"
#include "models/dialects.h"
#include "models/model_spec.h"

namespace kvsim {

// The dialect's recurrent layer. Widths of Mamba-2 are its heads times its
// head width, never expand times hidden_size where the heads are given.
// REQUIRES: dialect.linear. Errors go to fields.status().
RecurrentSpec ReadRecurrent(const Dialect& dialect, int64_t hidden_size,
                            ConfigFields& fields);

}  // namespace kvsim

#endif  // KVSIM_MODELS_RECURRENT_READER_H_

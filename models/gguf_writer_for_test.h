// GgufWriter: writes GGUF headers for tests, good ones and bad ones.

#ifndef KVSIM_MODELS_GGUF_WRITER_FOR_TEST_H_
#define KVSIM_MODELS_GGUF_WRITER_FOR_TEST_H_

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace kvsim {

class GgufWriter {
 public:
  // The whole header: version 3, no tensors, the pairs written so far.
  std::string Bytes() const {
    std::string bytes = "GGUF";
    Append(bytes, 3, 4);
    Append(bytes, 0, 8);
    Append(bytes, pairs_, 8);
    return bytes + body_;
  }

  void Uint32(const std::string& key, uint32_t value) {
    Begin(key, 4);
    Append(body_, value, 4);
  }
  void Int8(const std::string& key, int8_t value) {
    Begin(key, 1);
    Append(body_, static_cast<uint8_t>(value), 1);
  }
  void Text(const std::string& key, const std::string& value) {
    Begin(key, 8);
    AppendText(value);
  }
  void Ints(const std::string& key, const std::vector<int32_t>& values) {
    BeginList(key, 5, values.size());
    for (const int32_t value : values) {
      Append(body_, static_cast<uint32_t>(value), 4);
    }
  }
  void Bools(const std::string& key, const std::vector<bool>& values) {
    BeginList(key, 7, values.size());
    for (const bool value : values) Append(body_, value ? 1 : 0, 1);
  }
  void Floats(const std::string& key, const std::vector<float>& values) {
    BeginList(key, 6, values.size());
    for (const float value : values) {
      Append(body_, std::bit_cast<uint32_t>(value), 4);
    }
  }
  void Texts(const std::string& key, const std::vector<std::string>& values) {
    BeginList(key, 8, values.size());
    for (const std::string& value : values) AppendText(value);
  }

  // Claims without the bytes behind them.
  void HugeList(const std::string& key, uint32_t type, uint64_t entries) {
    BeginList(key, type, entries);
  }
  void HugeText(const std::string& key, uint64_t length) {
    Begin(key, 8);
    Append(body_, length, 8);
  }
  void RawType(const std::string& key, uint32_t type) { Begin(key, type); }

 private:
  static void Append(std::string& bytes, uint64_t value, int size) {
    for (int i = 0; i < size; ++i) {
      bytes += static_cast<char>(value >> (8 * i) & 0xff);
    }
  }
  void AppendText(const std::string& text) {
    Append(body_, text.size(), 8);
    body_ += text;
  }
  void Begin(const std::string& key, uint32_t type) {
    ++pairs_;
    AppendText(key);
    Append(body_, type, 4);
  }
  void BeginList(const std::string& key, uint32_t type, uint64_t entries) {
    Begin(key, 9);
    Append(body_, type, 4);
    Append(body_, entries, 8);
  }

  uint64_t pairs_ = 0;
  std::string body_;
};

}  // namespace kvsim

#endif  // KVSIM_MODELS_GGUF_WRITER_FOR_TEST_H_

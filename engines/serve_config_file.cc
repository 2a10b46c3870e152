#include "engines/serve_config_file.h"

#include <yaml.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace kvsim {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxDepth = 32;

int LineOf(const yaml_node_t& node) {
  return static_cast<int>(node.start_mark.line) + 1;
}

absl::Status At(absl::string_view name, int line, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": line ", line, ": ", problem));
}

// Parses and releases libyaml's document.
class Document {
 public:
  Document() = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  ~Document() {
    if (loaded_) yaml_document_delete(&document_);
  }

  absl::Status Parse(absl::string_view text, absl::string_view name) {
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0) {
      return absl::ResourceExhaustedError("no memory for a YAML parser");
    }
    yaml_parser_set_input_string(
        &parser, reinterpret_cast<const unsigned char*>(text.data()),
        text.size());
    loaded_ = yaml_parser_load(&parser, &document_) != 0;
    absl::Status status;
    if (!loaded_) {
      status = At(name, static_cast<int>(parser.problem_mark.line) + 1,
                  parser.problem != nullptr ? parser.problem : "not YAML");
    }
    yaml_parser_delete(&parser);
    return status;
  }

  // nullptr for an empty file.
  yaml_node_t* Root() { return yaml_document_get_root_node(&document_); }
  yaml_node_t* Node(int index) {
    return yaml_document_get_node(&document_, index);
  }

 private:
  yaml_document_t document_ = {};
  bool loaded_ = false;
};

std::string ScalarText(const yaml_node_t& node) {
  return std::string(reinterpret_cast<const char*>(node.data.scalar.value),
                     node.data.scalar.length);
}

// A scalar as YAML types it. Quoted text stays text.
Json TypedScalar(const yaml_node_t& node) {
  const std::string text = ScalarText(node);
  if (node.data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return text;
  const std::string lower = absl::AsciiStrToLower(text);
  if (lower.empty() || lower == "null" || lower == "~") return nullptr;
  if (lower == "true" || lower == "yes" || lower == "on") return true;
  if (lower == "false" || lower == "no" || lower == "off") return false;
  int64_t integer = 0;
  if (absl::SimpleAtoi(text, &integer)) return integer;
  double number = 0;
  if (absl::SimpleAtod(text, &number)) return number;
  return text;
}

absl::StatusOr<Json> JsonOf(Document& document, const yaml_node_t& node,
                            absl::string_view name, int depth) {
  if (depth > kMaxDepth) return At(name, LineOf(node), "nested too deeply");
  if (node.type == YAML_SCALAR_NODE) return TypedScalar(node);
  if (node.type == YAML_SEQUENCE_NODE) {
    Json list = Json::array();
    for (const int* item = node.data.sequence.items.start;
         item < node.data.sequence.items.top; ++item) {
      absl::StatusOr<Json> value =
          JsonOf(document, *document.Node(*item), name, depth + 1);
      if (!value.ok()) return value.status();
      list.push_back(*std::move(value));
    }
    return list;
  }
  Json object = Json::object();
  for (const yaml_node_pair_t* pair = node.data.mapping.pairs.start;
       pair < node.data.mapping.pairs.top; ++pair) {
    const yaml_node_t& key = *document.Node(pair->key);
    if (key.type != YAML_SCALAR_NODE) {
      return At(name, LineOf(key), "a key must be a word");
    }
    absl::StatusOr<Json> value =
        JsonOf(document, *document.Node(pair->value), name, depth + 1);
    if (!value.ok()) return value.status();
    object[ScalarText(key)] = *std::move(value);
  }
  return object;
}

absl::StatusOr<ConfigFlag> FlagOf(Document& document, const yaml_node_t& node,
                                  absl::string_view name) {
  ConfigFlag flag;
  if (node.type == YAML_MAPPING_NODE) {
    absl::StatusOr<Json> json = JsonOf(document, node, name, 0);
    if (!json.ok()) return json.status();
    flag.values = {json->dump()};
    return flag;
  }
  if (node.type == YAML_SEQUENCE_NODE) {
    for (const int* item = node.data.sequence.items.start;
         item < node.data.sequence.items.top; ++item) {
      absl::StatusOr<ConfigFlag> value =
          FlagOf(document, *document.Node(*item), name);
      if (!value.ok()) return value.status();
      if (value->kind != ConfigFlag::Kind::kValues ||
          value->values.size() != 1) {
        return At(name, LineOf(node), "a list must hold values");
      }
      flag.values.push_back(value->values[0]);
    }
    if (flag.values.empty()) flag.kind = ConfigFlag::Kind::kAbsent;
    return flag;
  }
  const Json typed = TypedScalar(node);
  if (typed.is_null() || typed == false) {
    flag.kind = ConfigFlag::Kind::kAbsent;
  } else if (typed == true) {
    flag.kind = ConfigFlag::Kind::kSwitch;
  } else {
    flag.values = {ScalarText(node)};
  }
  return flag;
}

}  // namespace

absl::StatusOr<std::vector<ConfigFlag>> ParseServeConfig(
    absl::string_view text, absl::string_view name) {
  Document document;
  if (absl::Status status = document.Parse(text, name); !status.ok()) {
    return status;
  }
  std::vector<ConfigFlag> flags;
  const yaml_node_t* root = document.Root();
  if (root == nullptr) return flags;
  if (root->type != YAML_MAPPING_NODE) {
    return At(name, LineOf(*root),
              "expected lines of the form \"flag-name: value\"");
  }
  for (const yaml_node_pair_t* pair = root->data.mapping.pairs.start;
       pair < root->data.mapping.pairs.top; ++pair) {
    const yaml_node_t& key = *document.Node(pair->key);
    if (key.type != YAML_SCALAR_NODE) {
      return At(name, LineOf(key), "a key must be a flag's name");
    }
    absl::StatusOr<ConfigFlag> flag =
        FlagOf(document, *document.Node(pair->value), name);
    if (!flag.ok()) return flag.status();
    flag->name = ScalarText(key);
    flag->line = LineOf(key);
    flags.push_back(*std::move(flag));
  }
  return flags;
}

absl::StatusOr<std::vector<ConfigFlag>> ReadServeConfig(
    const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) {
    return absl::NotFoundError(
        absl::StrCat("--config '", path, "': ", std::strerror(errno)));
  }
  return ParseServeConfig(text.str(), path);
}

}  // namespace kvsim

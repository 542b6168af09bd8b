#include "CSimdjson.h"

#include <cstring>
#include <new>
#include <type_traits>

#include <simdjson.h>

namespace dom = simdjson::dom;

struct csj_parser {
  dom::parser parser;
};

static_assert(CSJ_PADDING >= simdjson::SIMDJSON_PADDING, "the header promises too little padding");

namespace {

// simdjson's element and iterators consist of a document and an offset in it, like the C structs; the
// private members are accessed by copying the bytes. These assertions fail to compile if a newer
// simdjson has another layout.
struct place {
  const void *document;
  size_t index;
};
template <typename Value> constexpr bool is_place =
    sizeof(Value) == sizeof(place) && std::is_trivially_copyable<Value>::value;
static_assert(is_place<dom::element>, "simdjson's element has changed");
static_assert(is_place<dom::object::iterator>, "simdjson's object iterator has changed");
static_assert(is_place<dom::array::iterator>, "simdjson's array iterator has changed");

template <typename Value> Value from_place(const void *document, size_t index) noexcept {
  Value value;
  place raw{document, index};
  std::memcpy(static_cast<void *>(&value), &raw, sizeof value);
  return value;
}

template <typename Value> place to_place(const Value &value) noexcept {
  place raw;
  std::memcpy(&raw, static_cast<const void *>(&value), sizeof raw);
  return raw;
}

dom::element unwrap(csj_element element) noexcept {
  return from_place<dom::element>(element.document, element.index);
}

csj_element wrap(dom::element element) noexcept {
  place raw = to_place(element);
  csj_kind kind = CSJ_NULL;
  switch (element.type()) {
    case dom::element_type::ARRAY: kind = CSJ_ARRAY; break;
    case dom::element_type::OBJECT: kind = CSJ_OBJECT; break;
    case dom::element_type::INT64: kind = CSJ_INT64; break;
    case dom::element_type::UINT64: kind = CSJ_UINT64; break;
    case dom::element_type::DOUBLE: kind = CSJ_DOUBLE; break;
    case dom::element_type::STRING: kind = CSJ_STRING; break;
    case dom::element_type::BOOL: kind = CSJ_BOOL; break;
    case dom::element_type::NULL_VALUE: kind = CSJ_NULL; break;
  }
  return {raw.document, raw.index, kind};
}

template <typename Iterator> csj_cursor cursor(Iterator begin, Iterator end) noexcept {
  place first = to_place(begin);
  return {first.document, first.index, to_place(end).index};
}

}  // namespace

csj_parser *csj_parser_create(size_t maximum_depth) noexcept {
  auto *parser = new (std::nothrow) csj_parser;
  if (parser == nullptr) return nullptr;
  if (parser->parser.allocate(4096, maximum_depth) != simdjson::SUCCESS) {
    delete parser;
    return nullptr;
  }
  return parser;
}

void csj_parser_free(csj_parser *parser) noexcept { delete parser; }

int csj_parse(csj_parser *parser, const void *bytes, size_t count, csj_element *root) noexcept {
  dom::element element;
  auto error = parser->parser.parse(static_cast<const uint8_t *>(bytes), count, false).get(element);
  if (error == simdjson::SUCCESS) *root = wrap(element);
  return error;
}

const char *csj_error_message(int error) noexcept {
  return simdjson::error_message(static_cast<simdjson::error_code>(error));
}

bool csj_error_is_utf8(int error) noexcept { return error == simdjson::UTF8_ERROR; }

bool csj_bool(csj_element element) noexcept {
  bool value = false;
  return unwrap(element).get(value) == simdjson::SUCCESS && value;
}

int64_t csj_int64(csj_element element) noexcept {
  int64_t value = 0;
  return unwrap(element).get(value) == simdjson::SUCCESS ? value : 0;
}

uint64_t csj_uint64(csj_element element) noexcept {
  uint64_t value = 0;
  return unwrap(element).get(value) == simdjson::SUCCESS ? value : 0;
}

double csj_double(csj_element element) noexcept {
  double value = 0;
  return unwrap(element).get(value) == simdjson::SUCCESS ? value : 0;
}

const char *csj_string(csj_element element, size_t *count) noexcept {
  const char *text = nullptr;
  *count = 0;
  if (unwrap(element).get_c_str().get(text) != simdjson::SUCCESS) return nullptr;
  size_t length = 0;
  if (unwrap(element).get_string_length().get(length) == simdjson::SUCCESS) *count = length;
  return text;
}

csj_cursor csj_object_begin(csj_element object) noexcept {
  dom::object value;
  if (unwrap(object).get(value) != simdjson::SUCCESS) return {nullptr, 0, 0};
  return cursor(value.begin(), value.end());
}

bool csj_object_next(csj_cursor *cursor, csj_member *member) noexcept {
  if (cursor->index == cursor->end) return false;
  auto iterator = from_place<dom::object::iterator>(cursor->document, cursor->index);
  member->key = iterator.key_c_str();
  member->key_count = iterator.key_length();
  member->value = wrap(iterator.value());
  ++iterator;
  cursor->index = to_place(iterator).index;
  return true;
}

csj_cursor csj_array_begin(csj_element array) noexcept {
  dom::array value;
  if (unwrap(array).get(value) != simdjson::SUCCESS) return {nullptr, 0, 0};
  return cursor(value.begin(), value.end());
}

bool csj_array_next(csj_cursor *cursor, csj_element *element) noexcept {
  if (cursor->index == cursor->end) return false;
  auto iterator = from_place<dom::array::iterator>(cursor->document, cursor->index);
  *element = wrap(*iterator);
  ++iterator;
  cursor->index = to_place(iterator).index;
  return true;
}


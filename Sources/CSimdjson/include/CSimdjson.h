#ifndef QUAKE_CSIMDJSON_H
#define QUAKE_CSIMDJSON_H

// simdjson's document API behind plain C. Swift's C++ interoperability refuses the calls that
// return pointers into the document, which are the ones that make simdjson worth having.
//
// It knows nothing of earthquakes. No C++ exception leaves it: every call is noexcept, and errors
// are codes. Nothing here is thread-safe; one parser has one owner.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define CSJ_NOEXCEPT noexcept
extern "C" {
#else
#define CSJ_NOEXCEPT
#endif

// How many readable bytes must follow the last byte given to csj_parse: simdjson loads whole vector
// registers. What they hold does not matter.
enum { CSJ_PADDING = 64 };

// --- Documents

typedef struct csj_parser csj_parser;

enum csj_kind {
  CSJ_NULL,
  CSJ_BOOL,
  CSJ_INT64,   // a whole number that fits
  CSJ_UINT64,  // a whole number past the largest int64_t
  CSJ_DOUBLE,
  CSJ_STRING,
  CSJ_ARRAY,
  CSJ_OBJECT
};

// A value in a parsed document, good until the next csj_parse or the parser's end. It is passed by
// value (no allocation, no lifetime of its own); `kind` travels along because every caller needs it
// first, and asking for it would be one more call a value.
typedef struct {
  const void *document;
  size_t index;
  enum csj_kind kind;
} csj_element;

// A member of an object. `key` is UTF-8, unescaped, not to be trusted to have no NUL inside.
typedef struct {
  const char *key;
  size_t key_count;
  csj_element value;
} csj_member;

// Where an iteration over an object or an array stands. Plain words, so that it lives on the
// caller's stack; only csj_*_begin and csj_*_next look inside.
typedef struct {
  const void *document;
  size_t index;
  size_t end;
} csj_cursor;

// A parser that refuses documents nested deeper than `maximum_depth`; NULL when there is no memory.
csj_parser *csj_parser_create(size_t maximum_depth) CSJ_NOEXCEPT;
void csj_parser_free(csj_parser *parser) CSJ_NOEXCEPT;

// Parses `count` bytes followed by CSJ_PADDING readable ones. 0, or an error for csj_error_message.
// The document the parser held before is gone either way.
int csj_parse(
    csj_parser *parser, const void *bytes, size_t count, csj_element *root) CSJ_NOEXCEPT;

// What an error of csj_parse means, in English; a static string.
const char *csj_error_message(int error) CSJ_NOEXCEPT;

// Whether an error of csj_parse is about the encoding and not the syntax.
bool csj_error_is_utf8(int error) CSJ_NOEXCEPT;

// Each is to be called on an element of that kind; on another it gives zero or nothing.
int64_t csj_int64(csj_element element) CSJ_NOEXCEPT;
uint64_t csj_uint64(csj_element element) CSJ_NOEXCEPT;
double csj_double(csj_element element) CSJ_NOEXCEPT;  // of any of the three kinds of number
const char *csj_string(csj_element element, size_t *count) CSJ_NOEXCEPT;

csj_cursor csj_object_begin(csj_element object) CSJ_NOEXCEPT;
bool csj_object_next(csj_cursor *cursor, csj_member *member) CSJ_NOEXCEPT;

csj_cursor csj_array_begin(csj_element array) CSJ_NOEXCEPT;
bool csj_array_next(csj_cursor *cursor, csj_element *element) CSJ_NOEXCEPT;

// --- Boundaries
//
// simdjson wants a whole document in memory. These find where one object or array of a long stream
// ends without parsing it, 64 bytes at a time, so that only that one need be in memory.

// Where a scan stands between two pieces of input. Zero it before a container's first byte.
typedef struct {
  uint64_t in_string;  // all ones within a string, else zero
  uint64_t escape;     // 1 when the next byte is escaped by a backslash
  uint64_t depth;      // containers open
} csj_scan;

enum csj_scan_status { CSJ_SCAN_MORE, CSJ_SCAN_END, CSJ_SCAN_TOO_DEEP };

// Scans on, from the `{` or `[` that begins a container. Gives how many bytes were used: up to and
// with the bracket that closes the container (END), or opens one too many (TOO_DEEP), or all (MORE).
// It counts brackets outside strings; whether they match and the rest is JSON, csj_parse decides.
size_t csj_scan_container(
    csj_scan *scan, const void *bytes, size_t count, uint64_t maximum_depth,
    enum csj_scan_status *status) CSJ_NOEXCEPT;

// How often `byte` occurs.
size_t csj_count_byte(const void *bytes, size_t count, uint8_t byte) CSJ_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif

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

// How many readable bytes must follow the last byte passed to csj_parse, because simdjson loads whole
// vector registers. Their values do not matter.
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

// A value in a parsed document, valid until the next csj_parse or the parser's end. It is passed by
// value (no allocation, no lifetime of its own). It contains `kind` because every caller needs that
// first, and a call for it would be one more for each value.
typedef struct {
  const void *document;
  size_t index;
  enum csj_kind kind;
} csj_element;

// A member of an object. `key` is UTF-8, unescaped, and may contain NUL.
typedef struct {
  const char *key;
  size_t key_count;
  csj_element value;
} csj_member;

// The state of an iteration over an object or an array. It consists of integers, so that it is on the
// caller's stack; only csj_*_begin and csj_*_next use its members.
typedef struct {
  const void *document;
  size_t index;
  size_t end;
} csj_cursor;

// A parser that refuses documents nested deeper than `maximum_depth`; NULL if there is not enough memory.
csj_parser *csj_parser_create(size_t maximum_depth) CSJ_NOEXCEPT;
void csj_parser_free(csj_parser *parser) CSJ_NOEXCEPT;

// Parses `count` bytes followed by CSJ_PADDING readable ones. 0, or an error for csj_error_message. The
// parser's earlier document becomes invalid in both cases.
int csj_parse(
    csj_parser *parser, const void *bytes, size_t count, csj_element *root) CSJ_NOEXCEPT;

// The message for an error of csj_parse, in English; a static string.
const char *csj_error_message(int error) CSJ_NOEXCEPT;

// Whether an error of csj_parse is about the encoding, not the syntax.
bool csj_error_is_utf8(int error) CSJ_NOEXCEPT;

// Call each of these on an element of its kind; for other kinds it returns zero or nothing.
bool csj_bool(csj_element element) CSJ_NOEXCEPT;
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
// simdjson needs a whole document in memory. These functions find the end of one object or array in a
// long stream without parsing it, 64 bytes at a time, so that only this one must be in memory.

// The state of a scan between two pieces of input. Zero it before a container's first byte.
typedef struct {
  uint64_t in_string;  // all ones within a string, else zero
  uint64_t escape;     // 1 when the next byte is escaped by a backslash
  uint64_t depth;      // containers open
} csj_scan;

enum csj_scan_status { CSJ_SCAN_MORE, CSJ_SCAN_END, CSJ_SCAN_TOO_DEEP };

// Continues a scan, which begins at the `{` or `[` of a container. Returns the number of bytes used: up
// to and including the bracket that closes the container (END), or opens one too many (TOO_DEEP), or all
// (MORE). It counts brackets outside strings; csj_parse checks whether they match and all of it is JSON.
size_t csj_scan_container(
    csj_scan *scan, const void *bytes, size_t count, uint64_t maximum_depth,
    enum csj_scan_status *status) CSJ_NOEXCEPT;

// How often `byte` occurs.
size_t csj_count_byte(const void *bytes, size_t count, uint8_t byte) CSJ_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif

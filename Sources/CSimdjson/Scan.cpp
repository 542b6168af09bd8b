#include <cstring>

#include "CSimdjson.h"

// The method is that of simdjson's first stage: one bit for each of 64 bytes, then arithmetic on the
// bits. A loop over the bytes has a branch misprediction at each of the ~180 quotes of a feature, and is
// several times slower. Clang's vector extensions compile the same lines to SSE2, AVX or NEON.

namespace {

using bytes64 = uint8_t __attribute__((ext_vector_type(64)));
using bits64 = bool __attribute__((ext_vector_type(64)));

struct block {
  bytes64 bytes;

  explicit block(const uint8_t *from) noexcept { std::memcpy(&bytes, from, sizeof bytes); }

  // A block of which only `count` bytes are given; the others are filled with spaces.
  block(const uint8_t *from, size_t count) noexcept {
    uint8_t padded[64];
    std::memset(padded, ' ', sizeof padded);
    std::memcpy(padded, from, count);
    std::memcpy(&bytes, padded, sizeof bytes);
  }

  uint64_t equal(uint8_t byte) const noexcept {
    bits64 bits = __builtin_convertvector(bytes == byte, bits64);
    return __builtin_bit_cast(uint64_t, bits);
  }

  // `[` and `{`, and `]` and `}`, differ in one bit: setting it halves the comparisons.
  uint64_t equal_with_bit(uint8_t bit, uint8_t byte) const noexcept {
    bits64 bits = __builtin_convertvector((bytes | bit) == byte, bits64);
    return __builtin_bit_cast(uint64_t, bits);
  }
};

// The bytes that a backslash before them escapes.
uint64_t escaped_bytes(uint64_t backslashes, uint64_t carry) noexcept {
  uint64_t escaped = carry;
  backslashes &= ~carry;
  while (backslashes != 0) {
    uint64_t first = backslashes & -backslashes;
    escaped |= first << 1;
    backslashes &= ~(first | first << 1);
  }
  return escaped;
}

// Whether the last of 64 bytes is a backslash that escapes the byte after them.
bool escapes_next(uint64_t backslashes, uint64_t escaped) noexcept {
  return ((backslashes & ~escaped) >> 63) != 0;
}

// Each bit becomes the exclusive or of itself and all below: from quotes to the spans between them.
uint64_t prefix_xor(uint64_t bits) noexcept {
  bits ^= bits << 1;
  bits ^= bits << 2;
  bits ^= bits << 4;
  bits ^= bits << 8;
  bits ^= bits << 16;
  bits ^= bits << 32;
  return bits;
}

}  // namespace

size_t csj_scan_container(
    csj_scan *scan, const void *bytes, size_t count, uint64_t maximum_depth,
    enum csj_scan_status *status) noexcept {
  const auto *from = static_cast<const uint8_t *>(bytes);
  csj_scan state = *scan;
  for (size_t done = 0; done < count; done += 64) {
    size_t here = count - done < 64 ? count - done : 64;
    block block = here == 64 ? ::block(from + done) : ::block(from + done, here);
    uint64_t backslashes = block.equal('\\');
    uint64_t escaped = state.escape;
    if (backslashes != 0) escaped = escaped_bytes(backslashes, state.escape);
    uint64_t quotes = block.equal('"') & ~escaped;
    uint64_t in_string = prefix_xor(quotes) ^ state.in_string;
    uint64_t opening = block.equal_with_bit(0x20, '{') & ~in_string;
    uint64_t closing = block.equal_with_bit(0x20, '}') & ~in_string;
    for (uint64_t brackets = opening | closing; brackets != 0; brackets &= brackets - 1) {
      size_t used = done + static_cast<size_t>(__builtin_ctzll(brackets)) + 1;
      if ((opening & brackets & -brackets) != 0) {
        state.depth += 1;
        if (state.depth > maximum_depth) {
          *status = CSJ_SCAN_TOO_DEEP;
          return used;
        }
      } else {
        state.depth -= 1;
        if (state.depth == 0) {
          *status = CSJ_SCAN_END;
          return used;
        }
      }
    }
    if (here == 64) {
      state.escape = escapes_next(backslashes, escaped) ? 1 : 0;
      state.in_string = static_cast<uint64_t>(static_cast<int64_t>(in_string) >> 63);
    } else {
      state.escape = escaped >> here & 1;
      state.in_string = (in_string >> (here - 1) & 1) != 0 ? ~uint64_t{0} : 0;
    }
  }
  *scan = state;
  *status = CSJ_SCAN_MORE;
  return count;
}

size_t csj_count_byte(const void *bytes, size_t count, uint8_t byte) noexcept {
  const auto *from = static_cast<const uint8_t *>(bytes);
  size_t found = 0;
  size_t done = 0;
  for (; done + 64 <= count; done += 64) {
    found += static_cast<size_t>(__builtin_popcountll(block(from + done).equal(byte)));
  }
  for (; done < count; done += 1) found += from[done] == byte ? 1 : 0;
  return found;
}

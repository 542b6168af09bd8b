#ifndef QUAKE_CCOMPRESSION_SHIM_H
#define QUAKE_CCOMPRESSION_SHIM_H

#include <zlib.h>
#include <zstd.h>

// inflateInit2 is a macro, which Swift cannot call. 15: the largest window; 16: a gzip wrapper, not
// zlib's own, and its checksum is verified.
static inline int quake_inflate_init_gzip(z_stream *stream) {
  return inflateInit2(stream, 15 + 16);
}

#endif

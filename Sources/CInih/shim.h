#ifndef QUAKE_CINIH_SHIM_H
#define QUAKE_CINIH_SHIM_H

#include <ini.h>  // the library itself

// Debian's library has its longest line, 200 bytes, in a variable; others have it built in. Reading it
// from Swift would be reading a global that anybody may write.
extern int ini_max_line __attribute__((weak));

// For the caller to say once, before anything is parsed: a database with several hosts needs more than
// 200 bytes.
static inline void quake_ini_allow_lines(int bytes) {
  if (&ini_max_line) ini_max_line = bytes;
}

#endif

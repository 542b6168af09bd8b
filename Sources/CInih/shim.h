#ifndef QUAKE_CINIH_SHIM_H
#define QUAKE_CINIH_SHIM_H

#include <ini.h>  // the library itself

// Debian's library keeps its longest line, 200 bytes, in a variable; others have a constant. Swift's
// concurrency checks forbid access to a mutable global.
extern int ini_max_line __attribute__((weak));

// The caller sets the limit once, before the first parse: a URL with several hosts needs more than
// 200 bytes.
static inline void quake_ini_allow_lines(int bytes) {
  if (&ini_max_line) ini_max_line = bytes;
}

#endif

#ifndef QUAKE_CZLIB_SHIM_H
#define QUAKE_CZLIB_SHIM_H

#include <zlib.h>  // the library itself

#endif

#ifndef QUAKE_CZSTD_SHIM_H
#define QUAKE_CZSTD_SHIM_H

#include <zstd.h>  // the library itself

#endif

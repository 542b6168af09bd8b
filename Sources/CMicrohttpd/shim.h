#ifndef QUAKE_CMICROHTTPD_SHIM_H
#define QUAKE_CMICROHTTPD_SHIM_H

#include <microhttpd.h>  // the library itself

#endif

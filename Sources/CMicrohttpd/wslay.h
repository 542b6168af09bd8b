#ifndef QUAKE_CMICROHTTPD_WSLAY_H
#define QUAKE_CMICROHTTPD_WSLAY_H

#include <wslay/wslay.h>  // the library itself

#endif

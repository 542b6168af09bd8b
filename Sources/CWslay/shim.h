#ifndef QUAKE_CWSLAY_SHIM_H
#define QUAKE_CWSLAY_SHIM_H

#include <wslay/wslay.h>  // the library itself

#endif

#ifndef QUAKE_CEXPAT_SHIM_H
#define QUAKE_CEXPAT_SHIM_H

#include <expat.h>  // the library itself

#endif

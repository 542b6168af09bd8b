#ifndef QUAKE_CSIMDJSONLIBRARY_SHIM_H
#define QUAKE_CSIMDJSONLIBRARY_SHIM_H

// Empty on purpose: simdjson.h is C++; Sources/CSimdjson includes it and offers C.

#endif

#ifndef QUAKE_CLIBCURL_SHIM_H
#define QUAKE_CLIBCURL_SHIM_H

#include <curl/curl.h>  // the library itself

#endif

#ifndef QUAKE_CLIBPQ_SHIM_H
#define QUAKE_CLIBPQ_SHIM_H

#include <libpq-fe.h>  // the client library itself
#include <pg_config.h>  // PG_VERSION_NUM, so that a message can name the client's version

#endif

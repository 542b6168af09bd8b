#include "CBuild.h"

const char *quake_commit(void) { return QUAKE_COMMIT; }

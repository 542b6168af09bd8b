#ifndef QUAKE_CBUILD_H
#define QUAKE_CBUILD_H

/// The commit that was built, such as 1a2b3c4d, or 1a2b3c4d-dirty with changes that are not committed; empty if it is
/// not known.
const char *_Nonnull quake_commit(void);

#endif

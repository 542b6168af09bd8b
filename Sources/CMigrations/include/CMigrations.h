#ifndef QUAKE_CMIGRATIONS_H
#define QUAKE_CMIGRATIONS_H

#include <stddef.h>

/// A migration, as it is in the folder migrations.
struct quake_migration {
  /// The name of its file, such as 0001_events.sql.
  const char *_Nonnull name;
  const unsigned char *_Nonnull bytes;
  size_t size;
};

/// The migration with this index, in the order of the versions; NULL after the last.
const struct quake_migration *_Nullable quake_migration(size_t index);

/// A text, without a zero byte at its end.
struct quake_text {
  const unsigned char *_Nonnull bytes;
  size_t size;
};

/// The objects of the schema after all migrations.
extern const struct quake_text quake_schema_listing;

/// A line for each released migration: its SHA-256, two spaces, and the name of its file. Lines that begin with # are
/// comments.
extern const struct quake_text quake_released_migrations;

/// The commit that was built, such as 1a2b3c4d, or 1a2b3c4d-dirty with changes that are not committed; empty if it is
/// not known.
const char *_Nonnull quake_commit(void);

#endif

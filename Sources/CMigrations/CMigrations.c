#include "CMigrations.h"

#ifndef __has_embed
#error "The compiler does not know #embed of C23: Swift 6.2 or later is needed."
#endif

// In other modes than C23 the compiler has it as an extension.
#pragma clang diagnostic ignored "-Wc23-extensions"

// The same as a literal of Swift would take the compiler twenty seconds.
static const unsigned char migration_0001[] = {
#embed "../../migrations/0001_events.sql"
};
static const unsigned char migration_0002[] = {
#embed "../../migrations/0002_imports.sql"
};
static const unsigned char migration_0003[] = {
#embed "../../migrations/0003_history.sql"
};
static const unsigned char migration_0004[] = {
#embed "../../migrations/0004_retention.sql"
};
static const unsigned char migration_0005[] = {
#embed "../../migrations/0005_workers.sql"
};
static const unsigned char migration_0006[] = {
#embed "../../migrations/0006_queries.sql"
};
static const unsigned char migration_0007[] = {
#embed "../../migrations/0007_edits.sql"
};
static const unsigned char migration_0008[] = {
#embed "../../migrations/0008_alerts.sql"
};
static const unsigned char migration_0009[] = {
#embed "../../migrations/0009_feeds.sql"
};
static const unsigned char migration_0010[] = {
#embed "../../migrations/0010_associations.sql"
};
static const unsigned char migration_0011[] = {
#embed "../../migrations/0011_plans.sql"
};
static const unsigned char migration_0012[] = {
#embed "../../migrations/0012_settings_and_changes.sql"
};
static const unsigned char migration_0013[] = {
#embed "../../migrations/0013_deleted_events.sql"
};
static const unsigned char migration_0014[] = {
#embed "../../migrations/0014_backfill_region.sql"
};
static const unsigned char migration_0015[] = {
#embed "../../migrations/0015_statistics.sql"
};
static const unsigned char migration_0016[] = {
#embed "../../migrations/0016_history_chain.sql"
};
static const unsigned char migration_0017[] = {
#embed "../../migrations/0017_server.sql"
};
static const unsigned char migration_0018[] = {
#embed "../../migrations/0018_upgrades.sql"
};
static const unsigned char migration_0019[] = {
#embed "../../migrations/0019_feeds_and_retention.sql"
};
static const unsigned char migration_0020[] = {
#embed "../../migrations/0020_losses.sql"
};
static const unsigned char migration_0021[] = {
#embed "../../migrations/0021_consumers.sql"
};
static const unsigned char migration_0022[] = {
#embed "../../migrations/0022_past.sql"
};
static const unsigned char migration_0023[] = {
#embed "../../migrations/0023_regions.sql"
};
static const unsigned char migration_0024[] = {
#embed "../../migrations/0024_differences.sql"
};
static const unsigned char migration_0025[] = {
#embed "../../migrations/0025_hours.sql"
};
static const unsigned char migration_0026[] = {
#embed "../../migrations/0026_batches.sql"
};
static const unsigned char migration_0027[] = {
#embed "../../migrations/0027_readers.sql"
};
static const unsigned char migration_0028[] = {
#embed "../../migrations/0028_values.sql"
};
static const unsigned char migration_0029[] = {
#embed "../../migrations/0029_finite.sql"
};

#define MIGRATION(name, bytes) {name, bytes, sizeof bytes}
static const struct quake_migration migrations[] = {
    MIGRATION("0001_events.sql", migration_0001),
    MIGRATION("0002_imports.sql", migration_0002),
    MIGRATION("0003_history.sql", migration_0003),
    MIGRATION("0004_retention.sql", migration_0004),
    MIGRATION("0005_workers.sql", migration_0005),
    MIGRATION("0006_queries.sql", migration_0006),
    MIGRATION("0007_edits.sql", migration_0007),
    MIGRATION("0008_alerts.sql", migration_0008),
    MIGRATION("0009_feeds.sql", migration_0009),
    MIGRATION("0010_associations.sql", migration_0010),
    MIGRATION("0011_plans.sql", migration_0011),
    MIGRATION("0012_settings_and_changes.sql", migration_0012),
    MIGRATION("0013_deleted_events.sql", migration_0013),
    MIGRATION("0014_backfill_region.sql", migration_0014),
    MIGRATION("0015_statistics.sql", migration_0015),
    MIGRATION("0016_history_chain.sql", migration_0016),
    MIGRATION("0017_server.sql", migration_0017),
    MIGRATION("0018_upgrades.sql", migration_0018),
    MIGRATION("0019_feeds_and_retention.sql", migration_0019),
    MIGRATION("0020_losses.sql", migration_0020),
    MIGRATION("0021_consumers.sql", migration_0021),
    MIGRATION("0022_past.sql", migration_0022),
    MIGRATION("0023_regions.sql", migration_0023),
    MIGRATION("0024_differences.sql", migration_0024),
    MIGRATION("0025_hours.sql", migration_0025),
    MIGRATION("0026_batches.sql", migration_0026),
    MIGRATION("0027_readers.sql", migration_0027),
    MIGRATION("0028_values.sql", migration_0028),
    MIGRATION("0029_finite.sql", migration_0029),
};

const struct quake_migration *quake_migration(size_t index) {
  return index < sizeof migrations / sizeof *migrations ? &migrations[index] : NULL;
}

static const unsigned char listing[] = {
#embed "../../migrations/listing.txt"
};

const struct quake_text quake_schema_listing = {listing, sizeof listing};

static const unsigned char released[] = {
#embed "../../migrations/RELEASED"
};

const struct quake_text quake_released_migrations = {released, sizeof released};

const char *quake_commit(void) { return QUAKE_COMMIT; }

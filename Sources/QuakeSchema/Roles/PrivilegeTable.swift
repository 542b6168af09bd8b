/// The privileges of the roles on each object of a Quake database. The commands that create and check roles,
/// the documentation and the tests all use this table.
package enum PrivilegeTable {
  /// All objects that migrations make in the schema, and the database itself.
  package static let objects: [ObjectPrivileges] =
    [
      row(
        .database, "", [.connect: Role.allCases, .temporary: [.writer, .owner], .create: [.owner]]),
      row(.schema, "quake", [.usage: Role.granted]),
    ] + tables + views + sequences + types + functions

  /// Objects that a database has only if somebody added them with one of Quake's commands.
  package static let optionalObjects = [
    // "quake-admin postgis enable"
    row(.view, "quake.quake_point", [.select: Role.readers + [.writer]])
  ]

  /// All objects that a database may have.
  static let allObjects = objects + optionalObjects

  /// Functions of PostgreSQL with which any role that may connect could use up what all databases of the server share:
  /// the lock table, which is in memory, and without which nobody can connect; and the disk. Their privileges belong
  /// to the database, and dumps keep them.
  package static let sharedFunctions = advisoryLocks + largeObjects

  /// The writer takes the locks of feeds and of backfills.
  static let advisoryLocks: [ObjectPrivileges] =
    ["pg_advisory", "pg_try_advisory"].flatMap { name in
      ["lock", "lock_shared", "xact_lock", "xact_lock_shared"].flatMap { kind in
        ["bigint", "integer, integer"].map { key in
          shared(
            "\(name)_\(kind)(\(key))", name == "pg_try_advisory" && kind == "lock" ? [.writer] : [])
        }
      }
    } + [
      shared("pg_advisory_unlock(bigint)"), shared("pg_advisory_unlock(integer, integer)"),
      shared("pg_advisory_unlock_shared(bigint)"),
      shared("pg_advisory_unlock_shared(integer, integer)"), shared("pg_advisory_unlock_all()"),
    ]

  /// A role locks each large object that it removes, or comments on.
  static let largeObjects = [
    shared("lo_creat(integer)"), shared("lo_create(oid)"), shared("lo_from_bytea(oid, bytea)"),
  ]

  private static func shared(_ signature: String, _ roles: [Role] = []) -> ObjectPrivileges {
    row(.function, "pg_catalog." + signature, [.execute: roles])
  }

  private static let tables = [
    table("migration", select: Role.granted, isHistory: true),
    table(
      "quake", select: Role.readers + [.writer], insert: [.writer, .editor],
      update: [.writer, .editor], delete: [.editor]),
    table(
      "quake_alias", select: Role.readers + [.writer], insert: [.writer, .editor],
      update: [.writer, .editor], delete: [.writer, .editor]),
    // The history: triggers write it, and functions purge it, with the owner's privileges.
    // Imports ask whether an event was stored before.
    row(
      .table, "quake.quake_version", [.select: Role.readers + [.purger]],
      columns: [.select: ["code", "transaction_id"]], columnRoles: [.writer], isHistory: true),
    table("change_transaction", select: Role.granted, isHistory: true),
    table("history_floor", select: Role.readers + [.purger, .monitor], isHistory: true),
    // Notes about the history, which a function with the owner's privileges writes.
    table("past_place", select: Role.readers + [.purger], isHistory: true),
    table("past_day", select: Role.readers + [.purger], isHistory: true),
    // "token_at" reads them beside the transactions.
    table("past_time", select: Role.granted, isHistory: true),
    table("past_noted", select: Role.granted, isHistory: true),
    table("change_pending", isHistory: true),
    table("commit_lock", isHistory: true),
    // A policy ensures that a role changes only its own cursors. Only the purger deletes cursors.
    row(
      .table, "quake.watcher",
      [.select: Role.readers + [.purger, .monitor], .delete: [.purger]],
      columns: [
        .insert: ["name", "holder", "token", "nonce", "changes"],
        // `role` may be updated because a cursor may not have a role yet.
        .update: ["role", "holder", "token", "nonce", "changes", "moved_at", "seen_at"],
      ], columnRoles: [.watcher]),
    // A trigger writes it, with the owner's privileges.
    table("watcher_removal", select: Role.readers),
    // Policies ensure that a role changes only what belongs to its own cursors.
    table(
      "consumer", select: Role.readers + [.purger, .monitor], insert: [.watcher],
      update: [.watcher],
      delete: [.watcher]),
    table(
      "conversation", select: Role.readers, insert: [.watcher], update: [.watcher],
      delete: [.watcher]),
    table(
      "conversation_event", select: Role.readers, insert: [.watcher], update: [.watcher],
      delete: [.watcher]),
    table("conversation_past", select: Role.readers, insert: [.watcher], delete: [.watcher]),
    // The messages themselves are for those who may read events.
    row(
      .table, "quake.delivery",
      [.select: Role.readers, .insert: [.watcher], .update: [.watcher], .delete: [.watcher]],
      columns: [
        .select: [
          "number", "consumer", "id", "kind", "made_at", "attempts", "due_at", "parked_at",
          "reason",
        ]
      ], columnRoles: [.purger, .monitor]),
    table("regional_database", select: Role.granted),
    // The records of imports.
    table(
      "import", select: Role.readers + [.writer, .monitor], insert: [.writer], update: [.writer]),
    table(
      "import_reject", select: Role.readers + [.writer], insert: [.writer], update: [.writer],
      delete: [.writer]),
    table(
      "import_body", select: Role.readers + [.writer], insert: [.writer], update: [.writer],
      delete: [.writer]),
    // Undoing an import also undoes what it noted of the events that it withdrew or restored.
    table(
      "absence", select: Role.readers + [.writer], insert: [.writer, .editor],
      update: [.writer, .editor], delete: [.writer, .editor]),
    // The keys of locks are private: a role that knows a key can take the lock before a worker does.
    row(
      .table, "quake.feed",
      [.select: [.writer], .insert: [.writer], .update: [.writer], .delete: [.writer]],
      columns: [
        .select: [
          "name", "url", "etag", "last_modified", "generated", "polled_at", "succeeded_at",
          "failures", "error", "every", "next_due", "fresh_until", "retry_after", "last_import_id",
          "paused_at", "paused_by", "reset_at", "ended_at", "moved_to",
        ]
      ], columnRoles: Role.readers),
    // Batch edits. Imports only look at tombstones; a trigger removes those of inserted events.
    table(
      "tombstone", select: Role.readers + [.writer], insert: [.editor], update: [.editor],
      delete: [.editor]),
    table("edit", select: Role.readers + [.writer], insert: [.editor], update: [.editor]),
    table("edit_transaction", select: Role.readers + [.writer], insert: [.editor]),
    table("expiry", select: [.editor], update: [.editor]),
    // Imports and edits associate events when they are done.
    table(
      "association", select: Role.readers + [.writer], insert: [.writer, .editor],
      update: [.writer, .editor], delete: [.writer, .editor]),
    table(
      "association_pin", select: Role.readers + [.writer], insert: [.editor], update: [.editor],
      delete: [.editor]),
    table(
      "association_pending", select: [.writer, .editor], insert: [.editor],
      delete: [.writer, .editor]),
    table("association_settings", select: Role.readers + [.writer], update: [.editor]),
    table(
      "association_preference", select: Role.readers + [.writer], insert: [.editor],
      update: [.editor], delete: [.editor]),
    table("table_size", select: Role.readers + [.writer, .monitor]),
    table("refresh_request", select: Role.readers + [.writer], update: [.writer]),
    row(
      .table, "quake.backfill",
      [.select: [.writer], .insert: [.writer], .update: [.writer], .delete: [.writer]],
      columns: [
        .select: [
          "id", "url", "source", "start_time", "end_time", "min_magnitude", "region",
          "started_at", "finished_at", "expected", "seen", "inserted", "updated", "unchanged",
          "rejected",
          "duplicate",
        ]
      ], columnRoles: Role.readers),
    table(
      "backfill_window", select: Role.readers + [.writer], insert: [.writer], update: [.writer],
      delete: [.writer]),
    table(
      "backfill_file", select: Role.readers + [.writer], insert: [.writer], update: [.writer],
      delete: [.writer]),
  ]

  private static let views = [
    row(.view, "quake.change", [.select: Role.readers]),
    row(.view, "quake.current_quake", [.select: Role.readers + [.writer]]),
    row(.view, "quake.live", [.select: Role.readers + [.writer]]),
    row(.view, "quake.daily", [.select: Role.readers + [.writer]]),
    row(.view, "quake.feed_status", [.select: Role.readers + [.writer, .monitor]]),
    row(.view, "quake.watcher_lag", [.select: Role.readers + [.purger, .monitor]]),
  ]

  private static let sequences = [
    row(.sequence, "quake.transaction_id", [:], isHistory: true),
    row(.sequence, "quake.token", [:], isHistory: true),
    row(.sequence, "quake.refresh_request_id", [:]),
  ]

  private static let types = [
    row(.type, "quake.event", [.usage: Role.granted], harmlessForPublic: [.usage])
  ]

  private static let functions =
    [
      // Functions with the caller's privileges: they read only what the caller may read.
      "find(text)", "others(text)", "solutions(text)", "as_of(text)",
      "as_of(timestamp with time zone)",
      "as_of(text, timestamp with time zone, timestamp with time zone, integer[])",
      "as_of__window(text, timestamp with time zone, bigint)", "past__reach(bigint)",
      "past__end(bigint, timestamp with time zone)",
      "as_of_feed(timestamp with time zone)",
      "changes_since(text)",
      "alerts_since(text, interval, double precision, text[], double precision, double precision, "
        + "double precision, boolean, boolean, double precision, double precision, double precision, "
        + "integer, interval)",
      "distance(double precision, double precision, double precision, double precision)",
      "difference(text, text)", "versions(text)", "latest_token()", "oldest_token()",
      "token_at(timestamp with time zone)", "token_number(text)", "token__refuse_expired(text)",
      "token__refuse_gap(text, text, text)", "token__refuse_loss(text, bigint, bigint)",
      "history_is_whole(bigint, bigint)", "history__changes(bigint, bigint)",
      "history_covers(bigint)", "purgeable_to(text, interval)", "feed_lock_key(text)",
      "feed_lock__take(text[])", "locality(text)", "region(text)",
      "quake__cell(double precision, double precision)",
      "quake__box_cells(double precision, double precision, double precision, double precision)",
      "quake__circle_cells(double precision, double precision, double precision)",
      "in_box(double precision, double precision, double precision, double precision)",
      "within(double precision, double precision, double precision)", "energy(double precision)",
      "moment(double precision)", "b_value(double precision[], double precision, double precision)",
      "gutenberg_richter(double precision[], double precision, text, double precision)",
    ].map { function($0, Role.granted, harmlessForPublic: true) } + [
      // Functions with the owner's privileges, and functions for triggers.
      function("request_refresh(text)", Role.readers + [.writer]),
      function("import__replace_unchanged(bigint)", [.writer]),
      function("purge_imports(interval, integer)", [.writer]),
      function("purge_edits(interval, integer)", [.writer]),
      function("note_table_sizes()", [.writer]),
      function("note_past(integer)", [.writer]),
      function("raise_history_floor(text, interval)", [.purger], isHistory: true),
      function("purge_history(integer)", [.purger], isHistory: true),
      function("change_pending__add(bigint, bigint, bigint, bigint)", [], isHistory: true),
      function("change_pending__number()", [], isHistory: true),
      function("change_transaction__predecessor(bigint)", [], isHistory: true),
      function("quake__record_insert()", [], isHistory: true),
      function("quake__record_update()", [], isHistory: true),
      function("quake__record_delete()", [], isHistory: true),
      function("quake__record_truncate()", [], isHistory: true),
      function("quake__note_for_association()", []),
      function("watcher__note_removal()", []),
      function("region__refuse_write()", []),
      function("change_transaction__notify()", []),
      function("history_floor__follow()", []),
      function("import__forget()", []),
      function("quake__refuse_code_change()", [], harmlessForPublic: true),
      function("quake__refuse_first_stored_change()", [], harmlessForPublic: true),
    ]

  private static func table(
    _ name: String, select: [Role] = [], insert: [Role] = [], update: [Role] = [],
    delete: [Role] = [], isHistory: Bool = false
  ) -> ObjectPrivileges {
    row(
      .table, "quake." + name,
      [.select: select, .insert: insert, .update: update, .delete: delete], isHistory: isHistory)
  }

  private static func function(
    _ signature: String, _ roles: [Role], harmlessForPublic: Bool = false, isHistory: Bool = false
  ) -> ObjectPrivileges {
    row(
      .function, "quake." + signature, [.execute: roles],
      harmlessForPublic: harmlessForPublic ? [.execute] : [], isHistory: isHistory)
  }

  private static func row(
    _ kind: SecuredObject.Kind, _ name: String, _ grants: [Privilege: [Role]],
    columns: [Privilege: [String]] = [:], columnRoles: [Role] = [],
    harmlessForPublic: [Privilege] = [], isHistory: Bool = false
  ) -> ObjectPrivileges {
    // In the order of the privileges' declaration, so that the generated statements and documents are always
    // the same.
    var list: [ObjectPrivileges.Grant] = []
    for privilege in Privilege.allCases {
      if let roles = grants[privilege], !roles.isEmpty {
        list.append(.init(privilege: privilege, roles: roles, columns: nil))
      }
      if let names = columns[privilege] {
        list.append(.init(privilege: privilege, roles: columnRoles, columns: names))
      }
    }
    return ObjectPrivileges(
      object: SecuredObject(kind, name), grants: list, harmlessForPublic: harmlessForPublic,
      isHistory: isHistory)
  }
}

package enum Privilege: String, CaseIterable, Sendable {
  case select = "SELECT"
  case insert = "INSERT"
  case update = "UPDATE"
  case delete = "DELETE"
  case truncate = "TRUNCATE"
  case references = "REFERENCES"
  case trigger = "TRIGGER"
  case execute = "EXECUTE"
  case usage = "USAGE"
  case create = "CREATE"
  case connect = "CONNECT"
  case temporary = "TEMPORARY"
}

/// A row of the table of privileges: the privileges of the roles on one object.
package struct ObjectPrivileges: Sendable {
  package struct Grant: Sendable {
    package let privilege: Privilege
    /// The roles that have it, except the owner, which has all privileges.
    package let roles: [Role]
    /// The columns it is limited to; nil if it applies to all columns of the object.
    package let columns: [String]?
  }

  package let object: SecuredObject
  package let grants: [Grant]
  /// Privileges that are harmless for PUBLIC: a function that runs with its caller's privileges gives a
  /// caller no new ones.
  package let harmlessForPublic: [Privilege]
  /// Whether a role that writes or executes it can change or forge the history.
  package let isHistory: Bool

  /// Whether a role has a privilege on all columns of the object.
  package func grants(_ privilege: Privilege, to role: Role) -> Bool {
    grants.contains {
      $0.privilege == privilege && $0.columns == nil && $0.roles.contains(role)
    }
  }

  /// The columns that a role's privilege is limited to; empty if the role has the privilege on no column, or
  /// on all.
  package func columns(_ privilege: Privilege, for role: Role) -> [String] {
    grants.first {
      $0.privilege == privilege && $0.columns != nil && $0.roles.contains(role)
    }?.columns ?? []
  }
}

/// An object of a database on which privileges are granted.
package struct SecuredObject: Hashable, Sendable {
  /// The kind of an object, named as in SQL.
  package enum Kind: String, Sendable {
    case database, schema, table, view, sequence, type, function

    /// The keyword in GRANT, which has none for views.
    var grantWord: String { self == .view ? "table" : rawValue }
  }

  package let kind: Kind
  /// The name with its schema, and for a function with its argument types. Empty for the connected database.
  package let name: String

  package init(_ kind: Kind, _ name: String) {
    self.kind = kind
    self.name = name
  }

  /// Whether PostgreSQL owns it, so that only a superuser grants privileges on it.
  var isOfPostgreSQL: Bool { name.hasPrefix("pg_catalog.") }

  package var label: String { name.isEmpty ? kind.rawValue : "\(kind.rawValue) \(name)" }
}

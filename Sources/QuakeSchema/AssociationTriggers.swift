package import Postgres

/// The triggers that note changed events, so that they are compared with the events of other sources. While
/// they are disabled, no writer pays for them.
package enum AssociationTriggers {
  /// Enables them. Waits for the transactions that write events now.
  ///
  /// - Throws: `StoreError` of kind `locked` if the locks are not available in time; `PostgresError`.
  package static func enable(
    over connection: Connection, patience: LockPatience = LockPatience()
  ) throws {
    try patience.transaction(over: connection, "enable associations") {
      try connection.executeScript(
        """
        alter table quake.quake enable trigger quake_30_note_insert;
        alter table quake.quake enable trigger quake_30_note_update;
        alter table quake.quake enable trigger quake_30_note_delete;
        alter table quake.quake enable trigger quake_30_note_truncate;
        update quake.association_settings set enabled = true
        """)
    }
  }

  /// Disables them, and forgets the notes.
  ///
  /// - Throws: As `enable`.
  package static func disable(
    over connection: Connection, patience: LockPatience = LockPatience()
  ) throws {
    try patience.transaction(over: connection, "disable associations") {
      try connection.executeScript(
        """
        alter table quake.quake disable trigger quake_30_note_insert;
        alter table quake.quake disable trigger quake_30_note_update;
        alter table quake.quake disable trigger quake_30_note_delete;
        alter table quake.quake disable trigger quake_30_note_truncate;
        update quake.association_settings set enabled = false;
        delete from quake.association_pending
        """)
    }
  }
}

import QuakeStore

/// What `NSBatchUpdateRequest` does: one statement, whose changes the history records.
func validateAll(after time: Timestamp, over connection: Connection) throws -> Int {
  try connection.execute(
    "update quake.quake set validated = true where time >= \(time)"
  ).affectedRows
}

/// What `NSBatchDeleteRequest` does. The history keeps each deleted event.
func deleteAll(ofSource source: String, over connection: Connection) throws -> Int {
  try connection.execute(
    "delete from quake.quake where source = \(source)"
  ).affectedRows
}

/// What `deleteHistory(before:)` does.
func purgeHistory(before token: ChangeToken, over connection: Connection) throws -> Int64 {
  try Retention(connection: connection).purge(before: .token(token)).versions
}

/// What a fetch request does with a condition that no filter has.
func deepest(_ limit: Int, over connection: Connection) throws -> [String] {
  try connection.rows(
    """
    select code from quake.current_quake where depth is not null
     order by depth desc, code limit \(limit)
    """, as: String.self)
}

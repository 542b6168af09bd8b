import QuakeStore

/// What `NSBatchUpdateRequest` does: one statement, whose changes the history records.
func validateAll(after time: Timestamp, in database: QuakeDatabase) async throws -> Int {
  try await database.withConnection { connection in
    try connection.execute(
      "update quake.quake set validated = true where time >= \(time)"
    ).affectedRows
  }
}

/// What `NSBatchDeleteRequest` does. Feeds do not store the events again.
func deleteAll(ofSource source: String, in database: QuakeDatabase) async throws -> Int64 {
  var filter = EventFilter()
  filter.sources = [source]
  let author = EditAuthor(program: "map 1.0", author: "ann")
  let edit = EventEdit(.delete, of: EventSelection(filter), by: author)
  return try await database.apply(edit).changed
}

/// What `undo()` of an `UndoManager` does, for one transaction.
func undo(_ token: ChangeToken, in database: QuakeDatabase) async throws -> Int64 {
  let author = EditAuthor(program: "map 1.0", author: "ann")
  return try await database.apply(EventRestore(.transactions([token]), by: author)).changed
}

/// What `deleteHistory(before:)` does.
func purgeHistory(before token: ChangeToken, in database: QuakeDatabase) async throws {
  try await database.purge(before: .token(token))
}

/// What a fetch request does with a sort descriptor and a limit.
func deepest(_ limit: Int64, in database: QuakeDatabase) async throws -> [String] {
  let query = EventQuery(
    where: .isPresent(.depth), order: [EventOrder(.depth, .descending)], limit: limit)
  return try await database.events(query).events.compactMap(\.code)
}

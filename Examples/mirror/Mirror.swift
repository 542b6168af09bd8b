import Foundation
import QuakeStore

/// Keeps a table of another database equal to the list of events. The cursor is stored in the same
/// transaction as the rows, so each change is applied exactly once, whenever the program is stopped.
@main
struct Mirror {
  static func main() async {
    do {
      try await run()
    } catch {
      // An error that leaves main, such as that of a database that is away, would end the program with a trap.
      FileHandle.standardError.write(Data("mirror: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 else {
      FileHandle.standardOutput.write(Data("usage: mirror DATABASE TARGET-DATABASE\n".utf8))
      exit(64)
    }
    let source = QuakeDatabase(arguments[1], applicationName: "mirror")
    // This program has one task, so calls that block it delay no other task.
    let target = try Connection(arguments[2], applicationName: "mirror")
    try target.executeScript(
      """
      create table if not exists public.mirror (
        code text primary key, time timestamptz, magnitude double precision, place text,
        longitude double precision, latitude double precision, depth double precision);
      create table if not exists public.mirror_cursor (cursor text not null)
      """)
    var everything = EventQuery()
    everything.past = [.superseded, .withdrawn]
    while true {
      do {
        let cursor: HistoryCursor
        if let saved = try savedCursor(in: target) {
          cursor = saved
        } else {
          let list = try await source.events(everything)
          cursor = HistoryCursor(token: list.token)
          try fill(target, with: list.events, cursor)
        }
        for try await batch in source.changes(everything, after: cursor).batches {
          try target.transaction {
            for change in batch.changes { try apply(change, to: target) }
            try save(batch.cursor, in: target)
          }
        }
      } catch let error as StoreError {
        // The history was purged beyond the cursor, or the database was replaced: begin anew.
        guard case .token = error.kind else { throw error }
        try target.execute("delete from public.mirror_cursor")
      }
    }
  }

  private static func savedCursor(in target: Connection) throws -> HistoryCursor? {
    try target.firstRow("select cursor from public.mirror_cursor", as: String.self)
      .flatMap { HistoryCursor($0) }
  }

  private static func fill(
    _ target: Connection, with events: [EventRecord], _ cursor: HistoryCursor
  ) throws {
    try target.transaction {
      try target.execute("delete from public.mirror")
      for event in events { try store(event, in: target) }
      try save(cursor, in: target)
    }
  }

  private static func apply(_ change: Change, to target: Connection) throws {
    switch change.op {
    case .insert, .update:
      if let event = change.new { try store(event, in: target) }
    case .delete:
      guard let code = change.code else { return }
      try target.execute("delete from public.mirror where code = \(code)")
    case .truncate:
      try target.execute("delete from public.mirror")
    }
  }

  private static func store(_ event: EventRecord, in target: Connection) throws {
    try target.execute(
      """
      insert into public.mirror values
        (\(event.code), \(event.time), \(event.magnitude), \(event.place), \(event.longitude),
         \(event.latitude), \(event.depth))
      on conflict (code) do update set
        time = excluded.time, magnitude = excluded.magnitude, place = excluded.place,
        longitude = excluded.longitude, latitude = excluded.latitude, depth = excluded.depth
      """)
  }

  private static func save(_ cursor: HistoryCursor, in target: Connection) throws {
    try target.execute("delete from public.mirror_cursor")
    try target.execute("insert into public.mirror_cursor values (\(cursor.description))")
  }
}

import CommandLine
import Postgres
import QuakeHistory
import QuakeModel
import QuakeQuery
import QuakeTool

/// Tells why the list of a past moment is empty: nothing had happened by then. That is an answer, not an
/// error, so that it is a note on standard error.
enum PastNote {
  static func tell(
    of query: EventQuery, over connection: Connection, _ diagnostics: Diagnostics
  ) throws {
    guard diagnostics.verbosity > .quiet,
      let first = try query.beginningAfterPast(over: connection)
    else { return }
    let (when, what): (String, StaticString) =
      if let time = query.asOfFeed, query.asOf == nil {
        (" by \(time.text)", "snapshot was generated")
      } else if case .time(let time) = query.asOf {
        (" by \(time.text)", "transaction was committed")
      } else {
        (" by then", "transaction was committed")
      }
    if let first {
      diagnostics.note("no \(what)\(when); the first one is of \(first.text)")
    } else {
      diagnostics.note("no \(what) yet")
    }
  }
}

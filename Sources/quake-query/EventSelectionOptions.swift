import CommandLine
import Postgres
import QuakeHistory
import QuakeModel
import QuakeQuery
import QuakeTool

/// Codes of events on standard input, as a part of a query.
enum EventSelectionOptions {
  /// Calls `body` with the query. If `--code` names standard input (`-`), the codes there are sent to the
  /// server first, together with the other codes of the option.
  static func withCodes<Value>(
    _ arguments: ParsedArguments, _ diagnostics: Diagnostics, _ query: EventQuery,
    over connection: Connection, _ body: (EventQuery) throws -> Value
  ) throws -> Value {
    guard query.filter.codes?.contains("-") == true else { return try body(query) }
    return try connection.transaction(readOnly: true) {
      try body(try sendingCodes(of: query, diagnostics, over: connection))
    }
  }

  /// The query with the codes on standard input, if `--code` names it; they are sent to the server, in the
  /// open transaction.
  static func sendingCodes(
    of query: EventQuery, _ diagnostics: Diagnostics, over connection: Connection
  ) throws -> EventQuery {
    guard let named = query.filter.codes, named.contains("-") else { return query }
    var query = query
    query.filter.codes = nil
    var rest = named.subtracting(["-"]).makeIterator()
    TerminalInput.announce("codes, one a line,", diagnostics)
    var reader = CodeReader()
    query.codes = try SessionCodes.send(over: connection) { try rest.next() ?? reader.next() }
    return query
  }

  /// Says on a terminal that no event was found.
  static func announceNone(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) {
    let hasConditions = (FilterOptions.events.map(\.name) + ["as-of", "page"]).contains {
      arguments.takes($0) && arguments.isGiven($0)
    }
    EmptyResult.announce(
      hasConditions
        ? "no event meets the conditions"
        : "there are no events; \"quake-ingest run\" fetches those of the past month",
      diagnostics)
  }
}

/// The events that a command names: as arguments, or on standard input (`-`), one id a line.
enum EventIDs {
  static let positional = Positional(
    "ID", .oneOrMore, help: "any id that the event has or had; - reads ids, one a line")

  /// The most ids on standard input.
  private static let most = 1_000_000

  /// Calls `body` with each id, in order.
  static func forEach(
    _ arguments: ParsedArguments, _ diagnostics: Diagnostics, _ body: (String) throws -> Void
  ) throws {
    guard arguments.positionals.count(where: { $0 == "-" }) <= 1 else {
      throw arguments.usageError("- is given twice")
    }
    for id in arguments.positionals {
      guard id == "-" else {
        try body(id)
        continue
      }
      TerminalInput.announce("ids, one a line,", diagnostics)
      var reader = CodeReader()
      var count = 0
      while let id = try reader.next() {
        count += 1
        guard count <= most else {
          throw StoreError(
            .badData, "standard input has more than \(Readable.count(most)) ids",
            hint: "Divide the list among several commands.")
        }
        try body(id)
      }
    }
  }
}

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

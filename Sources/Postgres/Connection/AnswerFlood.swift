internal import Basics
internal import CLibpq

/// Detects a server whose answer never ends. libpq collects the parts of a result, and the notices,
/// notifications and settings among them, in memory without a limit.
struct AnswerFlood {
  /// The most bytes of an answer. A page of the history, the largest regular answer, has a thousandth of it.
  static let limit = 512 << 20
  /// The socket is examined once in this number of reads, so that a short answer costs nothing.
  private static let reads = 64

  private var count = 0
  private var first: Int?

  /// Checks the amount received. Call it after each read that did not end the wait.
  ///
  /// - Throws: `PostgresError` if the server has sent too much, or is still sending when the deadline has
  ///   passed.
  mutating func check(
    _ connection: OpaquePointer, until deadline: Deadline?
  ) throws(PostgresError) {
    count += 1
    guard count % Self.reads == 0 else { return }
    if deadline?.hasPassed == true, PQisBusy(connection) != 0 {
      throw PostgresError(
        kind: .timeout, message: "the database's answer did not come to an end in time",
        hint: "The server or the network to it is very slow, or the server sends without end.")
    }
    // Unix sockets are not checked: a process that can answer there could do worse.
    let received = Int(quake_pq_received(connection))
    guard received > 0 else { return }
    let start = first ?? received
    first = start
    guard received - start <= Self.limit else {
      throw PostgresError(
        kind: .connection,
        message: "the database sent more than \(Self.limit >> 20) MiB in answer to one statement",
        hint: "The peer does not behave like a PostgreSQL server.")
    }
  }
}

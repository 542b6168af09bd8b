internal import CLibpq
internal import SystemClock

/// Notices a server whose answer does not come to an end: libpq keeps what has come of a result, and
/// what it is told on the way (notices, notifications, settings), for as long as it comes.
struct AnswerFlood {
  /// No result is so long; that of a page, of which there is one at a time, is a thousandth.
  static let limit = 512 << 20
  /// The socket is examined once in this number of reads: a short answer costs nothing.
  private static let reads = 64

  private var count = 0
  private var first: Int?

  /// To be called after each read that did not end the wait.
  ///
  /// - Throws: `PostgresError` if too much has come, or the deadline has passed although there is
  ///   always something to read.
  mutating func check(
    _ connection: OpaquePointer, until deadline: Deadline?
  ) throws(PostgresError) {
    count += 1
    guard count % Self.reads == 0 else { return }
    if deadline?.hasPassed == true, PQisBusy(connection) != 0 {
      throw PostgresError(
        kind: .timeout, message: "the database's answer did not come to an end in time",
        hint: "The server or the network to it is very slow, or the server does not mean to end.")
    }
    // A socket of this machine does not count. Who can answer there could do worse.
    let received = Int(quake_pq_received(connection))
    guard received > 0 else { return }
    let start = first ?? received
    first = start
    guard received - start <= Self.limit else {
      throw PostgresError(
        kind: .connection,
        message: "the database sent more than \(Self.limit >> 20) MiB in answer to one statement",
        hint: "What answers there does not behave like a PostgreSQL server.")
    }
  }
}

package import Postgres
internal import QuakeModel

/// Any number of codes that the server holds for the rest of a transaction, so that a query can select the
/// events with these codes and no program needs memory for all of them.
///
/// They are held in settings of the transaction. A temporary table would need a privilege that roles which
/// only read do not have, and cannot exist on a standby.
package struct SessionCodes: Hashable, Sendable {
  /// How many codes were sent, repeated ones included.
  package let count: Int
  private let parts: Int

  /// The most bytes of a part.
  private static let partSize = 256 * 1024
  /// The most bytes of all codes: about ten million.
  private static let mostBytes = 128 << 20

  /// Sends codes to the server. A transaction must be open.
  ///
  /// - Parameter next: Returns the next code, which holds no line feed and no NUL; nil at the end.
  /// - Throws: `StoreError` of kind `badData` if there are more codes than a server should hold.
  package static func send(
    over connection: Connection, _ next: () throws -> String?
  ) throws -> SessionCodes {
    var (count, parts, bytes) = (0, 0, 0)
    var part = ""
    func sendPart() throws {
      parts += 1
      bytes += part.utf8.count
      guard bytes <= mostBytes else {
        throw StoreError(
          .badData, "too many codes: more than \(mostBytes >> 20) MB of text",
          hint: "Divide them among several commands.")
      }
      try connection.execute(
        "select pg_catalog.set_config(\("quake.codes_\(parts)"), \(part), true) is null")
      part.removeAll(keepingCapacity: true)
    }
    while let code = try next() {
      if !part.isEmpty { part += "\n" }
      part += code
      count += 1
      if part.utf8.count >= partSize { try sendPart() }
    }
    if !part.isEmpty { try sendPart() }
    return SessionCodes(count: count, parts: parts)
  }

  /// The condition that an event's code is among them.
  func condition(alias: SQL) -> SQL { "\(sql: alias).code in (\(sql: list))" }

  /// A query of the codes, each once.
  var list: SQL {
    """
    select distinct c.code
      from pg_catalog.generate_series(1, \(parts)) k,
           pg_catalog.unnest(pg_catalog.string_to_array(
             pg_catalog.current_setting('quake.codes_' || k), pg_catalog.chr(10))) c (code)
    """
  }
}

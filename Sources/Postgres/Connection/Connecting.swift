internal import Basics
internal import CLibpq
internal import Glibc

/// How a connection begins, with libpq.
enum Connecting {
  static func open(
    _ settings: ConnectionSettings, wake: Int32?
  ) throws(PostgresError) -> OpaquePointer {
    do throws(PostgresError) {
      return try open(settings, settings.parameters(pinningSettings: true), wake: wake)
    } catch {
      // PgBouncer's message. It refuses parameters that it does not know, or, from version 1.20 on, does not
      // track.
      guard error.description.contains("unsupported startup parameter") else { throw error }
      return try open(settings, settings.parameters(pinningSettings: false), wake: wake)
    }
  }

  private static func open(
    _ settings: ConnectionSettings, _ parameters: [(keyword: String, value: String)], wake: Int32?
  ) throws(PostgresError) -> OpaquePointer {
    var connection = try start(parameters)
    do throws(PostgresError) {
      if option("host", of: connection)?.contains(",") == true {
        let timeout = Self.timeout(of: connection, default: settings.connectTimeout) ?? .zero
        let several = try connectToOne(
          parameters + [("connect_timeout", "\(timeout.components.seconds)")], wake: wake)
        PQfinish(connection)
        connection = several
      } else {
        try finish(connection, timeout: settings.connectTimeout, wake: wake)
      }
      guard PQstatus(connection) == CONNECTION_OK else {
        throw PostgresError(connection: connection, doing: doing)
      }
    } catch {
      PQfinish(connection)
      throw error
    }
    // libpq would otherwise wait without an end for a server that reads nothing.
    PQsetnonblocking(connection, 1)
    return connection
  }

  /// Connects to one of several hosts. Only libpq's blocking call tries the next host if one does not answer.
  private static func connectToOne(
    _ parameters: [(keyword: String, value: String)], wake: Int32?
  ) throws(PostgresError) -> OpaquePointer {
    // Sendable, because the connection is handed from one thread to the other: no two have it.
    struct Connected: @unchecked Sendable {
      let connection: OpaquePointer?
    }
    let outcome = try BlockingCall.run(until: nil, wake: wake) {
      Connected(connection: call(PQconnectdbParams, with: parameters))
    } discard: {
      PQfinish($0.connection)
    }
    guard case .returned(let connected) = outcome else {
      throw PostgresError(kind: .interrupted, message: "\(doing): interrupted")
    }
    guard let connection = connected.connection else {
      throw PostgresError(connection: nil, doing: doing)
    }
    PQsetNoticeReceiver(connection, { _, _ in }, nil)
    return connection
  }

  static func finish(
    _ connection: OpaquePointer, timeout: Duration, wake: Int32?
  ) throws(PostgresError) {
    guard PQstatus(connection) != CONNECTION_BAD else {
      throw PostgresError(connection: connection, doing: doing)
    }
    let timeout = Self.timeout(of: connection, default: timeout)
    // A host may have several addresses; the timeout applies to each.
    var address = ""
    var deadline = timeout.map { Deadline(after: $0) }
    var wanted = Int16(POLLOUT)
    while true {
      let current = PQhostaddr(connection).map { String(cString: $0) } ?? ""
      if current != address {
        address = current
        deadline = timeout.map { Deadline(after: $0) }
      }
      switch Connection.wait(PQsocket(connection), for: wanted, until: deadline, wake: wake) {
      case .ready: break
      case .woken: throw PostgresError(kind: .interrupted, message: "\(doing): interrupted")
      case .timedOut:
        let host = PQhost(connection).map { String(cString: $0) } ?? address
        throw PostgresError(
          kind: .timeout, message: "\(doing): no answer from host \"\(host)\"",
          hint: "Check that the server runs there and that the network lets connections through.")
      }
      switch PQconnectPoll(connection) {
      case PGRES_POLLING_READING: wanted = Int16(POLLIN)
      case PGRES_POLLING_WRITING: wanted = Int16(POLLOUT)
      case PGRES_POLLING_OK: return
      default: throw PostgresError(connection: connection, doing: doing)
      }
    }
  }

  /// The `connect_timeout` of the conninfo or the environment, which libpq respects only in its blocking
  /// call; nil if there is none.
  static func timeout(of connection: OpaquePointer, default standard: Duration) -> Duration? {
    guard let value = option("connect_timeout", of: connection), let seconds = Int(value) else {
      return standard
    }
    return seconds > 0 ? .seconds(seconds) : nil
  }

  /// The value that libpq has for a keyword, from the conninfo and the environment; nil if it has none.
  static func option(_ keyword: String, of connection: OpaquePointer) -> String? {
    guard let options = PQconninfo(connection) else { return nil }
    defer { PQconninfoFree(options) }
    var option = options
    while let name = option.pointee.keyword {
      if strcmp(name, keyword) == 0 { return option.pointee.val.map { String(cString: $0) } }
      option += 1
    }
    return nil
  }

  private static let doing = "could not connect to the database"

  typealias ConnectCall = (
    UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<UnsafePointer<CChar>?>?, Int32
  ) -> OpaquePointer?

  static func call(
    _ call: ConnectCall, with parameters: [(keyword: String, value: String)]
  ) -> OpaquePointer? {
    withCStrings(parameters.map { $0.keyword }) { keywords in
      withCStrings(parameters.map { $0.value }) { values in call(keywords, values, 1) }
    }
  }

  private static func start(
    _ parameters: [(keyword: String, value: String)]
  ) throws(PostgresError) -> OpaquePointer {
    guard let connection = call(PQconnectStartParams, with: parameters) else {
      throw PostgresError(connection: nil, doing: doing)
    }
    // Notices ("relation already exists, skipping", ...) are discarded. libpq would print them unchanged,
    // with any control characters.
    PQsetNoticeReceiver(connection, { _, _ in }, nil)
    return connection
  }
}

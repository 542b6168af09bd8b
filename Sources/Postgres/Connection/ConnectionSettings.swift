internal import CLibpq

/// The settings of a connection in libpq's form: a URL, or `keyword=value` pairs, or an empty text (then
/// libpq's environment variables and files apply).
package struct ConnectionSettings: Sendable {
  /// URL or `keyword=value` pairs. It may contain a password, so it is never printed.
  private let conninfo: String
  /// The `application_name`, unless the conninfo or `PGAPPNAME` gives one.
  package var applicationName: String
  /// The longest time that a host may take to accept, unless the conninfo sets `connect_timeout`.
  package var connectTimeout: Duration = .seconds(10)
  /// The `address` of a connection, to connect to the same one of several hosts; empty: to any.
  package var address: [(keyword: String, value: String)] = []
  /// What the program has seen of the servers, if it is to refuse a primary from before a failover.
  package var timelines: SeenTimelines?

  /// Settings from a user's text, which is checked when connecting.
  package init(_ conninfo: String, applicationName: String) {
    self.conninfo = conninfo
    self.applicationName = applicationName
  }

  /// The settings on which the meaning of our statements depends, and one on which their speed does, with their values as the server shows
  /// them. A session, `PGOPTIONS`, a role or a database may have others.
  ///
  /// The search path is PostgreSQL's own schema, then the session's temporary objects. Statements qualify
  /// all other names, so that a role that may create objects in a schema cannot change what a statement
  /// refers to.
  package static let pinned: [(name: String, value: String)] = [
    ("search_path", "pg_catalog,pg_temp"),
    // How literals and parameters are read.
    ("standard_conforming_strings", "on"), ("array_nulls", "on"), ("transform_null_equals", "off"),
    ("DateStyle", "ISO, MDY"), ("IntervalStyle", "postgres"),
    // How long a day is: one with a change of the clocks has 23 or 25 hours.
    ("TimeZone", "UTC"),
    // How results are written as text.
    ("extra_float_digits", "1"), ("bytea_output", "hex"), ("quote_all_identifiers", "off"),
    // Which rows a statement sees.
    ("default_transaction_isolation", "read committed"), ("row_security", "on"),
    // How long a statement takes: compiling one takes up to a second, where an estimate is far too high.
    ("jit", "off"),
  ]

  /// Keywords and values for libpq. Those after `dbname` override the user's; those before it do not. A
  /// silent server is detected within 15 s: probes are sent after 5 s, then each 3 s, and sent data must be
  /// acknowledged within 15 s.
  private var ownParameters: [(keyword: String, value: String)] {
    [
      ("fallback_application_name", applicationName),
      ("keepalives", "1"), ("keepalives_idle", "5"), ("keepalives_interval", "3"),
      ("keepalives_count", "3"), ("tcp_user_timeout", "15000"),
      ("dbname", conninfo),
      ("client_encoding", "UTF8"),
    ] + address
  }

  /// Keywords and values for libpq.
  ///
  /// - Parameter pinsSettings: Whether the startup packet sets the pinned settings, which a pooler may refuse.
  func parameters(pinningSettings pinsSettings: Bool) -> [(keyword: String, value: String)] {
    guard pinsSettings else { return ownParameters }
    let ours = Self.pinned.map {
      "-c \($0.name)=\($0.value.split(separator: " ").joined(separator: "\\ "))"
    }
    .joined(separator: " ")
    // Of two settings, the last one applies.
    let options = userOptions.map { "\($0) \(ours)" } ?? ours
    return ownParameters + [("options", options)]
  }

  /// The `options` that libpq takes from the conninfo, a service file or `PGOPTIONS`.
  ///
  /// libpq reports their combination only for a connection. This one has two addresses for one host, so libpq
  /// rejects it before it connects.
  private var userOptions: String? {
    let parameters = ownParameters + [("host", "none"), ("hostaddr", ",")]
    guard let connection = Connecting.call(PQconnectStartParams, with: parameters) else {
      return nil
    }
    defer { PQfinish(connection) }
    guard let options = Connecting.option("options", of: connection), !options.isEmpty else {
      return nil
    }
    return options
  }

  /// Checks the conninfo's form without connecting.
  package func check() throws(PostgresError) {
    // libpq would end the text there, and connect to another database.
    guard !conninfo.utf8.contains(0) else {
      throw PostgresError(
        kind: .connection, message: "invalid connection string: it contains the character NUL")
    }
    guard conninfo.contains("=") || conninfo.contains("://") else { return try checkName(conninfo) }
    try checkURL()
    var message: UnsafeMutablePointer<CChar>?
    guard let options = PQconninfoParse(conninfo, &message) else {
      let text = message.map { String(cString: $0) } ?? "out of memory"
      PQfreemem(message)
      throw PostgresError(
        kind: .connection,
        message: "invalid connection string: "
          + withoutQuotations(String(text.split(separator: "\n").first ?? "it could not be parsed")),
        hint: "Give a URL such as postgresql://user@host:5432/quake, or host=... dbname=... pairs.")
    }
    defer { PQconninfoFree(options) }
    var option = options
    while let keyword = option.pointee.keyword {
      if String(cString: keyword) == "dbname", let name = option.pointee.val {
        try checkName(String(cString: name))
      }
      option += 1
    }
  }

  /// Throws if a name is a URL without its scheme. libpq would take it for the name of a database, which the
  /// server would print in its error, with the password in it.
  private func checkName(_ name: String) throws(PostgresError) {
    guard let at = name.lastIndex(of: "@"), name[..<at].contains(":") else { return }
    throw PostgresError(
      kind: .connection, message: "invalid connection string: a URL without its beginning",
      hint: "Give a URL such as postgresql://user@host:5432/quake, or host=... dbname=... pairs.")
  }

  /// Throws if a password contains an unescaped `@` or `/`. libpq would take the end of the password for a
  /// host, a port or a database, and print it in its errors.
  private func checkURL() throws(PostgresError) {
    guard let scheme = conninfo.firstRange(of: "://") else { return }
    let rest = conninfo[scheme.upperBound...]
    let authority = rest.prefix { $0 != "/" }
    let path = rest[authority.endIndex...].prefix { $0 != "?" }
    guard authority.count(where: { $0 == "@" }) > 1 || path.contains("@") else { return }
    throw PostgresError(
      kind: .connection, message: "invalid connection string: an \"@\" where none can be",
      hint: "In a user name or a password write %40 for \"@\", %2F for \"/\", %3A for \":\".")
  }

  /// The message without quotations, because libpq's errors may quote the password.
  private func withoutQuotations(_ message: String) -> String {
    guard conninfo.contains("password") || conninfo.contains("@"),
      let first = message.firstIndex(of: "\""), let last = message.lastIndex(of: "\"")
    else { return message }
    return message[...first] + "..." + message[last...]
  }
}

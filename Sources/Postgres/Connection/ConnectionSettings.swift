internal import CLibpq

/// Where and how to connect, as libpq understands it: a URL, or `keyword=value` pairs, or nothing at
/// all (then libpq's own environment and files decide).
public struct ConnectionSettings: Sendable {
  /// URL or `keyword=value` pairs; may hold a password and is therefore never shown.
  private let conninfo: String
  /// The `application_name`, unless the conninfo or `PGAPPNAME` gives one.
  public var applicationName: String
  /// How long a host may take to accept, where the conninfo does not say (`connect_timeout`).
  public var connectTimeout: Duration = .seconds(10)

  /// Takes what a user gave; it is checked when connecting.
  public init(_ conninfo: String, applicationName: String) {
    self.conninfo = conninfo
    self.applicationName = applicationName
  }

  /// Where every name of a statement is looked up: in PostgreSQL's own schema, and last among the
  /// session's temporary objects. Whatever is not there is written with its schema, so that nobody who
  /// may create objects in a schema decides what a name of ours means.
  static let searchPath = "pg_catalog,pg_temp"

  /// Keywords and values for libpq. What stands after `dbname` overrides the user's, what stands
  /// before it does not. A silent server is found within 15 s: a probe after 5 s, then each 3 s, and
  /// sent data must be acknowledged within 15 s.
  private var ownParameters: [(keyword: String, value: String)] {
    [
      ("fallback_application_name", applicationName),
      ("keepalives", "1"), ("keepalives_idle", "5"), ("keepalives_interval", "3"),
      ("keepalives_count", "3"), ("tcp_user_timeout", "15000"),
      ("dbname", conninfo),
      ("client_encoding", "UTF8"),
    ]
  }

  /// Keywords and values for libpq.
  ///
  /// - Parameter setsPath: Whether the server is asked to begin the session with our search path; a
  ///   pooler may refuse to.
  func parameters(settingPath setsPath: Bool) -> [(keyword: String, value: String)] {
    guard setsPath else { return ownParameters }
    let option = "-c search_path=\(Self.searchPath)"
    // The last of two settings counts.
    let options = userOptions.map { "\($0) \(option)" } ?? option
    return ownParameters + [("options", options)]
  }

  /// The `options` that libpq takes from the conninfo, a service file or `PGOPTIONS`.
  ///
  /// Libpq tells what it makes of all of them for a connection only. This one has two addresses for one
  /// host, and is given up before it begins.
  private var userOptions: String? {
    let parameters = ownParameters + [("host", "none"), ("hostaddr", ",")]
    guard let connection = Connection.call(PQconnectStartParams, with: parameters) else {
      return nil
    }
    defer { PQfinish(connection) }
    guard let options = Connection.option("options", of: connection), !options.isEmpty else {
      return nil
    }
    return options
  }

  /// Checks the conninfo's form without connecting.
  public func check() throws(PostgresError) {
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

  /// A URL that lacks its beginning passes for the name of a database, which the server then names in
  /// its error, with the password that is in it.
  private func checkName(_ name: String) throws(PostgresError) {
    guard let at = name.lastIndex(of: "@"), name[..<at].contains(":") else { return }
    throw PostgresError(
      kind: .connection, message: "invalid connection string: a URL without its beginning",
      hint: "Give a URL such as postgresql://user@host:5432/quake, or host=... dbname=... pairs.")
  }

  /// A password with a bare `@` or `/` in it makes libpq take its end for a host, a port or a
  /// database, which it then names in its errors.
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

  /// libpq's errors quote what they complain of: in the worst case the password.
  private func withoutQuotations(_ message: String) -> String {
    guard conninfo.contains("password") || conninfo.contains("@"),
      let first = message.firstIndex(of: "\""), let last = message.lastIndex(of: "\"")
    else { return message }
    return message[...first] + "..." + message[last...]
  }
}

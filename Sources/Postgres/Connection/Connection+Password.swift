internal import CLibpq

extension Connection {
  /// What a server keeps of a password (SCRAM-SHA-256): it proves that somebody knows the password, and
  /// does not tell it.
  ///
  /// - Parameter role: The name of the role that it is for.
  public func scramVerifier(password: String, role: String) throws(PostgresError) -> String {
    guard let text = PQencryptPasswordConn(connection, password, role, "scram-sha-256") else {
      throw PostgresError(connection: connection, doing: "could not hash a password")
    }
    defer { PQfreemem(text) }
    return String(cString: text)
  }
}

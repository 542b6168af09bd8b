internal import CLibpq

extension Connection {
  /// The SCRAM-SHA-256 verifier of a password. A server can check a password with it, but cannot recover the
  /// password from it.
  ///
  /// - Parameter role: The name of the role that gets the password.
  package func scramVerifier(password: String, role: String) throws(PostgresError) -> String {
    guard let text = PQencryptPasswordConn(connection, password, role, "scram-sha-256") else {
      throw PostgresError(connection: connection, doing: "could not hash a password")
    }
    defer { PQfreemem(text) }
    return String(cString: text)
  }
}

import CommandLine
import EmbeddedPostgres
import Postgres
import QuakeModel
import QuakeSchema
import QuakeTool

/// Opens and closes TCP on the loopback address for the embedded server.
struct ListeningServer {
  private let server: EmbeddedServer
  private let diagnostics: Diagnostics

  init(_ server: EmbeddedServer, _ diagnostics: Diagnostics) {
    self.server = server
    self.diagnostics = diagnostics
  }

  /// Makes the running server listen: creates the roles and the reader's password, and restarts the server if
  /// it does not listen on this port yet.
  ///
  /// - Returns: Whether it was restarted.
  func open(_ port: Int) throws -> Bool {
    let before = server.listening
    let isOpen = before?.port == port && server.isListening
    guard isOpen || !EmbeddedServer.isUsed(port) else {
      throw EmbeddedServerError(
        .unavailable, "port \(port) of 127.0.0.1 is in use",
        hint: "Name another one: quake-admin server start --listen PORT")
    }
    guard let names = RoleNames() else { preconditionFailure("the standard prefix is valid") }
    let password = server.password ?? Self.makePassword()
    let connection = try Connection(
      ConnectionSettings(server.conninfo, applicationName: diagnostics.tool))
    for migration in try Migrator(
      connection: connection, program: "\(diagnostics.tool) \(productVersion)"
    ).migrate() {
      diagnostics.note("applied migration \(migration.version) (\(migration.name))")
    }
    var options = RoleMaker.Options()
    options.passwords = [.reader: password]
    _ = try RoleMaker(names, options, over: connection).make()
    try server.listen(on: port, role: names.name(.reader), password: password)
    guard !isOpen else { return false }
    try restart()
    return true
  }

  /// Makes the server listen on its Unix socket only.
  func close() throws {
    try server.stopListening()
    try restart()
  }

  private func restart() throws {
    diagnostics.note("restarting the embedded server")
    try server.stop()
    try server.start()
  }

  /// 32 letters and digits: 190 bits.
  private static func makePassword() -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    var generator = SystemRandomNumberGenerator()
    return String((0..<32).compactMap { _ in letters.randomElement(using: &generator) })
  }
}

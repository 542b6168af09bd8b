internal import Basics
import Glibc

extension EmbeddedServer {
  /// TCP on the loopback address, for programs that cannot use the Unix socket, or run as another account.
  /// Only one role may connect that way, with its password (SCRAM).
  package struct Listening: Equatable, Sendable {
    /// The port of 127.0.0.1.
    package var port: Int
    package var role: String
  }

  /// The port that is used if the user names none. Not PostgreSQL's own, which another server may have.
  package static let standardPort = 15432

  /// The TCP address on which the server listens, or will after its next start; nil: none.
  package var listening: Listening? { Self.listening(folder) }

  /// Whether the server runs and listens by TCP now. It does not if another program had the port when it started.
  package var isListening: Bool { Postmaster.current(folder)?.hasTCP ?? false }

  /// The file with the role's password, in the form of libpq's password files.
  package var passwordFile: String { folder.home + "/reader.pgpass" }

  /// The role's password; nil if there is none yet.
  package var password: String? {
    guard let line = Files.text(passwordFile)?.split(separator: "\n").first else { return nil }
    return line.split(separator: ":", maxSplits: 4).last.map(String.init)
  }

  /// Makes the server listen at its next start.
  ///
  /// - Parameters:
  ///   - role: The role that may connect. Its name needs no quotes.
  ///   - password: Its password: letters and digits.
  package func listen(
    on port: Int, role: String, password: String
  ) throws(EmbeddedServerError) {
    try replace(
      passwordFile, "127.0.0.1:\(port):quake:\(role):\(password)\n")
    try setAuthentication(role)
    try replace(folder.listenFile, "\(port) \(role)\n")
  }

  /// Makes the server stop listening at its next start.
  package func stopListening() throws(EmbeddedServerError) {
    unlink(folder.listenFile)
    try setAuthentication(nil)
  }

  /// Whether another program listens on a port of 127.0.0.1.
  package static func isUsed(_ port: Int) -> Bool {
    do throws(SystemFailure) {
      close(try ListeningSocket(host: "127.0.0.1", port: port, backlog: 1).descriptor)
      return false
    } catch {
      return error.code == EADDRINUSE
    }
  }

  static func listening(_ folder: Folder) -> Listening? {
    guard let words = Files.text(folder.listenFile)?.split(whereSeparator: \.isWhitespace),
      words.count == 2, let port = Int(words[0]), (1...65_535).contains(port)
    else { return nil }
    return Listening(port: port, role: String(words[1]))
  }

  // MARK: - Files

  private static let begin = "# quake-admin server start --listen: begin"
  private static let end = "# quake-admin server start --listen: end"

  /// Adds the rule for a role to `pg_hba.conf`, or removes it; the other rules are the administrator's.
  private func setAuthentication(_ role: String?) throws(EmbeddedServerError) {
    let path = folder.data + "/pg_hba.conf"
    guard let text = Files.text(path) else {
      throw EmbeddedServerError(.unavailable, "could not read file \"\(path)\"")
    }
    var lines: [Substring] = []
    var isOwn = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line == Self.begin { isOwn = true }
      if !isOwn { lines.append(line) }
      if line == Self.end { isOwn = false }
    }
    var new = lines.joined(separator: "\n")
    if let role {
      if !new.hasSuffix("\n") { new += "\n" }
      new += """
        \(Self.begin)
        host quake \(role) 127.0.0.1/32 scram-sha-256
        \(Self.end)

        """
    }
    guard new != text else { return }
    try write(new, to: path)
  }

  /// Writes a file of the server's account that only this account can read.
  private func replace(_ path: String, _ text: String) throws(EmbeddedServerError) {
    let descriptor = Files.openOwn(path, O_WRONLY)
    guard descriptor >= 0 else {
      throw EmbeddedServerError(
        .unavailable, "could not open file \"\(path)\": \(Files.reason(errno))")
    }
    if account.isSwitched { _ = fchown(descriptor, account.user, account.group) }
    _ = fchmod(descriptor, 0o600)
    close(descriptor)
    try write(text, to: path)
  }
}

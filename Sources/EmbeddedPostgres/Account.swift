import Basics
import Glibc

extension EmbeddedServer {
  /// The account that runs the server's programs: the caller's, or, because PostgreSQL refuses to run as
  /// root, the account that root chose.
  struct Account: Sendable {
    /// The user id that owns the server's folder and runs it.
    let user: uid_t
    let group: gid_t
    /// Whether `setpriv` must switch to that account.
    let isSwitched: Bool

    init(options: Options) throws(EmbeddedServerError) {
      guard geteuid() == 0 else {
        user = geteuid()
        group = getegid()
        isSwitched = false
        return
      }
      let name = options.account ?? "postgres"
      guard let entry = Self.lookUp(name) else {
        throw EmbeddedServerError(
          .configuration, "account \"\(name)\" does not exist",
          detail: "PostgreSQL does not run as root; root's embedded server needs an account.",
          hint: options.account == nil
            ? "Name an existing account in QUAKE_SERVER_USER, or create one: "
              + "adduser --system --group --home /var/lib/quake --no-create-home quake."
            : "Set QUAKE_SERVER_USER to an account that exists.")
      }
      guard entry.user != 0 else {
        throw EmbeddedServerError(
          .configuration, "account \"\(name)\" is root",
          detail: "PostgreSQL does not run as root.",
          hint: "Set QUAKE_SERVER_USER to an account without privileges.")
      }
      user = entry.user
      group = entry.group
      isSwitched = true
    }

    /// Uses the reentrant call, because several threads may start servers.
    private static func lookUp(_ name: String) -> (user: uid_t, group: gid_t)? {
      var capacity = 1024
      while capacity <= 1 << 20 {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var strings = [CChar](repeating: 0, count: capacity)
        let code = getpwnam_r(name, &entry, &strings, capacity, &found)
        if code == ERANGE {
          capacity *= 4
          continue
        }
        // Only numbers are returned: the entry's strings are freed with the buffer.
        return found == nil ? nil : (entry.pw_uid, entry.pw_gid)
      }
      return nil
    }

    /// A command that runs one of the server's programs under the account.
    func command(_ executable: String, _ arguments: [String]) -> ChildProcess {
      var child: ChildProcess
      if isSwitched {
        child = ChildProcess(
          "/usr/bin/setpriv",
          [
            "--reuid", String(user), "--regid", String(group), "--init-groups", "--", executable,
          ] + arguments)
      } else {
        child = ChildProcess(executable, arguments)
      }
      // The server must not inherit the caller's PG*, LC_* and TZ. LC_ALL=C makes its messages English,
      // because some are compared.
      child.environment = .exactly([
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C",
      ])
      child.workingDirectory = "/"  // the account may have no access to the caller's folder
      return child
    }
  }
}

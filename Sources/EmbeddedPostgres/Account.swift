import ChildProcesses
import Glibc

extension EmbeddedServer {
  /// Who the server's programs run as: the caller, or, as PostgreSQL refuses to be run by root, the
  /// account that root chose.
  struct Account: Sendable {
    /// The user id that owns the server's folder and runs it.
    let user: uid_t
    let group: gid_t
    /// Whether programs have to be started under that account by `setpriv`.
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

    /// The reentrant call, because servers may be started from several threads.
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
        // Only numbers are read: the entry's strings are gone with the buffer.
        return found == nil ? nil : (entry.pw_uid, entry.pw_gid)
      }
      return nil
    }

    /// A command of the server's, wrapped so that it runs under the account.
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
      // The caller's PG*, LC_* and TZ would otherwise find their way into the server; and its
      // messages are compared with English ones.
      child.environment = .exactly([
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C",
      ])
      child.workingDirectory = "/"  // the caller's may be closed to the account
      return child
    }
  }
}

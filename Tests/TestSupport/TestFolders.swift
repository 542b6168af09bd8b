import Basics
import EmbeddedPostgres
import Foundation

/// Where tests keep what they write.
package enum TestFolders {
  private static let prefix = "quake-test-"
  private static let memory = "/dev/shm"
  private static let disk = "/tmp"

  /// In memory if 6 GiB are free there and programs there may be run: tests create and drop hundreds of databases of
  /// three hundred files each. Soak tests write too much for that.
  private static let parent: String = {
    var state = statvfs()
    guard !Tools.isSoak, statvfs(memory, &state) == 0,
      UInt64(state.f_bavail) * UInt64(state.f_frsize) >= 6 << 30,
      // ST_NOEXEC, which glibc's Swift module lacks.
      state.f_flag & 8 == 0
    else { return disk }
    return memory
  }()

  /// The path of a new folder, which the caller makes and removes.
  ///
  /// - Parameter name: The end of the folder's name.
  package static func path(_ name: String) -> String {
    "\(parent)/\(prefix)\(getpid())-\(UInt32.random(in: 0 ... .max))-\(name)"
  }

  /// Removes the folders of runs that were killed, and stops their servers: those whose process, named in the
  /// folder's name, is gone.
  static func removeLeftovers() {
    for folder in [memory, disk] { removeLeftovers(in: folder) }
  }

  private static func removeLeftovers(in path: String) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
      guard name.hasPrefix(prefix),
        let pid = pid_t(name.dropFirst(prefix.count).prefix { $0.isNumber }),
        kill(pid, 0) != 0, errno == ESRCH
      else { continue }
      let options = EmbeddedServer.Options(home: "\(path)/\(name)")
      _ = try? EmbeddedServer(options).stop(mode: .immediate)
      remove("\(path)/\(name)")
    }
  }

  /// Removes a folder with all that is in it.
  package static func remove(_ folder: String) {
    _ = try? ChildProcess("/bin/rm", ["-rf", "--", folder]).run()
  }
}

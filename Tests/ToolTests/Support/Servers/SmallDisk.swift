import Foundation
import TestSupport
import Testing

/// A file system in memory that is soon full.
final class SmallDisk {
  /// Where it is.
  let path: String
  private let folder: TemporaryFolder
  private var filler: String { path + "/filler" }

  /// Only root may mount a file system, and not in every container.
  static let mayMount = geteuid() == 0 && (try? SmallDisk(size: "64k")) != nil

  /// - Parameter size: Its size, as `mount` takes it.
  init(size: String) throws {
    folder = try TemporaryFolder()
    path = folder.path + "/disk"
    let mounted = try Tools.shell(
      "mkdir '\(path)' && mount -t tmpfs -o size=\(size),mode=755 none '\(path)'")
    guard mounted.status == 0 else { throw ToolProcess.Failure(description: mounted.errors) }
  }

  deinit { _ = try? Tools.shell("umount --lazy '\(path)'") }

  /// Takes all the space that is left.
  func fill() throws {
    _ = try Tools.shell("head -c 1G /dev/zero >> '\(filler)' || true")
  }

  /// Gives that space back.
  func clear() throws {
    try FileManager.default.removeItem(atPath: filler)
  }
}

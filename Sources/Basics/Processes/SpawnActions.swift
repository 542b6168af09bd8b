package import Glibc

/// Functions of `posix_spawn` that glibc has since versions 2.29 and 2.34. Swift does not import them,
/// because its module excludes the GNU extensions, so they are looked up by name.
package enum SpawnActions {
  /// `POSIX_SPAWN_SETSID`: the child begins a session of its own.
  package static let newSession: Int32 = 0x80

  private typealias CloseFrom =
    @convention(c) (
      UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32
    ) -> Int32
  private typealias ChangeDirectory =
    @convention(c) (
      UnsafeMutablePointer<posix_spawn_file_actions_t>, UnsafePointer<CChar>
    ) -> Int32

  /// The child closes every descriptor from `first` on, also one that another thread opens
  /// meanwhile without close-on-exec. Returns an error number or 0.
  package static func closeFrom(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ first: Int32
  ) -> Int32 {
    guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return ENOSYS }
    return unsafeBitCast(symbol, to: CloseFrom.self)(actions, first)
  }

  /// The child changes to `folder` before it runs the program. Returns an error number or 0.
  package static func changeDirectory(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ folder: String
  ) -> Int32 {
    guard let symbol = dlsym(nil, "posix_spawn_file_actions_addchdir_np") else { return ENOSYS }
    return unsafeBitCast(symbol, to: ChangeDirectory.self)(actions, folder)
  }
}

internal import CMigrations

/// The migrations as the binaries carry them, in order. A test compares them with the folder.
enum EmbeddedMigrations {
  /// A migration's file name and its bytes.
  static let files: [(name: String, bytes: [UInt8])] = {
    var files: [(name: String, bytes: [UInt8])] = []
    while let file = quake_migration(files.count)?.pointee {
      files.append(
        (
          String(cString: file.name),
          Array(UnsafeBufferPointer(start: file.bytes, count: file.size))
        ))
    }
    return files
  }()
}

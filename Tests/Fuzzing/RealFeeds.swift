import Glibc

/// The beginnings of real feeds, if `QUAKE_REAL_FEEDS` names a folder with some. They are used only on this machine.
enum RealFeeds {
  static func seeds(for target: FuzzTarget) -> [[UInt8]] {
    guard let folder = getenv("QUAKE_REAL_FEEDS").map({ String(cString: $0) }),
      let endings = FeedTargets.endings[target.name]
    else { return [] }
    return files(below: folder, depth: 3)
      .filter { file in endings.contains { file.hasSuffix($0) } }
      .sorted().prefix(40).map { beginning(of: $0, target.longest) }
  }

  private static func files(below folder: String, depth: Int) -> [String] {
    guard depth > 0, let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var paths: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard !name.hasPrefix(".") else { continue }
      let path = "\(folder)/\(name)"
      paths += entry.pointee.d_type == UInt8(DT_DIR) ? files(below: path, depth: depth - 1) : [path]
    }
    return paths
  }

  private static func beginning(of path: String, _ count: Int) -> [UInt8] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: count)
    bytes.removeLast(count - fread(&bytes, 1, count, file))
    return bytes
  }
}

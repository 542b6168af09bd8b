import Glibc

/// A parser of bytes from outside, or several for the same kind of bytes, and what must hold for any input.
struct FuzzTarget: Sendable {
  let name: String
  /// The most bytes of an input.
  let longest: Int
  /// Words that inputs contain, from which libFuzzer also makes them.
  var words: [String] = []
  /// The inputs to begin with.
  let seeds: @Sendable () -> [[UInt8]]
  /// Reads an input, and traps unless each property holds.
  let check: @Sendable ([UInt8]) -> Void

  static let all: [FuzzTarget] =
    FeedTargets.all + PointTargets.all + RequestTargets.all + ListTargets.all + StreamTargets.all
    + FileTargets.all

  /// The words in the form of libFuzzer's dictionaries.
  var dictionary: String {
    words.map { word in
      let bytes = word.utf8.map { byte in
        let isPlain = byte > 0x20 && byte < 0x7F && byte != 0x22 && byte != 0x5C
        return isPlain
          ? String(UnicodeScalar(byte))
          : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      return "\"\(bytes.joined())\"\n"
    }.joined()
  }
}

extension FuzzTarget {
  /// A target of texts.
  init(
    text name: String, longest: Int, words: [String] = [], seeds: [String],
    check: @escaping @Sendable (String) -> Void
  ) {
    self.init(
      name: name, longest: longest, words: words, seeds: { seeds.map { Array($0.utf8) } },
      check: { check(String(decoding: $0, as: UTF8.self)) })
  }
}

/// Sizes of pieces in which an input is read. They follow from its bytes, so that it fails again in the same way.
struct Pieces {
  private var state: UInt64 = 0xCBF2_9CE4_8422_2325

  init(_ bytes: [UInt8]) {
    for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }

  /// The size of the next piece: most are short, so that every boundary lies between two pieces now and then.
  mutating func next() -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    let random = Int(state >> 33)
    return random & 1 == 0 ? 1 + random >> 1 & 3 : 1 + random >> 1 & 255
  }

  /// The bytes in pieces.
  static func cut(_ bytes: [UInt8]) -> [[UInt8]] {
    var pieces = Pieces(bytes)
    var result: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(pieces.next())
      result.append(Array(piece))
      rest = rest.dropFirst(piece.count)
    }
    return result
  }
}

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

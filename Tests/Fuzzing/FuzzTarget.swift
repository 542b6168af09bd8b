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
    + FileTargets.all + SettingTargets.all

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

/// Ends the program, so that libFuzzer keeps the input, unless a property of the parser holds.
func require(_ holds: Bool, _ property: @autoclosure () -> String) {
  if !holds { fatalError("violated: \(property())") }
}

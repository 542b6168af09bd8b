@testable import CommandLine
@testable import QuakeHistory
@testable import QuakeModel

/// Files that a user or another program writes.
enum FileTargets {
  static let all: [FuzzTarget] = [
    FuzzTarget(
      text: "configuration", longest: 8192,
      words: [
        " = ", "[section]", "; ", "# ", "\n ", "\u{FEFF}", "feed", "database", "postgresql://",
      ],
      seeds: [
        "# A comment\ndatabase = postgresql://localhost/quake ; another\nfeed = all_day@5m\n  2.5_week\nquiet = yes\n",
        "a:b\nc = d = e\n\n[x]\nf\n", "long = \(String(repeating: "x", count: 4100))\n",
        "feed = a\n \(String(repeating: "x", count: 4090))\n",
      ], check: { checkConfiguration(Array($0.utf8)) }),
    FuzzTarget(
      name: "witness", longest: 4096,
      words: ["watcher ", "created ", "delivered", "delivered 1042.9f3ac2d1", "\n", "%0a", "-7"],
      seeds: {
        [
          "1042.9f3ac2d1\nwatcher a%25 b\ncreated 1700000000000000\ndelivered 1041.0000b1f0 1042.9f3ac2d1\n",
          "1042.9f3ac2d1-7\nwatcher \ncreated -1\ndelivered\n",
          "0\nwatcher x\ncreated 0\ndelivered 1\n",
        ].map { Array($0.utf8) } + witnesses
      }, check: checkWitness),
  ]

  /// Settings that were read are read again when they are written anew.
  private static func checkConfiguration(_ bytes: [UInt8]) {
    guard let settings = try? ConfigurationFile.settings(in: bytes, file: "f", "quake-ingest")
    else { return }
    let lines = bytes.count { $0 == 0x0A } + 1
    for setting in settings {
      require((1...lines).contains(setting.line), "\(setting) is on a line of the file")
      require(!setting.value.utf8.contains(0x0A), "\(setting) is on one line")
      _ = SecretFile.holdsPassword(setting.value)
    }
    // No option has an empty name, whose line would go on with the one before, or a long one, of which inih repeats 49
    // bytes for a further value.
    guard settings.allSatisfy({ (1..<50).contains($0.key.utf8.count) }) else { return }
    // A byte order mark counts in the first line only, and a semicolon begins a comment only after a space.
    let written = "#\n" + settings.map { "\($0.key)=\($0.value)\n" }.joined()
    guard written.utf8.split(separator: 0x0A).allSatisfy({ $0.count <= 4094 }) else { return }
    let again = try? ConfigurationFile.settings(in: Array(written.utf8), file: "f", "quake-ingest")
    require(
      again?.map(\.key) == settings.map(\.key) && again?.map(\.value) == settings.map(\.value),
      "the settings are read again: \(settings), \(String(describing: again))")
  }

  /// Witnesses as a watcher writes them.
  private static let witnesses: [[UInt8]] = [("alerts", 0), ("a\nb\u{e9}%", 100)].compactMap {
    name, count in
    HistoryCursor("1042.9f3ac2d1").map { cursor in
      let delivered = (0..<count).compactMap { ChangeToken("\(1000 + $0).9f3ac2d1") }
      let witness = Witness(
        cursor: cursor, created: Timestamp(microseconds: 1_700_000_000_000_000),
        delivered: delivered)
      return Array("\(WitnessText(witness, of: name))".utf8)
    }
  }

  /// A witness that was read is the same when it is written and read again, and belongs to one watcher.
  @Sendable private static func checkWitness(_ bytes: [UInt8]) {
    let name = String(decoding: bytes, as: UTF8.self)
    let line = WitnessText.line(name)
    require(line.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "a name is on one line")
    guard let text = WitnessText(bytes) else { return }
    let written = Array("\(text)".utf8)
    require(WitnessText(written) == text, "a witness is read again: \(text)")
    // Another watcher's name, with line breaks in it, cannot add to the file.
    let named = WitnessText(text.witness, of: name)
    require(WitnessText(Array("\(named)".utf8)) == named, "the witness of any name is read again")
  }
}

import CommandLine
import TestSupport
import Testing

@testable import CommandLine

/// Files of `key = value` lines.
@Suite struct ConfigurationFileTests {
  private func settings(_ text: String) throws(UsageError) -> [String] {
    try settings(Array(text.utf8))
  }

  private func settings(_ bytes: [UInt8]) throws(UsageError) -> [String] {
    try ConfigurationFile.settings(in: bytes, file: "q.conf", "q")
      .map { "\($0.line) \($0.key)=\($0.value)" }
  }

  private func fault(_ bytes: [UInt8]) -> String? {
    thrown { () throws(UsageError) in _ = try settings(bytes) }?.message
  }

  private func fault(_ text: String) -> String? { fault(Array(text.utf8)) }

  @Test(arguments: [
    ("postgresql://quake:secret@host/db", true), ("host=h password = x", true),
    ("postgresql://host/db?sslpassword=x&user=a", true), ("user=a password=x", true),
    ("dbname=password_reset host=h", false), ("passfile=/home/a/.pgpass", false),
    ("postgresql://host:5432/db?user=a@b", false), ("postgresql://quake@host:5432/db", false),
  ])
  func aPasswordIsSeenWhereThereIsOne(conninfo: String, holds: Bool) {
    #expect(SecretFile.holdsPassword(conninfo) == holds)
  }

  @Test func entriesAreReadWithTheirLines() throws {
    let text = """
      # comment
      ; comment

      feed = all_hour@60s
        all_day@5m
      every=5m   ; comment
        database   =   postgresql://me@db.example.org:5432/quake?a=b;c#d
      author = Grüße = \u{1F30B}
      empty =
      """
    // A line that begins with a space adds a value to the entry before.
    #expect(
      try settings(text) == [
        "4 feed=all_hour@60s", "5 feed=all_day@5m", "6 every=5m",
        "7 every=database   =   postgresql://me@db.example.org:5432/quake?a=b;c#d",
        "8 author=Grüße = \u{1F30B}", "9 empty=",
      ])
    #expect(try settings("a = 1\r\nb = 2") == ["1 a=1", "2 b=2"])
    #expect(try settings("\u{FEFF}a = 1\n") == ["1 a=1"])
    #expect(try settings("") == [])
  }

  @Test func aCommentEndsAFurtherValueToo() throws {
    let text = "feed = all_hour\n  all_day \t ; every day\n  a;b;c\n\tx;y ;z\n"
    #expect(
      try settings(text) == ["1 feed=all_hour", "2 feed=all_day", "3 feed=a;b;c", "4 feed=x;y"])
  }

  @Test func longLinesAreTakenWhole() throws {
    let value = String(repeating: "x", count: 4000)
    #expect(try settings("\na = \(value)\n") == ["2 a=\(value)"])
    #expect(
      fault("b = 1\na = \(value)\(value)\n") == "q.conf:2: expected a line of at most 4094 bytes")
  }

  @Test func invalidLinesAreRefused() {
    #expect(fault("a = 1\nnonsense\nb = 2") == "q.conf:2: expected key = value")
    #expect(
      fault("[run]\na = 1")
        == "q.conf:2: expected key = value without sections, but this is in [run]")
    #expect(fault("a = 1\n[run") == "q.conf:2: expected key = value")
    #expect(fault([0x61, 0x3D, 0xFF]) == "q.conf:1: expected text in UTF-8")
    #expect(fault([0x61, 0x3D, 0x62, 0, 0x63]) == "q.conf:1: expected text in UTF-8")
    // The first counts.
    #expect(fault("nonsense\n[run]\na = 1") == "q.conf:1: expected key = value")
  }

  @Test func sectionsAreReadWhereACommandHasThem() throws {
    func read(_ text: String) throws(UsageError) -> [String] {
      try ConfigurationFile.settings(
        in: Array(text.utf8), allowsSections: true, file: "q.conf", "q"
      ).map { "\($0.line) \($0.section ?? "-") \($0.key)=\($0.value)" }
    }
    func fault(_ text: String) -> String? {
      thrown { () throws(UsageError) in _ = try read(text) }?.message
    }
    #expect(
      try read("a = 1\n[feed x]\nurl = u\n  v\n\n[feed y] ; y\nurl = w\n") == [
        "1 - a=1", "3 feed x url=u", "4 feed x url=v", "7 feed y url=w",
      ])
    let empty = "expected key = value after the name of this section"
    #expect(fault("[x]\n[y]\na = 1") == "q.conf:1: \(empty)")
    #expect(fault("[x]\na = 1\n[y]\n") == "q.conf:3: \(empty)")
    #expect(
      fault("[\(String(repeating: "x", count: 900))]\na = 1")
        == "q.conf:2: expected the name of a section of at most 840 bytes")
  }

  @Test func filesAreRead() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("q.conf", "once = yes\n")
    #expect(
      try ConfigurationFile.read(file, for: "q") == [Setting("once", "yes", file: file, line: 1)])
    for (path, reason) in [
      (folder.path + "/none", "No such file or directory"), (folder.path, "Is a directory"),
    ] {
      #expect(
        throws: UsageError(
          "could not read the configuration file \"\(path)\": \(reason)", command: "q")
      ) { try ConfigurationFile.read(path, for: "q") }
    }
    #expect(
      throws: UsageError(
        "/dev/zero: expected a configuration file, but it has more than 1 MiB", command: "q")
    ) { try ConfigurationFile.read("/dev/zero", for: "q") }
  }
}

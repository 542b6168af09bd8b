import QuakeModel
import TestSupport
import Testing

@testable import QuakeClient

/// What a client reads from JSON is what the server wrote: written again, it is the same text.
@Suite struct ChangeParserTests {
  /// Texts that JSON has to escape, or that programs often break.
  private static let texts = [
    "", " ", "plain", "10 km \"N\" of Tōkyō", "a\\b\\u0041/",
    "\u{1}\u{8}\u{B}\u{C}\t\r\n\u{1F}\u{7F}",
    "\u{80}\u{9F}\u{AD}\u{200B}\u{202E}\u{2028}\u{2029}\u{FEFF}",
    "\u{D7FF}\u{E000}\u{FFFD}\u{FFFF}",
    "\u{10000}\u{1F30B}\u{E0041}\u{F0000}\u{10FFFF}", "null", "\"", "\\", "data: x\n\nid: 0",
    "👩‍🔬 e\u{301}", String(repeating: "\u{1}é\"", count: 700),
  ]

  private struct Maker {
    var random: SeededGenerator

    mutating func text() -> String {
      var text = texts.randomElement(using: &random) ?? ""
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        if let scalar = Unicode.Scalar(UInt32.random(in: 1...0x10FFFF, using: &random)) {
          text.unicodeScalars.append(scalar)
        }
      }
      return text
    }

    mutating func chance() -> Bool { Bool.random(using: &random) }

    mutating func optionalText() -> String? { chance() ? text() : nil }

    mutating func double() -> Double {
      switch Int.random(in: 0...3, using: &random) {
      case 0: return Double(Int.random(in: -1000...1000, using: &random)) / 10
      case 1: return Double(Int.random(in: -90_000_000...90_000_000, using: &random)) / 1_000_000
      case 2:
        return [
          0, 1e15, -1e16, 1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1, 1e22,
          123456789012345.6,
        ]
        .randomElement(using: &random) ?? 0
      default:
        let value = Double(bitPattern: UInt64.random(in: .min ... .max, using: &random))
        return value.isFinite ? value : 1
      }
    }

    mutating func time() -> Timestamp {
      let usual: Int64 = 4_000_000_000_000_000
      switch Int.random(in: 0...3, using: &random) {
      case 0: return Timestamp(microseconds: Int64.random(in: -usual...usual, using: &random))
      case 1:
        return Timestamp(
          microseconds: Int64.random(in: -usual...usual, using: &random) / 1000 * 1000)
      case 2: return [.earliest, .latest].randomElement(using: &random) ?? .latest
      default:
        // All that a database can contain: from 4714 BC to 294276, limited to what an instant can be.
        return Timestamp(
          microseconds: Int64.random(in: -210_866_803_200_000_000...Int64.max - 1, using: &random))
      }
    }

    mutating func record(_ code: String) -> EventRecord {
      var record = EventRecord()
      for column in EventColumn.allCases where chance() || column == .code {
        switch column.kind {
        case .text: record.set(column, column == .code ? code : text())
        case .float8: record.set(column, double())
        case .int4:
          record.set(column, integer: Int(Int32.random(in: .min ... .max, using: &random)))
        case .int2:
          record.set(column, integer: Int(Int16.random(in: .min ... .max, using: &random)))
        case .timestamp: record.set(column, time())
        case .bool: record.set(column, chance())
        }
      }
      return record
    }

    mutating func token() throws -> ChangeToken {
      try #require(
        ChangeToken(number: Int64.random(in: 1 ..< .max, using: &random), nonce: "0a1b2c3d"))
    }

    mutating func change() throws -> Change {
      let transaction = ChangeTransaction(
        token: try token(), author: optionalText(), context: optionalText(),
        application: optionalText(), user: text(),
        processID: Int.random(in: 0...4_000_000, using: &random), client: optionalText(),
        at: time(), importID: chance() ? Int64.random(in: 0 ... .max, using: &random) : nil,
        counts: ChangeCounts())
      let op = ChangeOperation.allCases.randomElement(using: &random) ?? .insert
      let code = text()
      return Change(
        transaction: transaction, position: Int64.random(in: 0 ..< .max, using: &random), op: op,
        code: op == .truncate ? nil : code,
        changed: op == .update
          ? EventColumn.allCases.filter { _ in chance() }.map(\.name) : [],
        old: op == .update || op == .delete ? record(code) : nil,
        new: op == .update || op == .insert ? record(code) : nil)
    }
  }

  /// Why a text is no change; empty if it is one.
  private func problem(of text: [UInt8], _ parser: inout ChangeParser) -> String {
    do throws(InvalidJSON) {
      _ = try parser.change(text)
      return ""
    } catch {
      return error.problem
    }
  }

  private static func written(_ change: Change) -> [UInt8] {
    var json = JSONWriter()
    json.change(change)
    return json.bytes
  }

  @Test(arguments: Seeds.first(3, of: 1...200))
  func aChangeWrittenReadAndWrittenIsTheSame(seed: UInt64) throws {
    var maker = Maker(random: SeededGenerator(seed))
    var parser = ChangeParser()
    for _ in 0..<50 {
      let change = try maker.change()
      let text = Self.written(change)
      let read = try parser.change(text)
      #expect(read.old == change.old)
      #expect(read.new == change.new)
      #expect(read.transaction.at == change.transaction.at)
      #expect(Self.written(read) == text, "\(String(decoding: text, as: UTF8.self))")
    }
  }

  @Test(arguments: Seeds.first(3, of: 1...200))
  func anEventOfASnapshotIsReadAsItWasWritten(seed: UInt64) throws {
    var maker = Maker(random: SeededGenerator(seed))
    for _ in 0..<50 {
      let record = maker.record("x")
      let token = try maker.token()
      var json = JSONWriter()
      json.snapshot(record, token: token, position: 7)
      let read = try ChangeParser().snapshot(json.bytes)
      #expect(read.record == record)
      #expect(read.token == token)
      #expect(read.position == 7)
    }
  }

  @Test func noBeginningOfAChangeIsOne() throws {
    var maker = Maker(random: SeededGenerator(3))
    for _ in 0..<3 {
      let text = Self.written(try maker.change())
      var parser = ChangeParser()
      for count in stride(from: 0, to: text.count, by: max(1, text.count / 500)) {
        // An expectation for each takes longer than the parser.
        if problem(of: Array(text[..<count]), &parser).isEmpty {
          Issue.record("the first \(count) bytes")
        }
      }
    }
  }

  @Test(arguments: Seeds.first(2, of: 1...100))
  func damagedTextNeitherCrashesNorHangs(seed: UInt64) throws {
    var maker = Maker(random: SeededGenerator(seed))
    var parser = ChangeParser()
    for _ in 0..<200 {
      var text = Self.written(try maker.change())
      for _ in 0..<Int.random(in: 1...4, using: &maker.random) {
        text[Int.random(in: text.indices, using: &maker.random)] =
          UInt8.random(in: .min ... .max, using: &maker.random)
      }
      _ = try? parser.change(text)
    }
  }

  @Test(
    arguments: [
      ("", "no JSON"), ("[]", "expected an object"), ("{} x", "improper structure"),
      (#"{"token":"1.x"}"#, "expected a token"),
      (
        #"{"a":"# + String(repeating: "[", count: 100) + String(repeating: "]", count: 100) + "}",
        "too deep"
      ),
      (#"{"a":"# + String(repeating: #"{"a":"#, count: 100), "improper structure"),
      (#"{"a":01}"#, "number"), (#"{"a":nul}"#, "atom"), (#"{'a':1}"#, "improper structure"),
      (#"{"a":"\x"}"#, "string"), (#"{"a":"\ud800\u0041"}"#, "string"),
      (#"{"code":"\u0000"}"#, "NUL"), (#"{"new":{"place":"a\u0000"}}"#, "NUL"),
      ("{\"a\":\"\n\"}", "must be escaped"),
      (#"{"position":1e3}"#, "integer"), (#"{"position":9223372036854775808}"#, "integer"),
      (#"{"new":{"felt":2147483648}}"#, "too large"), (#"{"new":{"magnitude":1e999}}"#, "number"),
      (#"{"new":{"time":"2024-13-01T00:00:00Z"}}"#, "expected a time"),
      (#"{"new":{"time":"+999999999-01-01T00:00:00Z"}}"#, "expected a time"),
      (#"{"op":"insert"}"#, "not a change"),
    ])
  func whatIsNoChangeIsRefused(text: String, part: String) {
    var parser = ChangeParser()
    let problem = problem(of: Array(text.utf8), &parser)
    #expect(problem.contains(part), "\(problem)")
  }

  @Test func invalidUTF8IsRefused() {
    var parser = ChangeParser()
    for bytes in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xC3]]
      as [[UInt8]]
    {
      let text = Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)
      let problem = problem(of: text, &parser)
      #expect(problem.contains("UTF-8"), "\(problem)")
    }
  }

  @Test func laterServersMayHaveMoreMembers() throws {
    var maker = Maker(random: SeededGenerator(5))
    var change = try maker.change()
    while change.op != .update { change = try maker.change() }
    let text = Self.written(change)
    var more = String(decoding: text, as: UTF8.self)
    more = more.replacing(
      #""changed":"#, with: #""more":{"a":[1,-2.5e+3,true,false,null,"\/"]},"changed":"#
    )
    .replacing(#""old":{"#, with: #""old":{"colour":[],"#)
    .replacing(#""pid":"#, with: #""host":{},"pid":"#)
    var parser = ChangeParser()
    let read = try parser.change(Array(" \(more)\r\n".utf8))
    #expect(Self.written(read) == text)
  }
}

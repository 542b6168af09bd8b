import TestSupport
import Testing

@testable import QuakeClient

/// Server-Sent Events, however the network cuts and joins their bytes.
@Suite struct EventParserTests {
  private static let stream =
    ": a comment\n\nid: 1.9f3ac2d1-1\ndata: {\"a\":1}\n\nevent: heartbeat\r\nid: 1.9f3ac2d1\r\ndata: {}\r\n\r\n"
    + "id\nretry: 5\n\ndata:one\ndata:  two\nunknown: x\n\n:\nevent:reset\ndata: é\u{2028}\n\ndata: cut off\n"

  private static let expected = [
    "|1.9f3ac2d1-1|{\"a\":1}", "heartbeat|1.9f3ac2d1|{}", "||one\n two", "reset||é\u{2028}",
  ]

  private static func events(_ parser: inout EventParser) throws -> [String] {
    var events: [String] = []
    while let event = try parser.next() {
      events.append(
        "\(event.name)|\(event.id ?? "")|\(String(decoding: event.data, as: UTF8.self))")
    }
    return events
  }

  @Test func eachCutGivesTheSameEvents() throws {
    let bytes = Array(Self.stream.utf8)
    for cut in 0...bytes.count {
      var parser = EventParser()
      parser.append(Array(bytes[..<cut]))
      var events = try Self.events(&parser)
      parser.append(Array(bytes[cut...]))
      events += try Self.events(&parser)
      #expect(events == Self.expected, "cut at \(cut)")
    }
  }

  @Test func aLineWithoutEndIsRefused() throws {
    var parser = EventParser()
    let piece = [UInt8](repeating: 0x61, count: 1 << 20)
    let error = #expect(throws: ServerError.self) {
      for _ in 0..<20 {
        parser.append(piece)
        _ = try parser.next()
      }
    }
    #expect(error?.kind == .badAnswer)
  }

  @Test func anEventWithoutEndIsRefused() throws {
    var parser = EventParser()
    let line = Array("data: ".utf8) + [UInt8](repeating: 0x61, count: 1 << 20) + [0x0A]
    #expect(throws: ServerError.self) {
      for _ in 0..<20 {
        parser.append(line)
        _ = try parser.next()
      }
    }
  }

  @Test(
    arguments: [
      ("event: colour\ndata: {}\n\n", "unknown kind, \"colour\""),
      ("data: x\n\n", "sent a change that is not valid"),
      ("event: heartbeat\ndata: {}\n\n", "sent a heartbeat that is not valid"),
      (
        "event: reset\ndata: {\"token\":\"0\",\"after\":\"0\",\"reason\":\"mood\"}\n\n",
        "sent a reset that is not valid"
      ),
    ])
  func whatIsNoStreamOfChangesIsRefused(text: String, part: String) {
    var events = EventParser()
    events.append(Array(text.utf8))
    var parser = StreamEventParser()
    let error = #expect(throws: ServerError.self) {
      while let event = try events.next() { _ = try parser.read(event) }
    }
    #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
  }
}

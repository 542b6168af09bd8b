import CommandLine
import Glibc
import QuakeConsumers
import QuakeSinks
import TestSupport
import Testing

/// Messages on standard output. One test at a time, because all attempts of a process take turns.
@Suite(.serialized) struct OutputSinkTests {
  /// A pipe, whose reader decides when it reads.
  private func pipe() throws -> (reading: Int32, writing: Int32) {
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [-1, -1]
    try #require(Glibc.pipe(&ends) == 0)
    return (ends[0], ends[1])
  }

  /// Closes the reader's end, and waits until no child that another test is starting has it any longer.
  private func closeReader(_ reading: Int32, of writing: Int32) throws {
    close(reading)
    try eventually("the pipe has no reader") {
      var end = pollfd(fd: writing, events: 0, revents: 0)
      return poll(&end, 1, 0) == 1 && Int32(end.revents) & POLLERR != 0
    }
  }

  private func long(_ letter: String) throws -> Message {
    let example = try Message.example()
    return Message(
      id: example.id, kind: .change, subject: letter, token: example.token, variables: [],
      data: "\"" + String(repeating: letter, count: 1 << 20) + "\"")
  }

  @Test func linesOfSeveralConsumersDoNotMix() throws {
    let (reading, writing) = try pipe()
    defer { close(reading) }
    var plan = OutputPlan()
    plan.descriptor = writing
    let drivers = [SinkDriver(plan), SinkDriver(plan)]
    let messages = [try long("a"), try long("b")]
    var attempts = zip(drivers, messages).map { $0.sink.begin([$1, $1]) }
    // The pipe is full: neither blocks.
    for attempt in attempts { #expect(attempt.advance() == nil) }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while !attempts.isEmpty {
      let count = read(reading, &buffer, buffer.count)
      try #require(count > 0)
      text += buffer[..<count]
      attempts.removeAll { $0.advance()?.isDelivered == true }
    }
    close(writing)
    while case let count = read(reading, &buffer, buffer.count), count > 0 {
      text += buffer[..<count]
    }
    let (a, b) = (messages[0].data, messages[1].data)
    #expect(String(decoding: text, as: UTF8.self) == [a, a, b, b, ""].joined(separator: "\n"))
  }

  /// A driver whose last line was cut.
  private func cutLine(to writing: Int32) throws -> SinkDriver {
    var plan = OutputPlan()
    plan.descriptor = writing
    let driver = SinkDriver(plan)
    let attempt = driver.sink.begin([try long("a")])
    #expect(attempt.advance() == nil)
    attempt.cancel()
    return driver
  }

  @Test func theNextLineBeginsAfterOneThatWasCut() throws {
    let (reading, writing) = try pipe()
    defer { close(reading) }
    let driver = try cutLine(to: writing)
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    #expect(read(reading, &buffer, buffer.count) > 0)
    let message = try Message.example()
    #expect(try driver.deliver([message]).isDelivered)
    let count = read(reading, &buffer, buffer.count)
    #expect(String(decoding: buffer[..<count], as: UTF8.self) == "\n\(message.data)\n")
    close(writing)
  }

  @Test func aReaderThatHasGoneAfterALineThatWasCutEndsTheProgram() throws {
    let (reading, writing) = try pipe()
    defer { close(writing) }
    let driver = try cutLine(to: writing)
    try closeReader(reading, of: writing)
    let outcome = driver.sink.begin([try .example()]).advance()
    guard case .ended(let error) = outcome else {
      Issue.record("it did not end")
      return
    }
    #expect(error as? OutputError == .closed)
  }

  @Test func aReaderThatHasGoneEndsTheProgram() throws {
    let (reading, writing) = try pipe()
    defer { close(writing) }
    try closeReader(reading, of: writing)
    var plan = OutputPlan()
    plan.descriptor = writing
    guard case .ended(let error) = try SinkDriver(plan).deliver([try .example()]) else {
      Issue.record("it did not end")
      return
    }
    #expect(error as? OutputError == .closed)
  }
}

import Basics
import Glibc
import TestSupport
import Testing

@testable import CommandLine

/// No byte is lost, and a slow reader is reported.
@Suite struct StandardOutputTests {
  init() { Signals.ignoreFailedWrites() }

  private static let size = 1 << 20  // more than a pipe, a socket or a terminal holds

  /// Bytes that depend on their positions.
  private static let bytes = (0..<size).map { UInt8(truncatingIfNeeded: 0x21 + $0 % 93) }

  /// Writes and flushes `bytes`, which are not read before the stall is reported.
  private func stall(_ output: StandardOutput, _ readEnd: Int32) throws -> (
    calls: Int, text: String
  ) {
    var calls = 0
    var reader: DescriptorReader?
    let start = MonotonicClock.now()
    output.onStall = {
      calls += 1
      #expect(MonotonicClock.now() - start >= .milliseconds(250))
      reader = DescriptorReader(readEnd, upTo: Self.size)
    }
    try output.write(Self.bytes)
    try output.flush()
    return (calls, try #require(reader).join())
  }

  @Test func aStallOfAPipeIsReportedOnce() throws {
    let pipe = try Pipe()
    let output = StandardOutput(descriptor: pipe.writeEnd)
    let (calls, text) = try stall(output, pipe.readEnd)
    #expect(calls == 1 && Array(text.utf8) == Self.bytes)
    // The descriptor must stay blocking, because other processes may share it.
    #expect(fcntl(pipe.writeEnd, F_GETFL) & O_NONBLOCK == 0)
    let (again, rest) = try stall(output, pipe.readEnd)
    #expect(again == 1 && Array(rest.utf8) == Self.bytes, "each stall is told of")
  }

  /// Pages filled in part: the pipe is full long before it holds as many bytes as it could.
  @Test func aStallOfAPipeWithGapsIsReported() throws {
    let pipe = try Pipe()
    // Two bytes do not fit behind 4095 and take a page of their own: 14 of 16 pages.
    let page = [UInt8](repeating: 0x2E, count: 4095)
    for _ in 0..<7 {
      try #require(write(pipe.writeEnd, page, 4095) == 4095)
      try #require(write(pipe.writeEnd, page, 2) == 2)
    }
    var calls = 0
    var reader: DescriptorReader?
    let output = StandardOutput(descriptor: pipe.writeEnd)
    output.onStall = {
      calls += 1
      reader = DescriptorReader(pipe.readEnd, upTo: 7 * 4097 + Self.size)
    }
    try output.write(Self.bytes)
    try output.flush()
    #expect(calls == 1)
    #expect(try #require(reader).join().utf8.suffix(Self.size).elementsEqual(Self.bytes))
  }

  @Test func aStallOfASocketIsReported() throws {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    defer { for end in ends { close(end) } }
    let (calls, text) = try stall(StandardOutput(descriptor: ends[0]), ends[1])
    #expect(calls == 1 && Array(text.utf8) == Self.bytes)
  }

  @Test func aStallOfATerminalIsReported() throws {
    let terminal = try PseudoTerminal()
    let (calls, text) = try stall(
      StandardOutput(descriptor: terminal.descriptor), terminal.master)
    #expect(calls == 1 && Array(text.utf8) == Self.bytes)
  }

  /// A reader that reads a little at a time causes short waits, which add up.
  @Test func shortWaitsAddUpToAStall() throws {
    let pipe = try Pipe()
    let output = StandardOutput(descriptor: pipe.writeEnd)
    let calls = Tally()
    output.onStall = { calls.add(1) }
    // 13 pages make the stall. On a busy machine some are read while the writer does not wait.
    let size = 2000 * 4096 + 65_536
    let reader = DescriptorReader(
      pipe.readEnd, upTo: size, pause: .milliseconds(20), until: calls)
    try output.write([UInt8](repeating: 0x61, count: size))
    try output.flush()
    #expect(calls.total == 1)
    #expect(try reader.join().utf8.count == size)
  }

  @Test func outputThatIsReadAtOnceHasNoStall() throws {
    let pipe = try Pipe()
    let output = StandardOutput(descriptor: pipe.writeEnd)
    var calls = 0
    output.onStall = { calls += 1 }
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let end = MonotonicClock.now() + StallTimer.patience * 2
    while MonotonicClock.now() < end {
      try output.write([UInt8](repeating: 0x61, count: chunk.count))
      try output.flush()
      #expect(read(pipe.readEnd, &chunk, chunk.count) == chunk.count)
    }
    #expect(calls == 0)
  }

  @Test func aStallEndsWhenTheReaderGoes() throws {
    let pipe = try Pipe()
    let output = StandardOutput(descriptor: pipe.writeEnd)
    var calls = 0
    output.onStall = {
      calls += 1
      pipe.closeReadEnd()
    }
    #expect(throws: OutputError.closed) { try output.write(Self.bytes) }
    #expect(calls == 1)
  }

  @Test func orderIsKeptAcrossTheBuffersEdge() throws {
    let pipe = try Pipe()
    let output = StandardOutput(descriptor: pipe.writeEnd, capacity: 8)
    for text in ["12345", "678", "9", "a longer one than fits", "", "end"] {
      try output.write(text)
    }
    try output.flush()
    #expect(pipe.contents() == "123456789a longer one than fitsend")
  }

  @Test func aReaderThatHasGoneIsNoticed() throws {
    let pipe = try Pipe()
    pipe.closeReadEnd()
    let output = StandardOutput(descriptor: pipe.writeEnd)
    try output.write("x")
    #expect(throws: OutputError.closed) { try output.flush() }
    // It stays so, whatever is written.
    #expect(throws: OutputError.closed) { try output.write("y") }
    #expect(throws: OutputError.closed) { try output.flush() }
  }

  @Test func aFullDiskIsAnError() throws {
    let descriptor = open("/dev/full", O_WRONLY)
    defer { close(descriptor) }
    let output = StandardOutput(descriptor: descriptor)
    try output.write("x")
    #expect(throws: OutputError.failed(code: ENOSPC)) { try output.flush() }
    #expect(
      OutputError.failed(code: ENOSPC).description
        == "could not write output: No space left on device")
  }

  @Test func aFullPipeThatDoesNotBlockIsWaitedFor() throws {
    let pipe = try Pipe()
    _ = fcntl(pipe.writeEnd, F_SETFL, O_NONBLOCK)
    let size = 1 << 20  // more than a pipe holds
    let reader = DescriptorReader(pipe.readEnd, upTo: size)
    let output = StandardOutput(descriptor: pipe.writeEnd)
    try output.write([UInt8](repeating: 0x61, count: size))
    try output.flush()
    #expect(try reader.join().utf8.count == size)
  }
}

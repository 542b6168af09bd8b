import Glibc
import Testing

@testable import CommandLine

@Suite struct StandardOutputTests {
  init() { Signals.ignoreClosedPipes() }

  @Test func bytesWaitUntilFlushed() throws {
    let pipe = try Pipe()
    let output = StandardOutput(descriptor: pipe.writeEnd)
    try output.write([UInt8]("a".utf8))
    try output.write("é")
    try output.writeLine("b")
    try [UInt8]("c".utf8).withUnsafeBytes { try output.write($0) }
    var readable = pollfd(fd: pipe.readEnd, events: Int16(POLLIN), revents: 0)
    #expect(poll(&readable, 1, 0) == 0)
    try output.flush()
    #expect(pipe.contents() == "aéb\nc")
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

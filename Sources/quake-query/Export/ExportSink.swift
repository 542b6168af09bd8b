import CommandLine
import Compression
import QuakeTool

/// Takes the bytes of an export: compresses them, and writes them to a file as a whole or to standard output.
struct ExportSink {
  private let target: ExportTarget

  init(_ target: ExportTarget) {
    self.target = target
  }

  /// Calls `body` with a function that takes the bytes.
  func write(
    _ body: (@escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws {
    guard let path = target.path else {
      let output = StandardOutput()
      let isTerminal = Terminal.isTerminal(output.descriptor)
      try body { bytes in
        if isTerminal {
          // Nothing that controls a terminal reaches it. The parts are whole events.
          try output.write(
            PrintableText.clean(String(decoding: bytes, as: UTF8.self), atMost: .max))
        } else {
          try output.write(bytes)
        }
      }
      try output.flush()
      return
    }
    Signals.install()
    do {
      try AtomicFile(path).write { part in
        let compressor = target.compression?.makeCompressor()
        try body { bytes in
          guard !Signals.stopRequested else { throw Interrupted() }
          if let compressor { try compressor.compress(bytes, part) } else { try part(bytes) }
        }
        try compressor?.finish(part)
      }
    } catch let error as AtomicFile.SystemError {
      throw FileError(
        "could not write \"\(PrintableText.line(path))\"", detail: "\(error).")
    } catch is Interrupted {
      throw FileError(
        "the export was interrupted",
        detail: "The file \"\(PrintableText.line(path))\" is as it was before.")
    }
  }

  private struct Interrupted: Error {}
}

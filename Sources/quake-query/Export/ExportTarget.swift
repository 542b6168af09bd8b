import Basics
import CommandLine
import QuakeFormat
import QuakeTool

/// Where an export goes, in which format and how compressed.
struct ExportTarget {
  /// The path of the file; nil: standard output.
  let path: String?
  let format: ExportFormat
  let compression: CompressedForm?
  /// Whether a spreadsheet is to read the CSV.
  let isForSpreadsheets: Bool

  static let options: [Option] = [
    .value(
      "format", "FORMAT", completion: .words(ExportFormat.allCases.map(\.rawValue)),
      help: "\(words.joined(separator: ", ")); by default from the ending of the file's name"),
    .flag(
      "spreadsheet",
      help: "csv that a spreadsheet can open: an apostrophe precedes texts that it would compute"),
    .output(
      help:
        "write this file instead of standard output, compressed if its name ends with .gz or .zst"),
  ]

  private static let words = ExportFormat.allCases.map(\.rawValue)

  init(_ arguments: ParsedArguments) throws(UsageError) {
    let file = arguments.string("output").flatMap { $0 == "-" ? nil : $0 }
    path = file
    isForSpreadsheets = arguments.flag("spreadsheet")
    let compression = file.flatMap { CompressedForm(fileName: $0) }
    self.compression = compression
    let name = file.map { String($0.dropLast(compression?.rawValue.utf8.count ?? 0)) }
    let wanted = arguments.string("format")
    if wanted == "parquet" || wanted == nil && name?.lowercased().hasSuffix(".parquet") == true {
      throw arguments.usageError(
        "cannot write Parquet: Debian has no C library for it; use csv or geojson, which other programs convert"
      )
    }
    if let word = try arguments.choice("format", of: Self.words) {
      format = ExportFormat(rawValue: word) ?? .geojson
    } else if let file, let name {
      guard let format = ExportFormat(fileName: name) else {
        throw arguments.usageError(
          "the ending of '\(PrintableText.line(file))' does not tell the format: give --format \(Self.words.joined(separator: "|"))"
        )
      }
      self.format = format
    } else {
      throw arguments.usageError(
        "standard output has no ending that tells the format: give --format \(Self.words.joined(separator: "|"))"
      )
    }
    guard !isForSpreadsheets || format == .csv else {
      throw arguments.usageError(
        "option --spreadsheet needs the format csv, not \(format.rawValue)")
    }
  }
}

extension ExportTarget {
  /// Calls `body` with a function that takes the bytes of an export: they are compressed, and written to a file as a
  /// whole or to standard output.
  func write(
    _ body: (@escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws {
    guard let path else {
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
        let compressor = compression?.makeCompressor()
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

import CommandLine
import Compression
import QuakeFormat

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
    compression = file.flatMap { CompressedForm(fileName: $0) }
    if arguments.string("format") == "parquet" {
      throw arguments.usageError(
        "cannot write Parquet: Debian has no C library for it; use csv or geojson, which other programs convert"
      )
    }
    if let word = try arguments.choice("format", of: Self.words) {
      format = ExportFormat(rawValue: word) ?? .geojson
      try checkSpreadsheet(arguments)
      return
    }
    guard let file else {
      throw arguments.usageError(
        "standard output has no ending that tells the format: give --format \(Self.words.joined(separator: "|"))"
      )
    }
    let name = String(file.dropLast(compression?.rawValue.utf8.count ?? 0))
    if name.lowercased().hasSuffix(".parquet") {
      throw arguments.usageError(
        "cannot write Parquet: Debian has no C library for it; use csv or geojson, which other programs convert"
      )
    }
    guard let format = ExportFormat(fileName: name) else {
      throw arguments.usageError(
        "the ending of '\(PrintableText.line(file))' does not tell the format: give --format \(Self.words.joined(separator: "|"))"
      )
    }
    self.format = format
    try checkSpreadsheet(arguments)
  }

  private func checkSpreadsheet(_ arguments: ParsedArguments) throws(UsageError) {
    guard isForSpreadsheets, format != .csv else { return }
    throw arguments.usageError("option --spreadsheet needs the format csv, not \(format.rawValue)")
  }
}

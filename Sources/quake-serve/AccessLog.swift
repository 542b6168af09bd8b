import Basics
import CommandLine
import QuakeServer
import QuakeTool

/// The log of the server: a line for each request, and its messages. Text from clients is made safe to print.
struct AccessLog: Sendable {
  private let diagnostics: Diagnostics

  init(_ diagnostics: Diagnostics) {
    self.diagnostics = diagnostics
  }

  /// Writes a request that has ended.
  func write(_ record: EventServer.AccessRecord) {
    let target = Self.printable(record.target)
    let milliseconds = record.duration.inSeconds * 1000
    let size = record.size.map { " \($0)" } ?? " stream"
    diagnostics.note(
      """
      \(record.client) \(record.method.isEmpty ? "?" : record.method) \(target) \(record.status)\(size) \
      \(Int(milliseconds.rounded())) ms
      """,
      fields: [
        "client": .text(record.client), "method": .text(record.method), "target": .text(target),
        "status": .integer(Int64(record.status)), "bytes": record.size.map { .integer(Int64($0)) },
        "milliseconds": .number(milliseconds),
        "user_agent": record.userAgent.map { .text(Self.printable($0)) },
      ])
  }

  /// Logs an error whose cause the client's answer leaves out.
  func failed(_ target: String, _ error: any Error) {
    let failure = Failure(error) ?? Failure(.failed, "\(error)")
    diagnostics.warning(
      "could not answer \(Self.printable(target)): \(failure.message)", detail: failure.detail,
      hint: failure.hint)
  }

  func write(_ notice: ServerNotice) {
    let hint = notice.hint
    switch notice.level {
    case .note: diagnostics.note(notice.message, detail: notice.detail, hint: hint)
    case .warning: diagnostics.warning(notice.message, detail: notice.detail, hint: hint)
    case .error:
      diagnostics.error(notice.message, detail: notice.detail, hints: hint.map { [$0] } ?? [])
    }
  }

  /// The most characters of a target that are written.
  private static let longest = 500

  private static func printable(_ text: String) -> String {
    PrintableText.line(String(text.prefix(longest)))
  }
}

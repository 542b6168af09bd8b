import Glibc
import QuakeModel

/// Checks the limits of a column's values, which are the same for every format, and sets the value in the
/// record.
enum FieldCheck {
  /// The most bytes of a text for people, or of a list.
  static let maximumTextBytes = 64 * 1024
  /// The most bytes of a short text: a network's name, a type, a status.
  static let maximumWordBytes = 1024
  /// The most bytes of a code, and of each id that an event lists, because both are keys.
  static let maximumCodeBytes = 256

  private static func limit(of column: QuakeColumn) -> Int {
    switch column {
    case .code: maximumCodeBytes
    case .place, .title, .url, .detail, .ids, .sources, .types: maximumTextBytes
    default: maximumWordBytes
    }
  }

  /// Sets a number after checking that it is finite and within the column's range.
  static func set(
    _ value: Double, _ column: QuakeColumn, in record: inout QuakeRecord
  ) throws(Rejection) {
    let range: ClosedRange<Double>
    switch column {
    case .latitude: range = -90...90
    case .longitude: range = -180...180
    case .magnitude: range = -10...12
    case .depth: range = -100...7000
    default: range = -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
    }
    guard range.contains(value) else {
      let limits = value.isFinite ? "\(text(range.lowerBound)) to \(text(range.upperBound))" : ""
      throw Rejection(
        value.isFinite
          ? "The \(name(column)) \(text(value)) is outside \(limits)."
          : "The \(name(column)) is not a finite number.")
    }
    record.set(column, value)
  }

  /// Sets a whole number after checking that the column can hold it.
  static func set(
    integer value: Int, _ column: QuakeColumn, in record: inout QuakeRecord
  ) throws(Rejection) {
    let fits = column.kind == .int2 ? Int16(exactly: value) != nil : Int32(exactly: value) != nil
    guard fits else { throw Rejection("The \(name(column)) \(value) is too large a number.") }
    record.set(column, integer: value)
  }

  /// Sets a text, known to be UTF-8, after checking its size and that it holds no NUL, which
  /// PostgreSQL cannot store.
  static func set(
    utf8: UnsafeRawBufferPointer, _ column: QuakeColumn, in record: inout QuakeRecord
  ) throws(Rejection) {
    if let start = utf8.baseAddress, memchr(start, 0, utf8.count) != nil {
      throw Rejection("The \(name(column)) contains the character NUL.")
    }
    let limit = limit(of: column)
    guard utf8.count <= limit else {
      throw Rejection(
        "The \(name(column)) is too long: \(utf8.count) bytes, where \(limit) are allowed.")
    }
    if column == .ids, utf8.count > maximumCodeBytes { try checkIDs(utf8) }
    if column == .code, utf8.isEmpty { throw Rejection("The event's code is empty.") }
    record.set(column, utf8: utf8)
  }

  private static func checkIDs(_ ids: UnsafeRawBufferPointer) throws(Rejection) {
    for id in ids.split(separator: UInt8(ascii: ",")) where id.count > maximumCodeBytes {
      throw Rejection(
        "One of the ids is too long: \(id.count) bytes, where \(maximumCodeBytes) are allowed.")
    }
  }

  /// Checks the required columns, and under the strict rule also magnitude and place.
  static func checkComplete(_ record: QuakeRecord, strict: Bool) throws(Rejection) {
    guard record.has(.code) else { throw Rejection("The event has no code.") }
    guard record.has(.time) else { throw Rejection("The event has no time.", of: .time) }
    guard record.has(.longitude), record.has(.latitude) else {
      throw Rejection("The event has no coordinates.")
    }
    guard strict else { return }
    guard record.has(.magnitude) else {
      throw Rejection("The event has no magnitude, which the strict rule asks for.")
    }
    guard record.has(.place) else {
      throw Rejection("The event has no place, which the strict rule asks for.")
    }
  }

  /// Throws if an export of ours marks the event as withdrawn or superseded: by its type, and by its status
  /// where the format has one. An import of such an event would restore it.
  static func checkNotPast(_ record: QuakeRecord, byStatus: Bool = true) throws(Rejection) {
    guard record.withUTF8(.type, { isWord("not existing", $0) }),
      !byStatus || record.withUTF8(.status, { isWord("deleted", $0) })
    else { return }
    throw Rejection("The event was withdrawn or superseded when it was exported.")
  }

  private static func isWord(_ word: StaticString, _ text: UnsafeRawBufferPointer?) -> Bool {
    guard let text, text.count == word.utf8CodeUnitCount else { return false }
    return word.withUTF8Buffer { UnsafeRawBufferPointer($0).elementsEqual(text) }
  }

  /// The column's name as words.
  static func name(_ column: QuakeColumn) -> String {
    String(column.name.map { $0 == "_" ? " " : $0 })
  }

  /// A number without the `.0` that Swift appends to whole numbers.
  private static func text(_ value: Double) -> String {
    Int(exactly: value).map(String.init) ?? "\(value)"
  }
}

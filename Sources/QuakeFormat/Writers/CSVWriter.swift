internal import QuakeModel

/// CSV (RFC 4180) with the 22 columns of USGS's files. Those that the store does not have stay empty:
/// horizontalError, depthError, magError, magNst, locationSource and magSource.
struct CSVWriter: TextEventWriter {
  static let header: StaticString =
    """
    time,latitude,longitude,depth,mag,magType,nst,gap,dmin,rms,net,id,updated,place,type,\
    horizontalError,depthError,magError,magNst,status,locationSource,magSource

    """

  var out = TextWriter()
  private let isForSpreadsheets: Bool

  /// - Parameter isForSpreadsheets: Whether an apostrophe precedes texts that a spreadsheet would compute.
  init(isForSpreadsheets: Bool = false) {
    self.isForSpreadsheets = isForSpreadsheets
  }

  mutating func begin(_ head: DocumentHead) { out.literal(Self.header) }

  mutating func event(_ event: EventRecord, revision: Int64?) {
    if let time = event.time { out.timestamp(time) }
    number(event, .latitude)
    number(event, .longitude)
    number(event, .depth)
    number(event, .magnitude)
    text(event, .magnitudeType)
    out.byte(UInt8(ascii: ","))
    if let nst = event.stationCount { out.integer(nst) }
    number(event, .gap)
    number(event, .dmin)
    number(event, .rms)
    text(event, .net)
    text(event, .code)
    out.byte(UInt8(ascii: ","))
    if let updated = event.updated { out.timestamp(updated) }
    text(event, .place, isQuoted: true)
    if event.isPast {
      out.literal(",not existing,,,,,deleted,,\n")
    } else {
      text(event, .type)
      out.literal(",,,,")
      text(event, .status)
      out.literal(",,\n")
    }
  }

  mutating func end() {}

  private mutating func number(_ event: EventRecord, _ column: EventColumn) {
    out.byte(UInt8(ascii: ","))
    if let value = event.double(column), value.isFinite { out.double(value) }
  }

  private mutating func text(
    _ event: EventRecord, _ column: EventColumn, isQuoted: Bool = false
  ) {
    out.byte(UInt8(ascii: ","))
    event.withUTF8(column) { (utf8: UnsafeRawBufferPointer?) in
      guard let utf8 else { return }
      let isFormula = isForSpreadsheets && Self.isFormula(utf8)
      guard isQuoted || isFormula || Self.needsQuotes(utf8) else { return out.bytes(utf8) }
      out.byte(UInt8(ascii: "\""))
      if isFormula { out.byte(UInt8(ascii: "'")) }
      var rest = utf8[...]
      while let quote = rest.firstIndex(of: UInt8(ascii: "\"")) {
        out.bytes(UnsafeRawBufferPointer(rebasing: rest[...quote]))
        out.byte(UInt8(ascii: "\""))
        rest = rest[(quote + 1)...]
      }
      out.bytes(UnsafeRawBufferPointer(rebasing: rest))
      out.byte(UInt8(ascii: "\""))
    }
  }

  /// Whether a spreadsheet takes a text for a formula. Some of them skip white space before it.
  private static func isFormula(_ utf8: UnsafeRawBufferPointer) -> Bool {
    switch utf8.first(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }) {
    case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"): true
    default: false
    }
  }

  private static func needsQuotes(_ utf8: UnsafeRawBufferPointer) -> Bool {
    utf8.contains {
      $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") || $0 == 0x0A || $0 == 0x0D
    }
  }
}

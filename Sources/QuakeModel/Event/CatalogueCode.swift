internal import Glibc

/// The rule by which an event's code tells its catalogue: codes of all catalogues but USGS's begin with the
/// name of the catalogue and a colon, such as `emsc:20240424_0000123`. Those of simulated events begin with
/// `sim`.
public enum CatalogueCode {
  /// The catalogue of codes without a name.
  public static let unnamed: StaticString = "usgs"
  /// The catalogue of simulated events, which never happened.
  public static let simulated: StaticString = "simulated"

  /// Whether the code is one that the simulator makes: `sim`, a network of two letters, and a digit, as in
  /// `simus6000abav`. No real network has a name that begins with `sim`.
  public static func isSimulated(_ code: UnsafeRawBufferPointer) -> Bool {
    guard code.count > 5, code.prefix(3).elementsEqual("sim".utf8) else { return false }
    return (0x61...0x7A).contains(code[3]) && (0x61...0x7A).contains(code[4])
      && (0x30...0x39).contains(code[5])
  }

  /// Calls `body` with the name of the catalogue that the code tells.
  public static func withSource<Result>(
    of code: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    if let length = nameLength(in: code) {
      return body(UnsafeRawBufferPointer(rebasing: code[..<length]))
    }
    let name = isSimulated(code) ? simulated : unnamed
    return name.withUTF8Buffer { body(UnsafeRawBufferPointer($0)) }
  }

  /// The length of the catalogue's name at the beginning of a code; nil if the code has none. A name is 1 to
  /// 64 lower-case letters, digits, dots, hyphens and underscores.
  public static func nameLength(in code: UnsafeRawBufferPointer) -> Int? {
    for (length, byte) in code.prefix(65).enumerated() {
      switch byte {
      case UInt8(ascii: ":"): return length > 0 && length + 1 < code.count ? length : nil
      case 0x61...0x7A, 0x30...0x39, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): break
      default: return nil
      }
    }
    return nil
  }

  /// Whether the code tells that catalogue.
  public static func tells(
    _ source: UnsafeRawBufferPointer, in code: UnsafeRawBufferPointer
  ) -> Bool {
    withSource(of: code) { $0.elementsEqual(source) }
  }
}

extension EventRecord {
  /// Whether the record's code tells its catalogue.
  public var codeTellsSource: Bool {
    withUTF8(.code) { (code: UnsafeRawBufferPointer?) -> Bool in
      guard let code else { return false }
      return withUTF8(.source) { source in
        source.map { CatalogueCode.tells($0, in: code) } ?? false
      }
    }
  }

  /// Whether the simulator has invented the event: it never happened.
  public var isSimulated: Bool {
    withUTF8(.source) { source in
      guard let source, source.count == CatalogueCode.simulated.utf8CodeUnitCount else {
        return false
      }
      return CatalogueCode.simulated.withUTF8Buffer { source.elementsEqual($0) }
    }
  }
}

/// An event's code, compared byte by byte as the database does. Swift takes texts for equal that are written with other
/// characters and look alike.
package struct EventCode: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
  package let text: String

  package init(_ text: String) { self.text = text }

  package init(stringLiteral text: String) { self.text = text }

  package static func == (a: EventCode, b: EventCode) -> Bool {
    var (a, b) = (a.text, b.text)
    return a.withUTF8 { a in
      b.withUTF8 { b in
        guard a.count == b.count, let left = a.baseAddress, let right = b.baseAddress else {
          return a.isEmpty && b.isEmpty
        }
        return memcmp(left, right, a.count) == 0
      }
    }
  }

  package static func < (a: EventCode, b: EventCode) -> Bool {
    a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

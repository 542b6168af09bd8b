/// The rule by which an event's code tells its catalogue: codes of all catalogues but USGS's begin with the
/// name of the catalogue and a colon, such as `emsc:20240424_0000123`.
public enum CatalogueCode {
  /// The catalogue of codes without a name.
  public static let unnamed: StaticString = "usgs"

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
    guard let length = nameLength(in: code) else {
      return unnamed.withUTF8Buffer { UnsafeRawBufferPointer($0).elementsEqual(source) }
    }
    return code.prefix(length).elementsEqual(source)
  }
}

extension QuakeRecord {
  /// Whether the record's code tells its catalogue.
  public var codeTellsSource: Bool {
    withUTF8(.code) { (code: UnsafeRawBufferPointer?) -> Bool in
      guard let code else { return false }
      return withUTF8(.source) { source in
        source.map { CatalogueCode.tells($0, in: code) } ?? false
      }
    }
  }
}

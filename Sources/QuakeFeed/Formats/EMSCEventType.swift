/// EMSC's event types, two letters of the international bulletin format (IMS 1.0): the certainty and the
/// type.
enum EMSCEventType {
  /// QuakeML's word for the type; nil if QuakeML has none.
  static func name(of code: UnsafeRawBufferPointer) -> StaticString? {
    guard code.count == 2 else { return nil }
    if code.elementsEqual("ls".utf8) { return "landslide" }
    if code.elementsEqual("uk".utf8) { return "not reported" }
    switch code[0] {
    case UInt8(ascii: "k"), UInt8(ascii: "s"), UInt8(ascii: "f"), UInt8(ascii: "d"): break
    default: return nil
    }
    switch code[1] {
    case UInt8(ascii: "e"): return "earthquake"
    case UInt8(ascii: "x"): return "explosion"
    case UInt8(ascii: "h"): return "chemical explosion"
    case UInt8(ascii: "m"): return "mining explosion"
    case UInt8(ascii: "n"): return "nuclear explosion"
    case UInt8(ascii: "r"): return "rock burst"
    case UInt8(ascii: "i"): return "induced or triggered event"
    default: return nil
    }
  }
}

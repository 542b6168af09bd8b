/// A CSV file with a header, read by a simple parser to check the tools' reader.
struct CSVTable {
  let rows: [[String: String]]

  init(_ text: String) throws {
    var table: [[String]] = [[]]
    var isQuoted = false
    // Bytes, because characters take ten times as long.
    var text = text
    text.withUTF8 { bytes in
      var field: [UInt8] = []
      func end() {
        table[table.count - 1].append(String(decoding: field, as: UTF8.self))
        field.removeAll(keepingCapacity: true)
      }
      for byte in bytes {
        switch byte {
        case UInt8(ascii: "\""): isQuoted.toggle()
        case UInt8(ascii: ",") where !isQuoted: end()
        case UInt8(ascii: "\n") where !isQuoted:
          end()
          table.append([])
        case UInt8(ascii: "\r"): break
        default: field.append(byte)
        }
      }
      if !field.isEmpty { end() }
    }
    let header = table[0]
    rows = table.dropFirst().filter { $0.count == header.count }
      .map { Dictionary(uniqueKeysWithValues: zip(header, $0)) }
  }
}

import Glibc

/// A CSV file with a header, read by a simple parser to check the tools' reader.
struct CSVTable {
  let rows: [[String: String]]

  init(_ text: String) throws {
    var table: [[String]] = [[]]
    var isQuoted = false
    // Tests are not optimised: a loop over all bytes would take most of a test's time.
    var field: [UInt8] = []
    func end() {
      table[table.count - 1].append(String(decoding: field, as: UTF8.self))
      field.removeAll(keepingCapacity: true)
    }
    text.withCString { start in
      var place = start
      while true {
        let length = strcspn(place, "\",\r\n")
        field += UnsafeRawBufferPointer(start: place, count: length)
        place += length
        switch UInt8(bitPattern: place.pointee) {
        case 0: return
        case UInt8(ascii: "\""): isQuoted.toggle()
        case UInt8(ascii: ",") where !isQuoted: end()
        case UInt8(ascii: "\n") where !isQuoted:
          end()
          table.append([])
        case UInt8(ascii: "\r"): break
        case let byte: field.append(byte)
        }
        place += 1
      }
    }
    if !field.isEmpty { end() }
    let header = table[0]
    rows = table.dropFirst().filter { $0.count == header.count }
      .map { Dictionary(uniqueKeysWithValues: zip(header, $0)) }
  }
}

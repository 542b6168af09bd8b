/// A CSV file with a header, read by a simple parser to check the tools' reader.
struct CSVTable {
  let rows: [[String: String]]

  init(_ text: String) throws {
    var table: [[String]] = [[]]
    var field = ""
    var isQuoted = false
    var characters = text.replacing("\r\n", with: "\n").makeIterator()
    while let character = characters.next() {
      switch character {
      case "\"": isQuoted.toggle()
      case "," where !isQuoted:
        table[table.count - 1].append(field)
        field = ""
      case "\n" where !isQuoted:
        table[table.count - 1].append(field)
        field = ""
        table.append([])
      default: field.append(character)
      }
    }
    if !field.isEmpty { table[table.count - 1].append(field) }
    let header = table[0]
    rows = table.dropFirst().filter { $0.count == header.count }
      .map { Dictionary(uniqueKeysWithValues: zip(header, $0)) }
  }
}

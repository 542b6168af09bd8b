import QuakeModel

extension QuakeRecord {
  /// Sets `source` to the catalogue that the code tells.
  mutating func setInferredSource(scratch: inout [UInt8]) {
    scratch.removeAll(keepingCapacity: true)
    withUTF8(.code) { code in
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      CatalogueCode.withSource(of: code ?? none) { scratch.append(contentsOf: $0) }
    }
    scratch.withUnsafeBytes { set(.source, utf8: $0) }
  }

  /// Sets `net_code` to the part after the network in USGS's id, for formats without a field for it. If the
  /// id does not begin with the network, because an older id may remain when `net` changes, `net_code` stays
  /// null.
  mutating func setNetCode(scratch: inout [UInt8]) {
    scratch.removeAll(keepingCapacity: true)
    let netCount = withUTF8(.net) { $0?.count ?? 0 }
    guard netCount > 0 else { return }
    withUTF8(.code) { code in
      guard let code, code.count > netCount else { return }
      if let length = CatalogueCode.nameLength(in: code) {
        return scratch.append(contentsOf: code[(length + 1)...])
      }
      let startsWithNet = withUTF8(.net) { net in net.map { code.starts(with: $0) } ?? false }
      if startsWithNet { scratch.append(contentsOf: code[netCount...]) }
    }
    guard !scratch.isEmpty else { return }
    scratch.withUnsafeBytes { set(.netCode, utf8: $0) }
  }
}

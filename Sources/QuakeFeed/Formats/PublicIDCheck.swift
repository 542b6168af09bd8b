/// Finds two identifiers of one document that lead to one code: of two events with one code, an import would
/// keep the last.
struct PublicIDCheck {
  /// The most codes that are compared, in about 6 MiB.
  private static let mostCodes = 1 << 18
  private static let mostFrames = 4096

  private var frames: [PublicID.Frame] = []
  private var places: [PublicID.Frame: UInt32] = [:]
  private var known: [UInt64: UInt32] = [:]

  /// Adds the identifier of an event. Returns the other identifier that leads to the same code; nil: there is
  /// none.
  mutating func add(_ id: PublicID, code: UnsafeRawBufferPointer?) -> String? {
    guard let code, let place = place(of: id.frame) else { return nil }
    var hasher = Hasher()
    hasher.combine(bytes: code)
    let key = UInt64(bitPattern: Int64(hasher.finalize()))
    guard let other = known[key] else {
      if known.count < Self.mostCodes { known[key] = place }
      return nil
    }
    return other == place ? nil : PublicID.text(of: id.name, in: frames[Int(other)])
  }

  private mutating func place(of frame: PublicID.Frame) -> UInt32? {
    if let place = places[frame] { return place }
    guard frames.count < Self.mostFrames else { return nil }
    let place = UInt32(frames.count)
    frames.append(frame)
    places[frame] = place
    return place
  }
}

/// An element whose text is read.
enum XMLLeaf: UInt8 {
  case generated
  case preferredOrigin, preferredMagnitude, eventType, originReference
  case descriptionText, descriptionType
  case eventAgency, created, modified
  case time, longitude, latitude, depth, stations, rms, gap, distance, mode, status, originAgency
  case magnitudeValue, magnitudeType, magnitudeOrigin
}

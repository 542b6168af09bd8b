/// The two kinds of documents.
enum XMLDialect {
  /// QuakeML: an event contains its origins and magnitudes, and depths are in metres.
  case quakeML
  /// SeisComP's XML (SC3ML, SCML): an event refers to origins before it, which contain their magnitudes, and
  /// depths are in kilometres.
  case seisComP
}

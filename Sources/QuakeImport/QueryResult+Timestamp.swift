internal import Postgres
internal import QuakeModel

extension QueryResult {
  /// A `timestamptz` in the binary format; nil for null.
  func timestamp(_ row: Int, _ column: Int) -> Timestamp? {
    binaryTimestamp(row, column).map { Timestamp(microseconds: $0) }
  }
}

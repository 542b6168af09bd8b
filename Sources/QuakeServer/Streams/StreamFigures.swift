import Synchronization

/// The figures of the streams as other threads see them.
final class StreamFigures: Sendable {
  /// The time from the commit of a change to the moment at which it was handed to a client's socket, for each
  /// client that was there.
  let delay = Histogram()
  private let statistics = Mutex(StreamStatistics())

  /// The figures as they are now.
  var now: StreamStatistics { statistics.withLock { $0 } }

  func publish(_ new: StreamStatistics) {
    statistics.withLock { $0 = new }
  }
}

/// Ends a thread with the last reference to it: when an iterator is dropped its connection is closed.
final class PullHandle<Element: Sendable>: Sendable {
  let thread: PullThread<Element>

  init(_ thread: PullThread<Element>) {
    self.thread = thread
  }

  deinit {
    thread.stop()
  }
}

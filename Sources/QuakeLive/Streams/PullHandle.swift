/// Ends a thread when the last reference to it is gone: a dropped iterator closes its connection.
final class PullHandle<Element: Sendable>: Sendable {
  let thread: PullThread<Element>

  init(_ thread: PullThread<Element>) {
    self.thread = thread
  }

  deinit {
    thread.stop()
  }
}

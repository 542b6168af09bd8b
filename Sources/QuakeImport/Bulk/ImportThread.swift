internal import Basics
internal import Glibc
internal import Postgres
internal import QuakeModel
internal import SwiftOverlayShims  // where this compiler finds the members of timespec

/// A connection with a thread of its own, which does one piece of work at a time while its owner does
/// something else.
///
/// It is a thread and not a task because libpq blocks, and because the tools do not link Swift's concurrency
/// runtime.
///
/// `@unchecked Sendable`: `work`, `outcome` and `isOver` are only read and written with the mutex held. The
/// objects that the work uses (the connection, a batch) are used by the thread alone from `start` to
/// `finish`, and by the owner's thread at other times; the mutex orders the two.
final class ImportThread: @unchecked Sendable {
  let connection: Connection
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>
  private var work: (() throws -> ImportReport)?
  private var outcome: Result<ImportReport, any Error>?
  private var isOver = false
  private var thread = pthread_t()

  init(_ connection: Connection) throws(ThreadError) {
    self.connection = connection
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    changed = .allocate(capacity: 1)
    changed.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(changed, &attributes)
    pthread_condattr_destroy(&attributes)
    let argument = Unmanaged.passUnretained(self).toOpaque()
    let status = pthread_create(
      &thread, nil,
      { argument in
        if let argument { Unmanaged<ImportThread>.fromOpaque(argument).takeUnretainedValue().run() }
        return nil
      }, argument)
    guard status == 0 else { throw ThreadError(status) }
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  /// Runs `body` on the thread. The work before must be finished.
  func start(_ body: @escaping () throws -> ImportReport) {
    pthread_mutex_lock(mutex)
    precondition(work == nil && outcome == nil, "an import thread does one piece of work at a time")
    work = body
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(mutex)
  }

  /// Waits for the work, at most for the given time. Returns whether it is done.
  func isDone(within milliseconds: Int) -> Bool {
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    let nanoseconds = deadline.tv_nsec + milliseconds * 1_000_000
    deadline.tv_sec += nanoseconds / 1_000_000_000
    deadline.tv_nsec = nanoseconds % 1_000_000_000
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while work != nil {
      let status = pthread_cond_timedwait(changed, mutex, &deadline)
      if status == ETIMEDOUT { return work == nil }
    }
    return true
  }

  /// Waits until the work is done, if there is any. Returns its result, or throws its error.
  func finish() throws -> ImportReport? {
    pthread_mutex_lock(mutex)
    while work != nil { pthread_cond_wait(changed, mutex) }
    let result = outcome
    outcome = nil
    pthread_mutex_unlock(mutex)
    return try result?.get()
  }

  /// Ends the thread after the present work. To be called once, before the object is released.
  func close() {
    _ = try? finish()
    pthread_mutex_lock(mutex)
    isOver = true
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(mutex)
    pthread_join(thread, nil)
  }

  private func run() {
    pthread_mutex_lock(mutex)
    while true {
      while work == nil, !isOver { pthread_cond_wait(changed, mutex) }
      guard let body = work else { break }
      pthread_mutex_unlock(mutex)
      let result = Result { try body() }
      pthread_mutex_lock(mutex)
      work = nil
      outcome = result
      pthread_cond_broadcast(changed)
    }
    pthread_mutex_unlock(mutex)
  }
}

import Basics
import CLinux
import CommandLine
import Glibc
import SwiftOverlayShims  // where this compiler finds the members of timeval

/// Runs a program to its end and measures its cost.
struct MeasuredChild {
  /// The resources that the system reports for it.
  struct Usage {
    var seconds: Double
    /// Processor time of the program and of those children that it has waited for.
    var cpu: Double
    /// Processor time of all processes on the machine meanwhile.
    var machineCPU: Double
    /// The largest memory of the program or a child of it, in bytes.
    var peakMemory: Int
    /// Its standard output.
    var output: [UInt8]
  }

  /// The folder for the files with its output.
  let folder: String

  /// Runs a program; throws unless it ends with status 0.
  func run(_ program: ChildProcess) throws -> Usage {
    let output = try descriptor("output", O_RDWR | O_CREAT | O_TRUNC)
    defer { close(output) }
    let errors = try descriptor("errors", O_RDWR | O_CREAT | O_TRUNC)
    defer { close(errors) }
    let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(nothing) }

    Self.shrink()
    let busy = SystemLoad.busy
    let begun = MonotonicClock.now()
    let pid = try program.spawn(
      ChildProcess.Descriptors(input: nothing, output: output, errors: errors))
    var status: Int32 = 0
    var usage = rusage()
    while wait4(pid, &status, 0, &usage) < 0 {
      guard errno == EINTR else { throw BenchFailure("could not wait for a program") }
    }
    let elapsed = (MonotonicClock.now() - begun).inSeconds
    let machineCPU = SystemLoad.busy - busy
    guard status == 0 else {
      try Run.stopIfAsked()
      throw BenchFailure(
        "\(program.executable) failed",
        detail: String(decoding: Self.contents(errors).suffix(2000), as: UTF8.self))
    }
    return Usage(
      seconds: elapsed, cpu: Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime),
      machineCPU: machineCPU, peakMemory: usage.ru_maxrss * 1024, output: Self.contents(output))
  }

  /// A child starts in its parent's memory, which the system counts in the child's peak. So this
  /// program releases idle memory, and resets its own peak.
  private static func shrink() {
    quake_release_idle_memory()
    let descriptor = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    write(descriptor, "5", 1)
    close(descriptor)
  }

  private func descriptor(_ name: String, _ flags: Int32) throws -> Int32 {
    let path = "\(folder)/\(name)"
    let descriptor = open(path, flags | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw BenchFailure("could not make file \"\(path)\": \(String(cString: strerror(errno)))")
    }
    return descriptor
  }

  private static func seconds(_ time: timeval) -> Double {
    Double(time.tv_sec) + Double(time.tv_usec) / 1e6
  }

  private static func contents(_ descriptor: Int32) -> [UInt8] {
    let size = lseek(descriptor, 0, SEEK_END)
    guard size > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: Int(size))
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return Array(bytes.prefix(max(0, count)))
  }
}

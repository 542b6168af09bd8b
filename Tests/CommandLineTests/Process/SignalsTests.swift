import Basics
import Glibc
import Testing

/// Each runs `Tests/TestProbe` in a process of its own, since signals belong to the whole process.
/// (The testing library's exit tests wait for any child of the process, which may be one of another
/// suite.)
@Suite struct SignalsTests {
  @Test(
    arguments: [
      ("int-after-term", .exited(130)), ("term-twice", .exited(143)), ("wake", .exited(7)),
      ("readable", .exited(7)), ("defaults", .signalled(SIGTERM)),
    ] as [(String, ChildProcess.Ending)])
  func eachScenarioOfSignalsEndsAsExpected(name: String, ending: ChildProcess.Ending) throws {
    var process = ChildProcess(try Self.probe(), [name])
    process.timeout = .seconds(180)
    #expect(try process.run().ending == ending)
  }

  /// Built into the folder that the tests themselves are in.
  static func probe() throws -> String {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    let bytes = path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
    let own = String(decoding: bytes, as: UTF8.self)
    let folder = own[..<(try #require(own.lastIndex(of: "/")))]
    return folder + "/test-probe"
  }
}

import Glibc
import QuakeModel
import Testing

@testable import QuakeSimulator

extension ServerTests {
  @Suite(.serialized) struct FeedFileWriterTests {
    /// The bytes that the writer writes to a file.
    private func written(_ writer: FeedFileWriter) throws -> [UInt8] {
      let file = try #require(tmpfile())
      defer { fclose(file) }
      let descriptor = fileno(file)
      let count = try writer.write(to: descriptor)
      var bytes = [UInt8](repeating: 0, count: count + 1)
      var position = 0
      while position < bytes.count {
        let remaining = bytes.count - position
        let got = bytes.withUnsafeMutableBytes { buffer in
          buffer.baseAddress.map { pread(descriptor, $0 + position, remaining, off_t(position)) }
            ?? 0
        }
        if got <= 0 { break }
        position += got
      }
      #expect(position == count)
      bytes.removeLast()
      return bytes
    }

    @Test func validJSONOfTheRightCount() throws {
      for count in [0, 1, 5000] {
        let bytes = try written(FeedFileWriter(seed: 1, events: count, now: noon))
        let document = try JSONValue(bytes)
        let features = document["features"]?.elements ?? []
        #expect(features.count == count)
        #expect(features.allSatisfy { $0["type"]?.text == "Feature" })
        #expect(document["metadata"]?["count"]?.number == Double(count))
        #expect(Set(features.compactMap { $0["id"]?.text }).count == count)
        let times = features.compactMap { $0["properties"]?["time"]?.number }
        #expect(times == times.sorted(by: >) && times.count == count)
      }
    }

    @Test func sameSeedSameBytes() throws {
      let writer = FeedFileWriter(seed: 2, events: 2000, now: noon)
      let bytes = try written(writer)
      #expect(try written(writer) == bytes)
      var other = writer
      other.seed = 3
      #expect(try written(other) != bytes)
      #expect(bytes.split(separator: 0x0A).count == 2000)
    }

    /// Exactly the requested number is revised, and the bytes of the others stay the same.
    @Test func someEventsAreRevised() throws {
      let writer = FeedFileWriter(seed: 2, events: 400, now: noon)
      let before = try JSONValue(try written(writer))
      for count in [1, 40, 400] {
        var later = writer
        later.revised = count
        let after = try JSONValue(try written(later))
        let events = (before["features"]?.elements ?? [], after["features"]?.elements ?? [])
        #expect(zip(events.0, events.1).count { $0 != $1 } == count)
        #expect(events.0.map { $0["id"]?.text } == events.1.map { $0["id"]?.text })
        let generated = (before["metadata"]?["generated"], after["metadata"]?["generated"])
        #expect(generated.1?.number == generated.0?.number.map { $0 + 60_000 })
      }
    }

    @Test func anotherFirstSerialGivesOtherIDs() throws {
      var writer = FeedFileWriter(seed: 2, events: 2000, now: noon)
      let ids = try [0, 10_000].map { serial in
        writer.serial = serial
        let document = try JSONValue(try written(writer))
        return Set((document["features"]?.elements ?? []).compactMap { $0["id"]?.text })
      }
      #expect(ids[0].count == 2000 && ids[1].count == 2000 && ids[0].isDisjoint(with: ids[1]))
    }

    @Test func theProgressCallbackCanStopTheWriter() throws {
      let file = try #require(tmpfile())
      defer { fclose(file) }
      var reported: [Int] = []
      let writer = FeedFileWriter(seed: 2, events: 3000, now: noon)
      try writer.write(to: fileno(file)) { count in
        reported.append(count)
        return true
      }
      #expect(reported.count > 5 && reported.last == 3000 && reported == reported.sorted())
      reported = []
      try writer.write(to: fileno(file)) { count in
        reported.append(count)
        return false
      }
      #expect(reported.count == 1)
    }

    @Test func aFullDiskIsAnError() throws {
      let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
      try #require(full >= 0)
      defer { close(full) }
      do {
        try FeedFileWriter(seed: 1, events: 10, now: noon).write(to: full)
        Issue.record("writing to /dev/full succeeded")
      } catch {
        #expect(error.message == "could not write simulated events: No space left on device")
      }
    }
  }
}

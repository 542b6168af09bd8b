import Basics
import Testing

@testable import QuakeFeed

@Suite struct FeedReferenceTests {
  private func failure(_ text: String) -> FeedError? {
    do throws(FeedError) {
      _ = try FeedReference(text)
      return nil
    } catch {
      return error
    }
  }

  @Test func thereAreTwentyFeedNames() throws {
    #expect(FeedReference.knownNames.count == 20)
    let reference = try FeedReference("4.5_day")
    #expect(
      reference.location
        == .url("https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary/4.5_day.geojson"))
    #expect(reference.name == "4.5_day")
    for base in ["http://localhost:1/x", "http://localhost:1/x/"] {
      let mirror = try FeedReference("significant_month", baseURL: base)
      #expect(mirror.description == "http://localhost:1/x/significant_month.geojson")
    }
  }

  @Test func aURLHasANameAndHidesItsSecrets() throws {
    let plain = try FeedReference("https://example.org/a/all_day.geojson?x=1")
    #expect(plain.name == "all_day")
    #expect(plain.description == "https://example.org/a/all_day.geojson?x=***")
    let secret = try FeedReference("HTTPS://me:p@ss@example.org:8080/4.5_week.csv.gz#x@y")
    #expect(secret.location == .url("HTTPS://me:p@ss@example.org:8080/4.5_week.csv.gz#x@y"))
    #expect(secret.description == "HTTPS://example.org:8080/4.5_week.csv.gz#***")
    #expect(secret.name == "4.5_week")
    #expect(try FeedReference("http://me:pw@host/").name == "host")
    #expect(try FeedReference("http://host/query?a=b@c").description == "http://host/query?a=***")
    #expect(failure("ftp://a:secret@b/c")?.code == .invalidReference)
    #expect(failure("ftp://a:secret@b/c")?.description.contains("secret") == false)
    #expect(failure("file:///etc/passwd")?.hint == "Give the file's path instead.")
  }

  @Test func standardInputAndFilesAreReferences() throws {
    #expect(try FeedReference("-").location == .standardInput)
    #expect(try FeedReference("-").description == "standard input")
    let path = try TemporaryFile.path()
    defer { TemporaryFile.remove(path) }
    let file = try FeedReference(path)
    #expect(file.location == .file(path))
    #expect("/tmp/\(file.name)" == path)
  }

  @Test(arguments: ["all_dya", "5.0_day", "4.5_dya", "quakes", "all"])
  func aMisspelledFeedNameListsTheKnownOnes(text: String) throws {
    let error = try #require(failure(text))
    #expect(error.code == .unknownFeed)
    #expect(error.message == "unknown feed \"\(text)\"")
    #expect(error.detail?.contains("2.5_week, 2.5_month") == true)
  }

  @Test(arguments: ["./all_dya", "nowhere.geojson", "/nowhere/x", "x.csv.gz"])
  func aMissingFileIsUnavailable(text: String) {
    #expect(failure(text)?.code == .fileNotFound)
    #expect(failure(text)?.kind == .unavailable)
  }

  @Test func emptyAndInvalidTextIsNoReference() {
    #expect(failure("")?.code == .invalidReference)
    #expect(failure("")?.kind == .usage)
    #expect(failure("a\0b")?.code == .invalidReference)
  }

  @Test func secretsInMessagesAreMasked() {
    let url = FeedURL("http://me:pw1@host/x")
    #expect(url.redact("bad me:pw1 and pw1") == "bad *** and ***")
    #expect(url.redact("nothing") == "nothing")
    #expect(FeedURL("http://*@host/").redact("a * b") == "a *** b")
  }
}

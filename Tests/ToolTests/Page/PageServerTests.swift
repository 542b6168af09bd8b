import Foundation
import TestSupport
import Testing

/// How `quake-serve` serves the page and its files.
@Suite final class PageServerTests: ToolSuite {
  private func settings(_ server: ServerProcess) throws -> [String: Any] {
    try server.get("/page/settings").object()
  }

  /// The directives of the policy that an answer has.
  private func policy(_ answer: RawConnection.Answer) throws -> [String: String] {
    let text = try #require(answer.headers["content-security-policy"])
    var directives: [String: String] = [:]
    for part in text.components(separatedBy: "; ") {
      let words = part.split(separator: " ", maxSplits: 1)
      directives[String(words[0])] = words.count > 1 ? String(words[1]) : ""
    }
    return directives
  }

  @Test func thePageNamesItsFilesByTheHashOfAll() throws {
    let server = try ServerProcess(database)
    let folder = try #require(try settings(server)["assets"] as? String)
    #expect(folder.wholeMatch(of: #/\/assets\/[0-9a-z]{8,13}/#) != nil)
    for path in ["/", "/?min-magnitude=5&sort=magnitude:desc", "/embed", "/embed?last=7d"] {
      let page = try server.get(path).expect(200)
      #expect(page.headers["content-type"] == "text/html; charset=utf-8")
      #expect(page.headers["cache-control"] == "no-cache")
      #expect(!page.text.contains("{{") && page.text.contains("\"\(folder)/"), "\(path)")
      let tag = try #require(page.headers["etag"])
      #expect(try server.get(path, ["If-None-Match": tag]).status == 304)
      let head = try server.request("HEAD", path).expect(200)
      #expect(head.body.isEmpty)
      #expect(head.headers["content-length"] == "\(page.body.count)")
      // Each file that it names is there, and may be kept forever.
      let named = page.text.matches(of: #/(?:href|src)="(\/assets\/[^"]+)"/#).map { String($0.1) }
      #expect(named.count > 5)
      for file in Set(named) {
        let answer = try server.get(file, ["Accept-Encoding": "gzip"]).expect(200, with: file)
        #expect(answer.headers["cache-control"] == "public, max-age=31536000, immutable")
        let type = [
          "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
          "svg": "image/svg+xml", "bin": "application/octet-stream",
        ][String(file.split(separator: ".").last ?? "")]
        #expect(answer.headers["content-type"] == type, "\(file)")
        #expect(answer.headers["x-content-type-options"] == "nosniff")
        #expect(answer.headers["etag"] != nil)
      }
    }
    let script = try server.get("\(folder)/main.js", ["Accept-Encoding": "gzip"])
    #expect(script.headers["content-encoding"] == "gzip")
    #expect(script.headers["vary"] == "Accept-Encoding")
    #expect(try server.get("\(folder)/main.js").text.contains("import "))
    // The same program serves the same files.
    let other = try ServerProcess(database)
    #expect(try settings(other)["assets"] as? String == folder)
  }

  @Test func anotherVersionOfThePageIsNotMixedWithThisOne() throws {
    let server = try ServerProcess(database)
    let folder = try #require(try settings(server)["assets"] as? String)
    let style = try server.get("/assets/0old/style/base.css").expect(307)
    #expect(style.headers["location"] == "\(folder)/style/base.css")
    #expect(style.headers["cache-control"] == "no-cache")
    try server.get("/assets/0old/main.js").expect(404, "load the page again")
    for path in [
      "/assets/0old/none.css", "\(folder)/none.js", "\(folder)/index.html", "\(folder)/", folder,
      "\(folder)/style", "\(folder)/../index.html", "\(folder)/style/../main.js", "/assets",
      "\(folder)/%2e%2e/main.js", "\(folder)/style%2Fbase.css/x",
    ] {
      #expect(try server.get(path).status == 404, "\(path)")
    }
    #expect(try server.request("POST", "\(folder)/main.js").status == 405)
  }

  @Test func thePolicyAllowsTheServerAlone() throws {
    let server = try ServerProcess(database)
    let folder = try #require(try settings(server)["assets"] as? String)
    var strict = [
      "default-src": "'none'", "script-src": "'self'", "style-src": "'self'",
      "worker-src": "'self'", "connect-src": "'self'", "img-src": "'self' data:",
      "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
    ]
    #expect(try policy(try server.get("/")) == strict)
    #expect(try policy(try server.get("\(folder)/main.js")) == strict)
    strict["frame-ancestors"] = "*"
    #expect(try policy(try server.get("/embed")) == strict)

    let tiles = try ServerProcess(
      database, ["--tile-url", "https://tiles.example.org:8443/a/{z}/{x}/{y}.png?key=7"])
    strict["img-src"] = "'self' data: https://tiles.example.org:8443"
    #expect(try policy(try tiles.get("/embed")) == strict)
    #expect(
      try settings(tiles)["tiles"] as? String
        == "https://tiles.example.org:8443/a/{z}/{x}/{y}.png?key=7")
    let own = try ServerProcess(database, ["--tile-url", "/tiles/{z}/{y}/{x}"])
    #expect(try policy(try own.get("/"))["img-src"] == "'self' data:")
  }

  @Test func thePageKnowsWhetherThereAreEdits() throws {
    let hash = String(repeating: "0", count: 64)
    for (arguments, readOnly, edits) in [
      ([], false, false), (["--edit-token", "ann:\(hash)"], false, true),
      (["--read-only-page", "--edit-token", "ann:\(hash)"], true, false),
    ] as [([String], Bool, Bool)] {
      let server = try ServerProcess(database, arguments)
      let settings = try settings(server)
      #expect(settings["readOnly"] as? Bool == readOnly && settings["edits"] as? Bool == edits)
      #expect(settings["tiles"] is NSNull)
      #expect(try server.get("/page/settings").headers["cache-control"] == "no-cache")
      let version = try Tools.run("quake-serve", ["--version"]).lines[0]
      #expect(version.contains(" \(try #require(settings["version"] as? String)) ("))
      // The page says what it shows; the API takes edits as before.
      #expect(try server.request("POST", "/v1/refresh").status == (arguments.isEmpty ? 403 : 401))
    }
  }
}

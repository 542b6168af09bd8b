import Foundation
import TestSupport
import Testing

/// A database with events of all kinds, and a server on it that follows it.
final class APIScene {
  let database: TestDatabase
  let server: ServerProcess

  static let token = "a secret that is hard to guess"
  /// The header with the token.
  static let key = ["Authorization": "Bearer \(token)"]

  init(hasEvents: Bool = true, _ arguments: [String] = []) throws {
    database = try TestDatabase()
    if hasEvents { try Self.load(database) }
    let token = try ServerProcess.token(Self.token, of: "ann")
    server = try ServerProcess(
      database, ["--edit-token", token, "--audit-token", token] + arguments)
    try server.waitUntilReady()
  }

  private static func load(_ database: TestDatabase) throws {
    let folder = try TemporaryFolder()
    let features =
      (1...40).map { number in
        Feeds.feature(
          "us\(number)", magnitude: "\(Double(number % 8) + 0.5)",
          place: number % 2 == 0 ? "6 km SSW of Pāhala, Hawaii" : "100% \\\"odd\\\" place_name",
          coordinates: "\(number * 4 - 80).25,\(number - 20).5,\(number * 3)",
          time: 1_700_000_000_000 + number * 86_400_000,
          changes: number % 5 == 0
            ? ["felt": "\(number)", "alert": "\"green\"", "type": "\"quarry blast\""] : [:])
      } + [
        Feeds.feature(
          "ci1", changes: ["ids": "\",ci1,us77,\"", "status": "\"REVIEWED\"", "net": "\"ci\""])
      ]
    for part in [features, Array(features.prefix(3))] {
      let file = try folder.write("feed.geojson", Feeds.collection(part))
      try database.succeed("quake-ingest", ["import", file])
    }
    try database.psql(
      """
      insert into quake.quake (code, source, time, place) values ('local:x%_y''z', 'local', '2024-01-01Z', null);
      set quake.author = 'bob';
      set quake.context = 'a & b=c';
      update quake.quake set magnitude = null, depth = null where code = 'us7';
      update quake.quake set superseded_by = 'us2' where code = 'us1';
      insert into quake.quake_alias (id, code) values ('us1', 'us2');
      update quake.quake set withdrawn_at = '2024-02-01Z' where code = 'us3';
      delete from quake.quake where code = 'us9';
      """)
  }

  /// Sends GET with the token and reads the answer, whose status must be 200, as JSON.
  func object(_ target: String) throws -> [String: Any] {
    let answer = try server.get(target, Self.key)
    try #require(answer.status == 200, "\(target): \(answer.status) \(answer.text)")
    return try answer.object()
  }

  /// The members of each page of a list. The member `next`, where there is one, is null on the last.
  func pages(_ target: String) throws -> [[String: Any]] {
    var (pages, next): ([[String: Any]], String?) = ([], target)
    while let page = next, pages.count < 1000 {
      let answer = try server.get(page, Self.key)
      try #require(answer.status == 200, "\(page): \(answer.text)")
      pages.append(try answer.object())
      next = try Self.next(answer)
      if let member = pages.last?["next"] { #expect((member is NSNull) == (next == nil)) }
    }
    return pages
  }

  /// Sends a request with the token.
  func edit(_ method: String, _ target: String) throws -> RawConnection.Answer {
    try server.request(method, target, ["Authorization": "Bearer \(Self.token)"])
  }

  /// Removes the history up to now.
  func purgeHistory() throws {
    let token = try database.value("select quake.latest_token()")
    try database.succeed("quake-admin", ["history", "purge", "--yes", "--before", token])
  }

  /// The lines that a tool prints, as JSON values.
  func tool(_ name: String, _ arguments: [String]) throws -> [Any] {
    try database.succeed(name, arguments).lines.map {
      try JSONSerialization.jsonObject(with: Data($0.utf8))
    }
  }

  /// A JSON value as text, the same for equal values.
  static func text(_ value: Any) throws -> String {
    String(
      decoding: try JSONSerialization.data(
        withJSONObject: value, options: [.sortedKeys, .fragmentsAllowed]), as: UTF8.self)
  }

  static func text(_ values: [Any]) throws -> [String] { try values.map { try text($0) } }

  /// A text as a part of a URL.
  static func encoded(_ text: String) -> String {
    text.utf8.map { byte in
      let isPlain =
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
        || (0x61...0x7A).contains(byte) || byte == 0x2D || byte == 0x5F
      return isPlain ? String(UnicodeScalar(byte)) : "%" + String(format: "%02X", byte)
    }.joined()
  }

  /// The target that `Link` names as the next page; nil: there is none.
  static func next(_ answer: RawConnection.Answer) throws -> String? {
    guard let link = answer.headers["link"] else { return nil }
    let match = try #require(
      link.wholeMatch(of: #/<http:\/\/127\.0\.0\.1(\/[^>]*)>; rel="next"/#), "\(link)")
    return String(match.1)
  }
}

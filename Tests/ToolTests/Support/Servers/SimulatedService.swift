import Foundation
import TestSupport
import Testing

/// `quake-ingest simulate` as a process of its own, whose catalogue does not change.
final class SimulatedService {
  /// A request that it answered.
  struct Request {
    /// When it came: milliseconds since 1970.
    let time: Int
    let target: String
    let fault: String?
    /// First and last origin time, as requested.
    let start: String
    let end: String

    var isQuery: Bool { target.contains("/query?") }
  }

  /// The port on 127.0.0.1.
  let port: Int
  private let process: ToolProcess

  init(_ arguments: [String]) throws {
    process = try Tools.start(
      "quake-ingest",
      ["simulate", "--port", "0", "--rate", "0", "--max-age", "0"] + arguments)
    _ = try process.line()
    let url = try process.line().split(separator: " ").last.map(String.init)
    port = try #require(url.flatMap { URL(string: $0)?.port })
  }

  /// The address of its event service.
  var base: String { "http://127.0.0.1:\(port)/fdsnws/event/1" }

  /// The requests to its event service so far.
  func requests() throws -> [Request] {
    let data = Data(try HTTP.get("/requests", port: port))
    let log = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
    return try log.map { entry in
      let target = try #require(entry["target"] as? String)
      let items = URLComponents(string: target)?.queryItems ?? []
      func value(_ name: String) -> String { items.first { $0.name == name }?.value ?? "" }
      return Request(
        time: try #require(entry["time"] as? Int), target: target,
        fault: entry["fault"] as? String, start: value("starttime"), end: value("endtime"))
    }
  }
}

import Postgres
import QuakeHistory
import QuakeModel
import TestSupport
import Testing

@testable import QuakeServer

/// The handlers of some routes on a store of their own, without HTTP.
struct ServiceScene {
  /// An answer as a client gets it.
  struct Answer {
    var status: Int
    var type: String
    var text: String
    var headers: HeaderFields
    /// Whether it may be sent to others until the store changes.
    var mayBeKept: Bool
  }

  let database: TestDatabase
  let connection: Connection
  private let table: RouteTable
  static let baseURL = "http://quake.test:8080"

  init(_ routes: [Route]) throws {
    database = try TestDatabase()
    connection = try database.connect()
    table = RouteTable(routes)
  }

  /// What a request to this target gets.
  func get(_ target: String) throws -> Answer {
    let decoded = try RequestTarget(target)
    var request = Request(
      method: .get, target: target, path: decoded.path, client: "127.0.0.1", baseURL: Self.baseURL)
    request.query = decoded.query
    request.segments = decoded.segments
    let match = try table.match(.get, decoded.segments)
    request.parameters = match.parameters
    var response: Response
    do {
      switch match.route.handler {
      case .immediate(let handler): response = try handler(request)
      case .query(let handler):
        let token = try HistoryReader.latestToken(over: connection)
        response = try handler(request, QueryContext(connection: connection, token: token))
      case .later: throw HTTPError(500, "The scene has no such route.")
      }
    } catch {
      response = match.route.errors.response(HTTPError(error), request, .now())
    }
    #expect(connection.isIdle, "\(target) left a transaction open")
    var bytes: [UInt8] = []
    var type = ""
    if case .document(let document) = response.body {
      try document.withParts { bytes += $0 }
      type = document.contentType
      #expect(bytes.count == document.size)
    }
    return Answer(
      status: response.status, type: type, text: String(decoding: bytes, as: UTF8.self),
      headers: response.headers, mayBeKept: response.mayBeKept)
  }

  /// The answer, which must have status 200.
  func text(_ target: String) throws -> String {
    let answer = try get(target)
    #expect(answer.status == 200, "\(target): \(answer.text)")
    return answer.text
  }

  /// The ids of an answer in CSV, in their order.
  func ids(_ query: String) throws -> [String] {
    let lines = try text("/fdsnws/event/1/query?format=csv&starttime=2020-01-01&\(query)")
      .split(separator: "\n")
    return lines.dropFirst().map { line in
      String(line.split(separator: ",", omittingEmptySubsequences: false)[11])
    }
  }
}

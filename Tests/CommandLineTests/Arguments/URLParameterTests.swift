import Testing

@testable import CommandLine

/// Parameters of a URL that are read as options.
@Suite struct URLParameterTests {
  private static let options: [Option] = [
    .value("min-magnitude", "M", help: "at least"),
    .value("max-magnitude", "M", help: "at most"),
    .value("type", "TYPE,...", repeatable: true, help: "types"),
    .value("limit", "N", help: "number"),
    .flag("all", help: "all"),
  ]

  private func read(
    _ parameters: [(name: String, value: String)]
  ) throws(UsageError) -> ParsedArguments {
    try ParsedArguments(url: "GET /v1/quakes", options: Self.options, parameters: parameters)
  }

  private func error(_ name: String, _ value: String) -> UsageError? {
    do throws(UsageError) {
      let arguments = try read([(name, value)])
      _ = try arguments.double("min-magnitude")
      _ = try arguments.integer("limit", in: 1...10)
      _ = try arguments.list("type", of: ["a", "b"])
      return nil
    } catch {
      return error
    }
  }

  @Test func namesHaveDashesOrUnderscores() throws {
    for name in ["min-magnitude", "min_magnitude"] {
      #expect(try read([(name, "5.5")]).double("min-magnitude") == 5.5)
    }
    let arguments = try read([("type", "a,b"), ("type", "c")])
    #expect(try arguments.list("type") == ["a", "b", "c"])
    #expect(!arguments.isGiven("limit"))
  }

  @Test func flagsAreTrueOrFalse() throws {
    for text in ["", "true", "1"] { #expect(try read([("all", text)]).flag("all")) }
    for text in ["false", "0"] {
      let arguments = try read([("all", text)])
      #expect(!arguments.flag("all") && !arguments.isGiven("all"))
    }
    #expect(
      error("all", "yes")?.message
        == "invalid value 'yes' for parameter all: expected true or false")
  }

  @Test func messagesNameParameters() throws {
    #expect(
      error("limit", "x")?.message
        == "invalid value 'x' for parameter limit: expected a whole number, from 1 to 10")
    #expect(
      error("min_magnitude", "nan")?.message
        == "invalid value 'nan' for parameter min-magnitude: expected a number")
    #expect(
      error("type", "a,,b")?.message.hasPrefix("invalid value 'a,,b' for parameter type") == true)
    let unknown = error("min-magnitud", "5")
    #expect(unknown?.message == "unknown parameter 'min-magnitud'")
    #expect(unknown?.suggestion == "min-magnitude")
    #expect(error("minmag", "5")?.suggestion == "min-magnitude")
    #expect(throws: UsageError.self) { try read([("limit", "1"), ("limit", "2")]) }
    #expect(throws: UsageError.self) {
      try read([("min-magnitude", "1"), ("min_magnitude", "2")])
    }
    let both = try read([("limit", "1"), ("all", "true")])
    do throws(UsageError) {
      try both.requireAtMostOne(of: "limit", "all")
      Issue.record("both are accepted")
    } catch {
      #expect(error.message == "parameters limit and all cannot be used together")
      #expect(error.isContradiction)
    }
  }
}

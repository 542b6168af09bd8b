import Basics
import Foundation
import QuakeConsumers
import TestSupport
import Testing

@testable import QuakeSinks

/// TLS, users and rights of a broker.
@Suite(.enabled(if: Broker.isInstalled, "\(Broker.isMissing)"))
struct MQTTSecurityTests {
  private static func run(_ program: String, _ arguments: String...) throws {
    let outcome = try ToolProcess(program, arguments, environment: [:]).exit()
    try #require(outcome.status == 0, "\(outcome.errors)")
  }

  /// A broker with a certificate for 127.0.0.1 that the authority `ca.pem` has signed.
  private func secureBroker() throws -> Broker {
    let folder = try TemporaryFolder()
    func file(_ name: String) -> String { "\(folder.path)/\(name)" }
    let openssl = "/usr/bin/openssl"
    try Self.run(
      openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
      "-nodes", "-days", "2", "-subj", "/CN=ca", "-keyout", file("ca.key"), "-out", file("ca.pem"))
    try Self.run(
      openssl, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-subj", "/CN=broker", "-keyout",
      file("key.pem"), "-out", file("request.pem"))
    try folder.write("names", "subjectAltName=IP:127.0.0.1\n")
    try Self.run(
      openssl, "x509", "-req", "-in", file("request.pem"), "-CA", file("ca.pem"), "-CAkey",
      file("ca.key"), "-CAcreateserial", "-days", "2", "-extfile", file("names"), "-out",
      file("certificate.pem"))
    return try Broker(
      ["allow_anonymous true", "certfile FOLDER/certificate.pem", "keyfile FOLDER/key.pem"],
      in: folder)
  }

  private func securePlan(_ broker: Broker, host: String = "127.0.0.1") throws -> MQTTPlan {
    var plan = try MQTTSinkTests.plan(broker.port, address: "mqtts://\(host)")
    plan.certificateAuthorityFile = broker.folder.path + "/ca.pem"
    return plan
  }

  @Test func aBrokerWithTLSNeedsATrustedCertificate() throws {
    let broker = try secureBroker()
    var plan = try securePlan(broker)
    let client = try broker.subscriber(
      to: "quake/#", options: ["--cafile", broker.folder.path + "/ca.pem"])
    let sink = MQTTSink(plan)
    for number in 1...2 {
      try MQTTSinkTests.deliver(MQTTSinkTests.message(number), by: sink)
      #expect(try Broker.message(of: client) == #"0 quake/7.a-0 {"id":"7.a-0-\#(number)"}"#)
    }
    // The system does not know the authority.
    plan.certificateAuthorityFile = nil
    let unknown = try MQTTSinkTests.failure(MQTTSinkTests.message(), by: MQTTSink(plan))
    #expect(unknown.reason.hasSuffix(": certificate verify failed"), "\(unknown)")
    #expect(!unknown.isFinal)
    // The certificate is for 127.0.0.1 only.
    let otherName = try securePlan(broker, host: "localhost")
    let wrong = try MQTTSinkTests.failure(MQTTSinkTests.message(), by: MQTTSink(otherName))
    #expect(wrong.reason.hasSuffix(": host name verification failed"), "\(wrong)")
    plan.certificateAuthorityFile = "/dev/null/ca.pem"
    let missing = try MQTTSinkTests.failure(MQTTSinkTests.message(), by: MQTTSink(plan))
    #expect(
      missing.reason.hasSuffix("could not read the certificate authorities /dev/null/ca.pem"),
      "\(missing)")
  }

  @Test func aServerThatEndsTheHandshakeEndsTheAttempt() throws {
    let broker = try Broker()
    let proxy = try FaultyProxy(toPort: broker.port, cuts: [0])
    let plan = try MQTTSinkTests.plan(proxy.port, address: "mqtts://127.0.0.1")
    let cut = try MQTTSinkTests.failure(MQTTSinkTests.message(), by: MQTTSink(plan))
    #expect(!cut.isFinal)
    // One that does not speak TLS.
    let plain = try MQTTSinkTests.plan(broker.port, address: "mqtts://127.0.0.1")
    let failure = try MQTTSinkTests.failure(MQTTSinkTests.message(), by: MQTTSink(plain))
    #expect(!failure.reason.hasSuffix(": "), "\(failure)")
  }

  @Test func aBrokerThatRefusesAUserSaysSo() throws {
    let folder = try TemporaryFolder()
    try folder.write("passwords", "quake:secret\n")
    try Self.run("/usr/bin/mosquitto_passwd", "-U", folder.path + "/passwords")
    let broker = try Broker(
      ["allow_anonymous false", "password_file FOLDER/passwords"], in: folder)
    var plan = try MQTTSinkTests.plan(broker.port)
    plan.credentials = try MQTTCredentials("quake\nwrong\n")
    let failure = try MQTTSinkTests.failure(MQTTSinkTests.message(), by: MQTTSink(plan))
    #expect(
      failure.reason == "no connection to the MQTT broker mqtt://127.0.0.1:\(broker.port): "
        + "Not authorized")
    #expect(!failure.isFinal && failure.retryAfter != nil)
    plan.credentials = try MQTTCredentials("quake\nsecret\n")
    try MQTTSinkTests.deliver(MQTTSinkTests.message(), by: MQTTSink(plan))
  }

  @Test func aBrokerThatRefusesATopicSaysSo() throws {
    let folder = try TemporaryFolder()
    try folder.write("rights", "topic write other/#\n")
    let broker = try Broker(["allow_anonymous true", "acl_file FOLDER/rights"], in: folder)
    let sink = MQTTSink(try MQTTSinkTests.plan(broker.port))
    let failure = try MQTTSinkTests.failure(MQTTSinkTests.message(), by: sink)
    #expect(
      failure.reason == "could not publish at the MQTT broker mqtt://127.0.0.1:\(broker.port): "
        + "Not authorized")
    #expect(!failure.isFinal)
  }

  @Test func aFileHasAUserAndAPassword() throws {
    #expect(throws: MQTTCredentials.Invalid.self) { try MQTTCredentials("") }
    #expect(throws: MQTTCredentials.Invalid.self) { try MQTTCredentials("a\nb\nc\n") }
    let both = try MQTTCredentials("a b\r\nc d \r\n")
    #expect(both.user == "a b" && both.password == "c d ")
    #expect(try MQTTCredentials("a").password == nil)
  }

  @Test func anAddressHasAHostAndPerhapsAPort() throws {
    for (text, host, port, usesTLS) in [
      ("mqtt://broker", "broker", 1883, false), ("MQTTS://broker/", "broker", 8883, true),
      ("mqtt://[::1]:7", "::1", 7, false), ("mqtts://[2001:db8::1]", "2001:db8::1", 8883, true),
    ] {
      let address = try MQTTAddress(text)
      #expect(address.host == host && address.port == port && address.usesTLS == usesTLS)
      #expect(try MQTTAddress(address.text) == address)
    }
    for text in [
      "", "broker", "http://broker", "mqtt://", "mqtt://a:b@broker", "mqtt://broker/topic",
      "mqtt://broker:0", "mqtt://broker:65536", "mqtt://bro ker", "mqtt://[::1", "mqtt://[::1]7",
    ] {
      #expect(throws: MQTTAddress.Invalid.self, "\(text)") { try MQTTAddress(text) }
    }
  }
}

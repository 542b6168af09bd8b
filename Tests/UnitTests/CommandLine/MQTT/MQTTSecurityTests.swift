import Basics
import Foundation
import QuakeConsumers
import TestSupport
import Testing

@testable import QuakeSinks

/// TLS, users and rights of a broker.
@Suite(.enabled(if: Broker.isInstalled, "\(Broker.isMissing)"))
struct MQTTSecurityTests {
  /// A broker with a certificate for 127.0.0.1 that the authority `ca.pem` has signed.
  private func secureBroker() throws -> Broker {
    let folder = try TemporaryFolder()
    let made = try Tools.shell(
      """
      new='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
      openssl req -x509 $new -days 2 -subj /CN=ca -keyout ca.key -out ca.pem
      openssl req $new -subj /CN=broker -keyout key.pem -out request.pem
      echo subjectAltName=IP:127.0.0.1 > names
      openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
        -extfile names -out certificate.pem
      """, folder: folder.path)
    try #require(made.status == 0, "\(made.errors)")
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
    let made = try Tools.shell("mosquitto_passwd -U passwords", folder: folder.path)
    try #require(made.status == 0, "\(made.errors)")
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

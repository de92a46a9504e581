// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import Logbook
import LogbookAPI
import NIOCore
import Testing

@testable import LogbookServer

/// Tests what the server reads from a connection and a request: the client's address, headers and parameters.
@Suite struct OriginTests {
  private func address(_ text: String) throws -> String {
    RequestOrigin.address(of: try SocketAddress(ipAddress: text, port: 50_000))
  }

  private func request(
    _ headers: [(String, String)] = [], path: String = "/v1/logbook", method: HTTPRequest.Method = .get
  ) throws -> IncomingRequest {
    var fields: HTTPFields = [:]
    for (name, value) in headers {
      fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
    }
    let head = HTTPRequest(
      method: method, scheme: nil, authority: nil, path: path, headerFields: fields)
    return IncomingRequest(Request(head: head, body: RequestBody(buffer: ByteBuffer())))
  }

  // MARK: - Addresses

  /// An address counts as the same whether its zeros are written or omitted by `::`.
  @Test(arguments: [
    ["2001:db8::1", "2001:db8::2", "2001:db8::a:b:c:d", "2001:db8:0:0:1:2:3:4"],
    ["2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff"],
    ["2001:db8:1::1", "2001:db8:1:0:a:b:c:d", "2001:db8:1::"],
    ["fe80::1", "fe80::ffff:1"],
  ])
  func ipv6AddressesOfOne64BitNetworkCountAsOneClient(_ texts: [String]) throws {
    #expect(Set(try texts.map(address)).count == 1, "\(texts)")
  }

  @Test func addressesOfDifferentNetworksCountAsDifferentClients() throws {
    let texts = [
      "2001:db8::1", "2001:db8:0:1::1", "2001:db8:1::1", "2001:db8:10::1", "2001:db8:0:10::1", "2001:d:b8::1",
      "::1", "192.0.2.1", "192.0.2.11", "1.92.0.21",
    ]
    #expect(Set(try texts.map(address)).count == texts.count)
  }

  /// An IPv6 socket that also accepts IPv4 reports an IPv4 client as `::ffff:192.0.2.1`.
  @Test func anIPv4AddressAndItsIPv6MappedFormCountAsOneClient() throws {
    #expect(try address("::ffff:192.0.2.1") == address("192.0.2.1"))
    #expect(try address("::ffff:192.0.2.1") != address("::ffff:192.0.2.2"))
    #expect(try address("::ffff:127.0.0.1") == "127.0.0.1")
  }

  @Test func aUnixSocketHasNoClientAddress() throws {
    #expect(RequestOrigin.address(of: nil) == "")
    #expect(RequestOrigin.address(of: try SocketAddress(unixDomainSocketPath: "/run/x")) == "")
  }

  // MARK: - Proxies

  @Test(arguments: [
    "Forwarded", "Via", "via", "X-Forwarded-For", "x-forwarded-for", "X-Forwarded-Host", "X-Forwarded-Proto",
    "X-Real-IP", "x-real-ip",
  ])
  func aProxyIsRecognisedByItsHeaders(_ name: String) throws {
    #expect(try request([("Accept", "*/*"), (name, "")]).isForwarded)
  }

  @Test(arguments: ["Host", "User-Agent", "X-Forward", "Viaduct", "X-Real", "Accept", "Prefer"])
  func headersWithoutProxyInformationDoNotIndicateAProxy(_ name: String) throws {
    #expect(try !request([(name, "192.0.2.1")]).isForwarded)
  }

  // MARK: - Tokens

  @Test(arguments: [
    ("Bearer gp_x", "gp_x"), ("bearer gp_x", "gp_x"), ("BEARER  gp_x", " gp_x"), ("Bearer gp_x y", "gp_x y"),
  ])
  func theTokenIsReadAfterTheWordBearerInAnyLetterCase(_ value: String, _ token: String) throws {
    #expect(try request([("Authorization", value)]).token?.text == token)
  }

  @Test(arguments: ["", "Bearer", "Bearer ", "Basic gp_x", "gp_x", "Bearergp_x", "Token gp_x"])
  func anAuthorizationHeaderWithoutTheBearerSchemeHasNoToken(_ value: String) throws {
    #expect(try request([("Authorization", value)]).token == nil)
  }

  @Test func aRequestWithTwoTokensIsRefused() throws {
    let (one, other) = (("Authorization", "Bearer gp_x"), ("authorization", "Bearer gp_y"))
    #expect(try request([one, other]).token == nil)
    #expect(try request([one, one]).token == nil)
    #expect(try request([one]).token != nil && request([]).token == nil)
  }

  // MARK: - Encodings, bodies, parameters

  @Test(arguments: [
    ("gzip", true), ("GZIP", true), ("deflate, gzip;q=0.5", true), ("gzip;q=1.0,br", true),
    ("gzip;q=0.001", true), ("gzip; q=0", false), ("gzip;q=0.0", false), ("gzip;q=0.000", false),
    ("deflate", false), ("x-gzip", false), ("gzipped", false), ("", false), ("*", false), ("identity", false),
  ])
  func aClientAcceptsGzipOnlyWithAQualityAboveZero(_ value: String, _ takes: Bool) throws {
    #expect(try request([("Accept-Encoding", value)]).takesGzip == takes)
  }

  @Test func acceptedEncodingsMayBeInSeveralHeaders() throws {
    #expect(try request([("Accept-Encoding", "br"), ("Accept-Encoding", "gzip")]).takesGzip)
    #expect(try !request([]).takesGzip)
  }

  @Test(arguments: [
    ("Content-Length", "1", true), ("Content-Length", "0", false), ("Content-Length", "x", true),
    ("Transfer-Encoding", "chunked", true), ("Content-Type", "application/json", false),
  ])
  func theRequestHeadersDetermineWhetherThereIsABody(_ name: String, _ value: String, _ has: Bool) throws {
    #expect(try request([(name, value)]).hasBody == has)
  }

  @Test func aRepeatedQueryParameterIsRefused() throws {
    #expect(try request(path: "/v1/pages?seconds=60&x=1").parameter("seconds") == "60")
    #expect(try request(path: "/v1/pages?x=1").parameter("seconds") == nil)
    #expect(throws: Refusal.self) { try request(path: "/v1/pages?seconds=1&seconds=1").parameter("seconds") }
  }

  @Test func aRepeatedProtocolHeaderIsRefused() throws {
    let run = [
      ("Glucoport-Node", "00000000-0000-4000-8000-000000000001"),
      ("Glucoport-Run", "1 00000000-0000-4000-8000-000000000002"),
    ]
    let stamp = try request(run).run()
    #expect(stamp.number == 1 && stamp.node == run[0].1 && stamp.logbook == nil)
    for doubled in run { #expect(throws: Refusal.self) { try request(run + [doubled]).run() } }
    for left in run { #expect(throws: Refusal.self) { try request([left]).run() } }
    for wrong in ["0 \(run[0].1)", "x \(run[0].1)", "1", "-1 \(run[0].1)", "1 x", ""] {
      #expect(throws: Refusal.self, "\(wrong)") { try request([run[0], ("Glucoport-Run", wrong)]).run() }
    }
  }
}

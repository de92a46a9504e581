// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Logbook
import LogbookAPI
import Testing

@testable import LogbookServer

/// Tests the route of each path, and the HTTP status of each refusal.
@Suite struct RouteTests {
  @Test(arguments: [
    ("/v1/logbook", WireRoute.logbook), ("/v1/readings", .readings), ("/v1/records", .records),
    ("/v1/changes", .changes), ("/v1/digests", .digests), ("/v1/blobs/abc", .blobs), ("/v1/blobs/", .blobs),
    ("/v1/pages", .pageLinks), ("/pages/gp_x", .page), ("/pages/", .page), ("/pages/../metrics", .page),
    ("/healthz", .health), ("/ready", .ready), ("/metrics", .metrics),
  ])
  func eachServedPathHasItsRoute(_ path: String, _ route: WireRoute) throws {
    let found = try #require(WireRoute(path: path, method: route.methods[0]))
    #expect(found == route)
  }

  /// A path with another spelling is another path.
  @Test(arguments: [
    "", "/", "/v1", "/v1/", "/v1/logbook/", "//v1/logbook", "/V1/logbook", "/v1/Logbook", "/v1/./logbook",
    "/%761/logbook", "/v1/blobs", "/pages", "pages/x", "/Pages/x", "/metrics/", "/%6detrics", "/healthz ",
    "*",
    "http://localhost/metrics", "/v1/../metrics",
  ])
  func pathsThatAreNotServedHaveNoRoute(_ path: String) {
    for method in [HTTPRequest.Method.get, .post, .put, .delete] {
      #expect(WireRoute(path: path, method: method) == nil, "\(path)")
    }
  }

  @Test func theHTTPMethodSelectsOneOfTwoRoutesOfOnePath() {
    #expect(WireRoute(path: "/v1/logbook", method: .get) == .logbook)
    #expect(WireRoute(path: "/v1/logbook", method: .delete) == .purge)
    #expect(WireRoute(path: "/v1/logbook", method: .put) == .logbook)
    #expect(WireRoute.logbook.allowed == "GET, DELETE" && WireRoute.purge.allowed == "GET, DELETE")
    #expect(WireRoute.page.allowed == "GET" && WireRoute.pageLinks.allowed == "POST")
    #expect(WireRoute.blobs.allowed == "GET, HEAD, PATCH, PUT")
  }

  @Test func onlyTwoRoutesServePagesAndNoRouteContainsASecret() {
    #expect(WireRoute.allCases.filter(\.isOfPages) == [.pageLinks, .page])
    for route in WireRoute.allCases {
      #expect(WireRoute(path: route.path, method: route.methods[0]) == route)
    }
    #expect(WireRoute.page.path == "/pages/")
  }

  @Test func readOnlyTokensMayUseOnlyMethodsThatRead() {
    for method in [HTTPRequest.Method.get, .head] { #expect(!WireRoute.writes(method)) }
    for method in [HTTPRequest.Method.post, .put, .patch, .delete] { #expect(WireRoute.writes(method)) }
  }

  // MARK: - Refusals

  @Test(arguments: [
    (ErrorCode.badRequest, 400), (.login, 401), (.readOnly, 403), (.notFound, 404), (.badMethod, 405),
    (.nodeReused, 409), (.otherLogbook, 409), (.misplaced, 409), (.positionUnknown, 410), (.purged, 410),
    (.tooLarge, 413), (.badType, 415), (.wrongDigest, 422), (.tooMany, 429), (.serverFailure, 500),
    (.busy, 503), (.full, 507),
  ])
  func eachErrorCodeHasItsDocumentedHTTPStatus(_ code: ErrorCode, _ status: Int) {
    var refusal = Refusal(code, "x")
    #expect(refusal.status.code == status)
    #expect(refusal.headers[wire: WireProtocol.errorHeader] == code.rawValue)
    #expect((refusal.headers[.wwwAuthenticate] != nil) == (code == .login))
    refusal.statusOverride = .requestTimeout
    #expect(refusal.status == .requestTimeout)
  }

  @Test func anErrorResponseStatesTheNextStep() throws {
    var refusal = Refusal(.badMethod, "no \"x\"")
    #expect(refusal.headers[.retryAfter] == nil && refusal.headers[.allow] == nil)
    (refusal.retryAfterSeconds, refusal.allowed, refusal.logbook) = (7, "GET", "id")
    #expect(refusal.headers[.retryAfter] == "7" && refusal.headers[.allow] == "GET")
    #expect(refusal.headers[wire: WireProtocol.logbookHeader] == "id")
    let body = try ErrorBody(refusal.body)
    #expect(body.code == .badMethod && body.message == "no \"x\"" && body.logbook == "id")
  }

  /// A storage's report about its files is for the log, not for clients.
  @Test func theReasonOfAStorageFailureIsNotSentToTheClient() {
    let refusal = Refusal(ServiceError.serverFailure("the storage failed", log: "SECRET/path"))
    #expect(refusal.status.code == 500 && refusal.message == "the storage failed")
    #expect(!String(decoding: refusal.body, as: UTF8.self).contains("SECRET"))
  }

  @Test func eachErrorOfALogbookIsSentWithItsHTTPStatus() {
    let expected: [(ServiceError, Int)] = [
      (.nodeReused, 409), (.otherLogbook(id: "x"), 409), (.positionUnknown, 410), (.purged, 410),
      (.tooLarge, 413), (.busy("x", retryAfterSeconds: 3), 503), (.unavailable("x"), 503),
      (.protocolViolation("x"), 500), (.refused("x"), 400), (.loginRefused("x"), 401), (.readOnly, 403),
    ]
    for (error, status) in expected { #expect(Refusal(error).status.code == status, "\(error)") }
    #expect(Refusal(ServiceError.busy("x", retryAfterSeconds: 3)).retryAfterSeconds == 3)
    #expect(Refusal(ServiceError.otherLogbook(id: "x")).logbook == "x")
  }

  // MARK: - Metrics

  @Test func metricsAreCountedOnlyByRouteAndStatus() async {
    let metrics = ServerMetrics()
    #expect(
      await metrics.text == """
        # TYPE glucoport_readings_stored_total counter
        glucoport_readings_stored_total 0
        # TYPE glucoport_record_changes_accepted_total counter
        glucoport_record_changes_accepted_total 0

        """)
    await metrics.answered(.page, 200, .milliseconds(500))
    await metrics.answered(.page, 200, .milliseconds(250))
    await metrics.answered(.page, 404, .zero)
    await metrics.answered(nil, 404, .seconds(1))
    await metrics.readingsStored(3)
    await metrics.readingsStored(4)
    await metrics.recordsAccepted(2)
    #expect(
      await metrics.text == """
        # TYPE glucoport_readings_stored_total counter
        glucoport_readings_stored_total 7
        # TYPE glucoport_record_changes_accepted_total counter
        glucoport_record_changes_accepted_total 2
        # TYPE glucoport_requests_total counter
        glucoport_requests_total{route="other",status="404"} 1
        glucoport_requests_total{route="page",status="200"} 2
        glucoport_requests_total{route="page",status="404"} 1
        # TYPE glucoport_request_duration_seconds summary
        glucoport_request_duration_seconds_sum{route="other"} 1.0
        glucoport_request_duration_seconds_count{route="other"} 1
        glucoport_request_duration_seconds_sum{route="page"} 0.75
        glucoport_request_duration_seconds_count{route="page"} 3

        """)
  }
}

// SPDX-License-Identifier: Apache-2.0

import TestServers
import Testing

/// Tests access to a site and its rights.
@Suite(.timeLimit(.minutes(5)))
struct NightscoutAccessTests {
  private static let hour: Int64 = 3_600_000

  private func request(_ site: NightscoutStandIn, _ credential: String) throws -> Reply {
    try Caller(site, headers: []).get("/api/v2/authorization/request/\(credential)")
  }

  private func bearer(_ site: NightscoutStandIn, _ token: String?) -> Caller {
    Caller(site, headers: ["Authorization: Bearer \(token ?? "none")"])
  }

  @Test func anAccessTokenIsExchangedForATokenOfEightHours() throws {
    let site = try Caller.site()
    let accessToken = site.addSubject("My uploader!", roles: ["readable"])
    #expect(accessToken.hasPrefix("myuploader-") && accessToken.count == 11 + 16)
    let answer = try request(site, accessToken).json
    let issued = try #require(answer?["iat"]?.whole)
    #expect(answer?["exp"]?.whole == issued + 8 * 3600)
    #expect(answer?["sub"] == "My uploader!")
    #expect(answer?["permissionGroups"] == [["*:*:read"], []])
    let caller = bearer(site, answer?["token"]?.text)
    #expect(try caller.get("/api/v3/entries").status == 200)
    site.moveClock(by: 8 * Self.hour)
    #expect(try caller.get("/api/v3/entries").status == 401)
    #expect(try request(site, "nobody-0123456789abcdef").status == 401)
  }

  @Test func aValidTokenIsExchangedForTheNextOne() throws {
    let site = try Caller.site()
    let accessToken = site.addSubject("uploader", roles: ["readable"])
    let first = try request(site, accessToken).json?["token"]?.text ?? ""
    site.moveClock(by: Self.hour)
    let second = try request(site, first).json?["token"]?.text
    site.moveClock(by: 7 * Self.hour + 1)
    #expect(try bearer(site, second).get("/api/v3/entries").status == 200)
    #expect(try request(site, first).status == 401)
  }

  @Test func aNewInstallationInvalidatesEveryToken() throws {
    let caller = try Caller.uploader()
    #expect(try caller.get("/api/v3/entries").status == 200)
    caller.site.redeploy()
    #expect(try caller.get("/api/v3/entries").status == 401)
  }

  @Test func theAPISecretAndTheAccessTokenAreAcceptedByAPIv1Only() throws {
    let site = try Caller.site()
    let accessToken = site.addSubject("uploader", roles: ["readable"])
    let answers = try [
      Caller(secretOf: site), Caller(site, headers: ["api-secret: \(accessToken)"]),
    ].map { try [$0.get("/api/v1/entries.json").status, $0.get("/api/v3/entries").status] }
    #expect(answers == [[200, 401], [200, 401]])
    let nobody = Caller(site, headers: [])
    #expect(try nobody.get("/api/v1/entries?token=\(accessToken)").status == 200)
    #expect(try nobody.get("/api/v3/entries?token=\(accessToken)").status == 401)
    #expect(try nobody.get("/api/v1/entries").status == 401)
    #expect(try nobody.get("/api/v1/entries?secret=\(site.secretDigest)").status == 200)
  }

  @Test func theDefaultRolesApplyWithoutCredentials() throws {
    let site = try Caller.site { $0.defaultRoles = ["readable"] }
    #expect(try Caller(site, headers: []).get("/api/v1/entries").status == 200)
    #expect(try Caller(site, headers: []).get("/api/v3/entries").status == 401)
  }

  @Test func aMissingPermissionIsStatus403InAPIv3AndStatus401InAPIv1() throws {
    let caller = try Caller(try Caller.site(), rights: ["api:treatments:create"])
    let answer = try caller.get("/api/v3/treatments")
    #expect(answer.status == 403)
    #expect(answer.message == "Missing permission api:treatments:read")
    #expect(try caller.post("/api/v1/treatments", Draft.note("n")).status == 401)
  }

  @Test func theSecondPostWithTheCareportalRoleIsRefusedAfterTheFirstIsStored() throws {
    let site = try Caller.site()
    let token = site.addSubject("uploader", roles: ["careportal"])
    let caller = try bearer(site, request(site, token).json?["token"]?.text)
    #expect(try caller.post("/api/v3/treatments", Draft.note("n")).status == 201)
    let again = try caller.post("/api/v3/treatments", Draft.note("n"))
    #expect(again.status == 403)
    #expect(again.message == "Missing permission api:treatments:update")
  }

  @Test func theTokenOfARemovedSubjectHasNoPermissions() throws {
    let site = try Caller.site()
    let accessToken = site.addSubject("uploader", roles: ["admin"])
    let caller = try bearer(site, request(site, accessToken).json?["token"]?.text)
    #expect(try caller.get("/api/v3/entries").status == 200)
    site.removeSubject("uploader")
    #expect(try caller.get("/api/v3/entries").status == 403)
    #expect(try request(site, accessToken).status == 401)
  }

  @Test func theStatusShowsOnlyPermissionsThatApplyToAllCollections() throws {
    let site = try Caller.site()
    let shown = try [["*"], ["*:*:read"], ["api:treatments:create"], ["api:entries:create,read"]].enumerated()
      .map { index, rights in
        let caller = try Caller(site, rights: rights, name: "subject \(index)")
        return try caller.get("/api/v3/status").result?["apiPermissions"]?["entries"]?.text
      }
    #expect(shown == ["crud", "r", nil, nil])
  }

  @Test func onlyAnAdminMayReadSettings() throws {
    let site = try Caller.site()
    let reader = try Caller(site, rights: ["*:*:read"])
    #expect(try reader.get("/api/v3/settings").status == 403)
    #expect(try Caller(site, rights: ["*"], name: "admin").get("/api/v3/settings").status == 200)
  }

  @Test func anAdminCreatesSubjectsThroughTheAPI() throws {
    let site = try Caller.site()
    let body: DocumentValue = ["name": "new phone", "roles": ["readable"]]
    #expect(try Caller(site, headers: []).post("/api/v2/authorization/subjects", body).status == 401)
    #expect(try Caller(secretOf: site).post("/api/v2/authorization/subjects", body).status == 200)
    let accessToken = try #require(site.accessToken(of: "new phone"))
    #expect(try request(site, accessToken).status == 200)
  }

  /// The delays of the four requests are 0 s, one penalty, one penalty and 0 s.
  @Test func aWrongCredentialAlsoDelaysValidOnesUntilOneSucceeds() throws {
    let penalty = Duration.milliseconds(400)
    let good = try Caller.uploader { $0.penalty = penalty }
    let bad = bearer(good.site, "bad")
    let clock = ContinuousClock()
    func time(_ caller: Caller, _ expected: Int) throws -> Duration {
      let start = clock.now
      let answer = try caller.get("/api/v3/entries")
      #expect(answer.status == expected)
      return clock.now - start
    }
    _ = try time(bad, 401)
    let others = try [time(bad, 401), time(good, 200), time(good, 200)]
    #expect(others[0] > penalty / 2)
    #expect(others[1] > penalty / 2)
    // With a penalty of 600 s, requests without credentials, for a token or from another address must not
    // wait.
    good.site.change { $0.penalty = .seconds(600) }
    #expect(try Caller(good.site, headers: []).get("/api/v3/entries").status == 401)
    #expect(try bad.get("/api/v3/entries").status == 401)
    #expect(try request(good.site, "unknown").status == 401)
    #expect(try Caller(good.site, headers: []).get("/api/v3/entries").status == 401)
    let elsewhere = Caller(good.site, headers: good.headers + ["X-Forwarded-For: 192.0.2.1"])
    #expect(try elsewhere.get("/api/v3/entries").status == 200)
  }

  @Test func aTokenRequestWithTheSameETagIsAnsweredWithStatus304() throws {
    let site = try Caller.site()
    let accessToken = site.addSubject("uploader", roles: ["readable"])
    let tag = try request(site, accessToken).headers["etag"] ?? "none"
    let again = try Caller(site, headers: ["If-None-Match: \(tag)"])
      .get("/api/v2/authorization/request/\(accessToken)")
    #expect(again.status == 304)
    #expect(again.body.isEmpty)
  }
}

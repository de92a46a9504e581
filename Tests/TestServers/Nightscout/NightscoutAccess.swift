// SPDX-License-Identifier: Apache-2.0

/// Who may do what on a site: the secret, roles, subjects, and the tokens given out.
struct NightscoutAccess {
  struct Subject {
    let id: String
    let name: String
    let roles: [String]
    let token: String
  }

  /// Somebody whose credentials are good, with what they may do.
  struct Caller {
    /// The name that documents get as `subject`; the bearer of the secret has none.
    let name: String?
    let grants: [String]

    /// Whether the grants imply a right such as `api:entries:create`.
    func may(_ right: String) -> Bool { grants.contains { Self.implies($0, right) } }

    /// Shiro's rule: part by part, commas are lists, `*` is anything, and missing parts are `*`.
    private static func implies(_ grant: String, _ right: String) -> Bool {
      let granted = grant.split(separator: ":").map { $0.split(separator: ",") }
      let wanted = right.split(separator: ":")
      guard granted.count <= wanted.count else { return false }
      return zip(granted, wanted).allSatisfy { $0.contains("*") || $0.contains($1) }
    }
  }

  private struct Session {
    let subject: String
    let expires: Int64
  }

  static let sessionSeconds: Int64 = 8 * 3600

  let secret: String
  var defaultRoles: [String] = []
  private(set) var subjects: [Subject] = []
  private var roles: [String: [String]] = [
    "admin": ["*"], "readable": ["*:*:read"], "careportal": ["api:treatments:create"],
    "devicestatus-upload": ["api:devicestatus:create"], "activity": ["api:activity:create"],
    "status-only": ["api:status:read"], "denied": [],
  ]
  private var sessions: [String: Session] = [:]
  private var installation = 1
  private var lastSubject = 0

  init(secret: String) { self.secret = secret }

  mutating func setRole(_ name: String, _ rights: [String]) { roles[name] = rights }

  mutating func addSubject(_ name: String, roles: [String]) -> Subject {
    lastSubject += 1
    let id = String(NightscoutDigest.sha1("subject \(lastSubject)").prefix(24))
    let letters = name.lowercased().filter { $0.isLetter || $0.isNumber || $0 == "_" }.prefix(10)
    let digits = NightscoutDigest.sha1(NightscoutDigest.sha1(secret) + id).prefix(16)
    let subject = Subject(id: id, name: name, roles: roles, token: "\(letters)-\(digits)")
    subjects.append(subject)
    return subject
  }

  mutating func removeSubject(_ name: String) { subjects.removeAll { $0.name == name } }

  /// What an installation anew does: its key signs no older token.
  mutating func redeploy() {
    installation += 1
    sessions = [:]
  }

  /// A token for an access token, or for a token that is still good; nil for anything else.
  mutating func session(for credential: String, at now: Int64) -> NightscoutDocument? {
    let id = sessions[credential].flatMap { $0.expires > now ? $0.subject : nil }
    guard let subject = subjects.first(where: { $0.token == credential || $0.id == id }) else { return nil }
    let issued = now / 1000
    let expires = issued + Self.sessionSeconds
    let token = jwt(subject, issued)
    sessions[token] = Session(subject: subject.id, expires: expires * 1000)
    let groups = (defaultRoles + subject.roles).map { rights(of: $0) }
    return [
      "token": .string(token), "sub": .string(subject.name), "iat": DocumentValue(issued),
      "exp": DocumentValue(expires),
      "permissionGroups": .array(groups.map { .array($0.map(DocumentValue.string)) }),
    ]
  }

  /// The bearer of a token. A subject that was removed is known, and may nothing.
  func caller(session token: String, at now: Int64) -> Caller? {
    guard let session = sessions[token], session.expires > now else { return nil }
    guard let subject = subjects.first(where: { $0.id == session.subject }) else {
      return Caller(name: nil, grants: [])
    }
    return caller(subject)
  }

  func caller(accessToken: String) -> Caller? {
    subjects.first { $0.token == accessToken }.map(caller)
  }

  func caller(secretDigest: String) -> Caller? {
    secretDigest.lowercased() == NightscoutDigest.sha1(secret) ? Caller(name: nil, grants: ["*"]) : nil
  }

  /// Who sends no credentials.
  var nobody: Caller { Caller(name: nil, grants: defaultRoles.flatMap(rights)) }

  private func caller(_ subject: Subject) -> Caller {
    Caller(name: subject.name, grants: (defaultRoles + subject.roles).flatMap(rights))
  }

  private func rights(of role: String) -> [String] { roles[role] ?? [] }

  /// Of the shape of a JWT, and as opaque.
  private func jwt(_ subject: Subject, _ issued: Int64) -> String {
    let payload = NightscoutDigest.sha1("\(subject.id) \(issued)")
    return "eyJhbGciOiJIUzI1NiJ9.\(payload).\(NightscoutDigest.sha1("\(installation) \(payload)"))"
  }
}

/// The waiting that a wrong credential brings upon an address, for all of its requests.
struct NightscoutPenalty {
  private var until: [String: ContinuousClock.Instant] = [:]

  mutating func wait(_ client: String, penalty: Duration, at now: ContinuousClock.Instant) -> Duration? {
    guard let end = until[client] else { return nil }
    // The site forgets after a minute, which is twelve of its penalties.
    if now > end + penalty * 12 { until[client] = nil }
    return end > now ? end - now : nil
  }

  mutating func failed(_ client: String, penalty: Duration, at now: ContinuousClock.Instant) {
    until[client] = (until[client] ?? now) + penalty
  }

  mutating func succeeded(_ client: String) { until[client] = nil }
}

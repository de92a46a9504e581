// SPDX-License-Identifier: Apache-2.0

/// The permissions of a site: the secret, roles, subjects, and the issued tokens.
struct NightscoutAccess {
  struct Subject {
    let id: String
    let name: String
    let roles: [String]
    let token: String
    /// The first 16 digits of this digest are part of the access token.
    let digest: String
  }

  /// A caller with valid credentials, and its permissions.
  struct Caller {
    /// The name that documents get as `subject`. A caller with the secret has none.
    let name: String?
    let grants: [String]
    /// Whether the caller sent no credentials.
    var isAnybody = false

    /// Whether the grants include a right such as `api:entries:create`.
    func may(_ right: String) -> Bool { grants.contains { Self.implies($0, right) } }

    /// Whether a grant includes a right. The parts between colons are compared, as the library Shiro does.
    /// In a grant, commas separate alternatives, `*` permits anything, a missing part means `*`, and blanks
    /// count as letters.
    private static func implies(_ grant: String, _ right: String) -> Bool {
      let granted = grant.split(separator: ":").map { $0.split(separator: ",") }
      let wanted = right.split(separator: ":")
      guard granted.count <= wanted.count else { return false }
      return zip(granted, wanted).allSatisfy { $0.contains("*") || $0.contains($1) }
    }
  }

  /// The owner of a token: a caller, or a removed subject.
  enum Bearer {
    case caller(Caller)
    case removed
  }

  /// A token, and the site's data about it.
  struct Session {
    let token: String
    let fields: NightscoutDocument
    fileprivate let subject: String
    fileprivate let expires: Int64
  }

  static let sessionSeconds: Int64 = 8 * 3600
  /// The minimum number of digits in an access token.
  private static let minTokenDigits = 16

  let secret: String
  /// Roles of every caller. A role with an unknown name has no rights.
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

  /// Adds a role as the site's web page does. The typed text is split at blanks, commas and semicolons.
  mutating func setRole(_ name: String, typed text: String) {
    setRole(name, text.split { $0.isWhitespace || $0 == "," || $0 == ";" }.map(String.init))
  }

  mutating func addSubject(_ name: String, roles: [String]) -> Subject {
    lastSubject += 1
    let id = String(NightscoutDigest.sha1("subject \(lastSubject)").prefix(24))
    let letters = name.lowercased().filter { $0.isLetter || $0.isNumber || $0 == "_" }.prefix(10)
    let digest = NightscoutDigest.sha1(NightscoutDigest.sha1(secret) + id)
    let token = "\(letters)-\(digest.prefix(Self.minTokenDigits))"
    let subject = Subject(id: id, name: name, roles: roles, token: token, digest: digest)
    subjects.append(subject)
    return subject
  }

  mutating func removeSubject(_ name: String) { subjects.removeAll { $0.name == name } }

  /// Simulates a new installation, whose key invalidates older tokens.
  mutating func redeploy() {
    installation += 1
    sessions = [:]
  }

  /// A session for the subject with this access token, or with a valid token of an earlier session; nil for
  /// any other credential.
  func session(for credential: String, at now: Int64) -> Session? {
    let known = sessions[credential].flatMap { $0.expires > now ? $0.subject : nil }
    guard let subject = known.map(subject(id:)) ?? subject(accessToken: credential) else { return nil }
    let issued = now / 1000
    let expires = issued + Self.sessionSeconds
    let token = jwt(subject, issued)
    let groups = (subject.roles + defaults.filter { !subject.roles.contains($0) }).map(rights)
    let fields: NightscoutDocument = [
      "token": .string(token), "sub": .string(subject.name), "iat": DocumentValue(issued),
      "exp": DocumentValue(expires),
      "permissionGroups": .array(groups.map { .array($0.map(DocumentValue.string)) }),
    ]
    return Session(token: token, fields: fields, subject: subject.id, expires: expires * 1000)
  }

  /// Stores a session, so that its token is accepted.
  mutating func keep(_ session: Session) { sessions[session.token] = session }

  /// The owner of a token; nil if the token is unknown or has expired.
  func bearer(session token: String, at now: Int64) -> Bearer? {
    guard let session = sessions[token], session.expires > now else { return nil }
    return subject(id: session.subject).map { .caller(caller($0)) } ?? .removed
  }

  func caller(accessToken: String) -> Caller? { subject(accessToken: accessToken).map(caller) }

  func caller(secretDigest: String) -> Caller? {
    let isKnown =
      secretDigest.lowercased() == NightscoutDigest.sha1(secret)
      || secretDigest.count == 128 && secretDigest == NightscoutDigest.sha512(secret)
    return isKnown ? Caller(name: nil, grants: ["*"]) : nil
  }

  /// A caller without credentials.
  var nobody: Caller { Caller(name: nil, grants: defaultRoles.flatMap(rights), isAnybody: true) }

  /// The subject with this access token. Only the digits after the last hyphen are compared. The start of
  /// the token's SHA-1 digest is accepted, too.
  private func subject(accessToken: String) -> Subject? {
    let digits = accessToken.split(separator: "-", omittingEmptySubsequences: false).last ?? ""
    guard digits.count >= Self.minTokenDigits else { return nil }
    return subjects.first {
      $0.digest.hasPrefix(digits) || NightscoutDigest.sha1($0.token).hasPrefix(accessToken)
    }
  }

  private func subject(id: String) -> Subject? { subjects.first { $0.id == id } }

  private func caller(_ subject: Subject) -> Caller {
    Caller(name: subject.name, grants: (subject.roles + defaultRoles).flatMap(rights))
  }

  private var defaults: [String] { defaultRoles.isEmpty ? [""] : defaultRoles }

  private func rights(of role: String) -> [String] { roles[role] ?? [] }

  /// A token in the format of a JWT, with content that clients cannot read.
  private func jwt(_ subject: Subject, _ issued: Int64) -> String {
    let payload = NightscoutDigest.sha1("\(subject.id) \(issued)")
    return "eyJhbGciOiJIUzI1NiJ9.\(payload).\(NightscoutDigest.sha1("\(installation) \(payload)"))"
  }
}

/// The delay that wrong credentials cause for all requests from the same address.
struct NightscoutPenalty {
  private var until: [String: ContinuousClock.Instant] = [:]

  func wait(_ client: String, at now: ContinuousClock.Instant) -> Duration? {
    until[client].flatMap { $0 > now ? $0 - now : nil }
  }

  mutating func failed(_ client: String, penalty: Duration, at now: ContinuousClock.Instant) {
    until[client] = max(until[client] ?? now, now) + penalty
  }

  mutating func succeeded(_ client: String) { until[client] = nil }
}

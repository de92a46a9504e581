// SPDX-License-Identifier: Apache-2.0

package import Logbook
import Nightscout

/// An answer without data, in which a service asks the user to do something first or reports an error.
/// Several services send it with the HTTP status of a success.
///
/// The recognised bodies are those that public clients document: for LibreLinkUp
/// timoschlueter/nightscout-librelink-up and robberwick/pylibrelinkup, for Dexcom Share gagebenne/pydexcom.
package struct ServiceProblem: Sendable {
  /// The category of the failure, which shows what a person can do.
  package let category: FailureCategory
  /// The sentence for people, with the next step. It quotes no text of the service.
  package let reason: String
  /// How long to wait before the next request, in seconds; nil if the service states no time.
  package let retryAfterSeconds: Int?

  /// The maximum size in bytes of an answer that is examined.
  package static let maxBytes = 64 << 10
  /// The shortest wait after a lock-out, in seconds. A login within this time starts the lock again.
  private static let lockSeconds = 900
  private static let maxLockSeconds = 6 * 3600

  private init(_ category: FailureCategory, _ reason: String, retryAfterSeconds: Int? = nil) {
    (self.category, self.reason, self.retryAfterSeconds) = (category, reason, retryAfterSeconds)
  }

  /// The trouble that a body states; nil for data, for an empty answer and for unknown bodies.
  ///
  /// - Parameter isPersonKnown: whether the settings name the person whose data are requested. If so, an
  ///   empty list of LibreLinkUp is a logbook without entries, and not the empty list of followed persons.
  package static func of(_ body: [UInt8], isPersonKnown: Bool) -> ServiceProblem? {
    let start = body.first { $0 > 0x20 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF }
    if start == UInt8(ascii: "<") { return webPage(body) }
    guard start == UInt8(ascii: "{"), body.count <= maxBytes else { return nil }
    do throws(JSONError) {
      guard case .object(let members) = try JSONValue.read(body) else { return nil }
      if let trouble = of(members) ?? rejection(members) ?? share(members) { return trouble }
      if !isPersonKnown, members["status"]?.number == 0, members["data"] == .list([]) {
        return ServiceProblem(
          .configuration,
          "LibreLinkUp returns no person: the person whose sensor you follow is gone, or never accepted; look into the LibreLinkUp app. If it is the answer of an empty logbook, set the source with --patient"
        )
      }
      return nil
    } catch {
      // Text that is not JSON is not a known answer of a service. The formats report why it cannot be read.
      return nil
    }
  }

  /// The trouble of an answer of LibreLinkUp. The answer is recognised by members that other services do not
  /// have.
  static func of(_ members: [String: JSONValue]) -> ServiceProblem? {
    let data = members["data"]
    if members["signature"]?.text != nil, let text = data?.text, text.split(separator: ".").count == 3 {
      return ServiceProblem(
        .protocolViolation,
        "this is an encrypted answer of version 5 of LibreLinkUp, which no open program reads; import the CSV file of LibreView instead"
      )
    }
    if members["message"]?.text == "RequiredHeaderMissing" { return oldVersion(nil) }
    switch members["status"]?.integer {
    case 920: return oldVersion(data?["minimumVersion"]?.text)
    case 911:
      return ServiceProblem(.temporary, "LibreLinkUp is in maintenance", retryAfterSeconds: lockSeconds)
    case 429 where data?["code"]?.integer == 60 || data?["message"]?.text == "locked":
      let seconds = data?["data"]?["lockout"]?.integer ?? 0
      let wait = Int(min(max(seconds, Int64(lockSeconds)), Int64(maxLockSeconds)))
      return ServiceProblem(
        .temporary,
        "LibreLinkUp locked the account after failed logins; wait, and check the password in the LibreLinkUp app",
        retryAfterSeconds: wait)
    default: return nil
    }
  }

  private static func oldVersion(_ minimum: String?) -> ServiceProblem {
    let isVersion =
      minimum.map { text in
        text.utf8.count <= 16 && text.utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2E }
      } ?? false
    let version = isVersion ? " version \(minimum ?? "") of its app" : " a newer version of its app"
    return ServiceProblem(
      .protocolViolation,
      "LibreLinkUp wants\(version): update the program that asks it. The readings are safe there; the CSV file of LibreView has them, too"
    )
  }

  /// The trouble in an answer of LibreLinkUp that asks for another region or step, or rejects the login.
  private static func rejection(_ members: [String: JSONValue]) -> ServiceProblem? {
    let data = members["data"]
    if data?["redirect"] == .flag(true) {
      let region = data?["region"]?.text ?? ""
      let isPlain =
        (2...4).contains(region.utf8.count)
        && region.utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || ($0 >= 0x61 && $0 <= 0x7A) }
      return ServiceProblem(
        .configuration,
        "LibreLinkUp keeps this account in another region\(isPlain ? ", '\(region)'" : ""); set that region in the program that asks it"
      )
    }
    if let step = data?["step"]?["type"]?.text {
      let todo =
        switch step {
        case "tou", "pp": "accept the new terms"
        case "verifyEmail": "confirm the e-mail address"
        default: "finish what it asks for"
        }
      return ServiceProblem(
        .permission,
        "LibreLinkUp wants you to \(todo): open the LibreLinkUp app, log out and in, and then run 'glucoport fetch --now'"
      )
    }
    guard members["status"]?.number != nil || members["message"] != nil else { return nil }
    switch members["error"]?["message"]?.text ?? members["message"]?.text {
    case "notAuthenticated":
      return ServiceProblem(
        .permission,
        "LibreLinkUp rejected the password; correct it, and then run 'glucoport fetch --now'")
    case "couldNotLoadPatient":
      return ServiceProblem(
        .configuration,
        "LibreLinkUp does not know the person any more; look into the LibreLinkUp app whom you follow, and set the source again"
      )
    case "invalid or expired jwt", "MissingCachedUser":
      return ServiceProblem(.temporary, "the session with LibreLinkUp has ended")
    default: return nil
    }
  }

  /// The trouble in an error of Dexcom Share; nil for any other answer.
  private static func share(_ members: [String: JSONValue]) -> ServiceProblem? {
    switch members["Code"]?.text {
    case "AccountPasswordInvalid", "SSO_AuthenticateAccountNotFound", "SSO_AuthenticatePasswordInvalid":
      return ServiceProblem(
        .permission,
        "Dexcom Share rejected the password; a wrong region looks the same. Correct it, and then run 'glucoport fetch --now'"
      )
    case "SSO_AuthenticateMaxAttemptsExceeded", "SSO_AuthenticateMaxAttemptsExceeed":
      return ServiceProblem(
        .temporary, "Dexcom Share locked the account after failed logins", retryAfterSeconds: lockSeconds)
    case "SessionIdNotFound", "SessionNotValid":
      return ServiceProblem(.temporary, "the session with Dexcom Share has ended")
    case "SSO_InternalError": return ServiceProblem(.temporary, "Dexcom Share failed")
    default: return nil
    }
  }

  /// The trouble of an HTML page, of a login or a proxy, that came instead of data; nil for other bodies. XML
  /// may be an export.
  private static func webPage(_ body: [UInt8]) -> ServiceProblem? {
    let start = String(decoding: body.prefix(1024), as: UTF8.self).lowercased()
    guard start.contains("<html") || start.contains("<!doctype html") else { return nil }
    return ServiceProblem(
      .protocolViolation,
      "the answer is a web page instead of data, as of a login or a proxy; open the address in a browser to see it"
    )
  }
}

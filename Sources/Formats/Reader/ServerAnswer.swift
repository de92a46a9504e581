// SPDX-License-Identifier: Apache-2.0

import Nightscout

/// Recognises an answer of a server without data: an error, or an empty result.
///
/// The messages of an answer are printed, but never its tokens.
enum ServerAnswer {
  /// The members of answers without data. An object with any other member may be a reading.
  private static let envelope: Set<String> = [
    "status", "statuscode", "code", "subcode", "typename", "message", "description", "error", "errors",
    "error_description", "fault", "result", "data", "ticket", "timestamp", "path", "requestid", "details",
    "success",
  ]
  /// The names of the lists that hold the items of answers.
  private static let lists: Set<String> = [
    "data", "result", "graphData", "activeSensors", "entries", "records", "egvs", "readings", "items",
  ]
  private static let maxText = 160
  /// A word that contains a digit is shown only up to this length. A longer word may be a token, so `…` is
  /// shown instead.
  private static let maxWord = 16

  /// The reason why the answer holds no data, and what to do next; nil for any other input.
  static func refusal(of head: InputHead) -> String? {
    guard let members = head.answer, !members.isEmpty else { return nil }
    if let trouble = ServiceProblem.of(members) { return trouble.reason }
    guard isEnvelope(members), !members.values.contains(where: hasItems) else { return nil }
    if case .object(let data)? = members["data"], let refusal = libreRefusal(data) { return refusal }
    if let fault = members["fault"]?["faultstring"]?.text {
      return answer("Dexcom", fault, "log in again and download the data again")
    }
    if let code = members["Code"]?.text {
      let text = members["Message"]?.text.map { "\(code): \($0)" } ?? code
      return answer("Dexcom Share", text, "log in again and download the data again")
    }
    if let text = members["error"]?["message"]?.text, members["status"]?.number != nil {
      return answer("LibreLinkUp", text, "log in again and download the data again")
    }
    if let status = members["status"]?.number ?? members["statusCode"]?.number, status >= 400, status < 600 {
      let texts = ["message", "description"].compactMap { members[$0]?.text }
      return answer(
        "the server", (["status \(Int(status))"] + texts).joined(separator: ", "),
        status == 401 || status == 403
          ? "check the token in the address and download the data again" : "download the data again later")
    }
    let state = members.keys.allSatisfy(isKnown) ? stateText(members) : nil
    guard let text = errorText(members) ?? state ?? messageText(members) else { return nil }
    return answer("the server", text, "check the login or the token, and download the data again")
  }

  /// Whether an object has only members of answers without data, or an empty list of items.
  private static func isEnvelope(_ members: [String: JSONValue]) -> Bool {
    members.keys.allSatisfy(isKnown) || members.contains { lists.contains($0.key) && $0.value == .list([]) }
  }

  private static func isKnown(_ member: String) -> Bool {
    envelope.contains(member.lowercased()) || lists.contains(member)
  }

  /// The reason for refusing an answer that was fetched from a source. It quotes nothing from the answer,
  /// since the answer may name a person and a job may mail this reason.
  static let fetchedReason =
    "this is an error message of a server, not data; it may name a person, so that it is not shown here: open the address in a "
    + "browser, or run the command, and read it"

  /// Whether the answer is valid and has no items.
  static func isEmpty(_ head: InputHead) -> Bool {
    guard var members = head.answer, refusal(of: head) == nil else { return false }
    // The answer of LibreLinkUp may be saved with or without its envelope.
    if case .list? = members["graphData"] { members = ["data": .object(members)] }
    var found: [JSONValue] = []
    for (name, value) in members where name != "ticket" {
      if lists.contains(name), case .list = value { found.append(value) }
      guard name == "data", case .object(let data) = value else { continue }
      for (name, value) in data {
        if case .list = value { found.append(value) }
        // In an answer of LibreLinkUp, `connection` describes the person. If it has the newest measurement,
        // the answer holds a reading.
        if name == "connection",
          ["glucoseMeasurement", "glucoseItem"].contains(where: { isObject(value[$0]) })
        {
          return false
        }
      }
    }
    return !found.isEmpty && found.allSatisfy { $0 == .list([]) }
      && members.allSatisfy { name, _ in envelope.contains(name.lowercased()) || lists.contains(name) }
  }

  /// The reason for refusing an answer of LibreLinkUp in which the service asks for another step first.
  private static func libreRefusal(_ data: [String: JSONValue]) -> String? {
    if data["redirect"] == .flag(true) {
      let region = shown(data["region"]?.text ?? "another one")
      return "LibreLinkUp keeps this account in the region \(region): log in at api-\(region).libreview.io "
        + "and download the data again"
    }
    guard let step = data["step"]?["type"]?.text else { return nil }
    let todo =
      switch step {
      case "tou", "pp": "accept the terms in the LibreLinkUp app"
      case "verifyEmail": "confirm the e-mail address in the LibreLinkUp app"
      default: "finish the step '\(shown(step))' in the LibreLinkUp app"
      }
    return "LibreLinkUp gives no data until you \(todo); then download the data again"
  }

  private static func errorText(_ members: [String: JSONValue]) -> String? {
    if case .list(let errors)? = members["errors"], let first = errors.first {
      return first.text ?? first["message"]?.text ?? "an error without a message"
    }
    guard let error = members["error"] else { return nil }
    return members["error_description"]?.text ?? error.text ?? error["message"]?.text
  }

  /// The status in an answer, such as `"code": "unauthorized"` or `"status": 4`; nil if it means success.
  private static func stateText(_ members: [String: JSONValue]) -> String? {
    for name in ["status", "statusCode", "code"] {
      if let number = members[name]?.number, number != 0, !(200..<300).contains(number) {
        return "\(name) \(Int(exactly: number).map(String.init) ?? "unknown")"
      }
      if let text = members[name]?.text, !successes.contains(text.lowercased()), Double(text) == nil {
        return "\(name) \(text)"
      }
    }
    return nil
  }

  /// The message of an answer that states no error otherwise; nil for a message about something else, such as
  /// `No data`.
  private static func messageText(_ members: [String: JSONValue]) -> String? {
    if members["success"] == .flag(false) { return members["message"]?.text ?? "success false" }
    guard let text = members["message"]?.text, case let folded = text.lowercased(),
      refusals.contains(where: folded.contains)
    else { return nil }
    return text
  }
  private static let refusals = ["unauthori", "forbidden", "denied", "expired", "invalid", "not allowed"]

  private static let successes: Set<String> = ["", "ok", "success", "succeeded", "200", "0"]

  private static func answer(_ server: String, _ text: String, _ next: String) -> String {
    "this is an error message of a server, not an export; \(server) answered: \(shown(text)). Next: \(next)"
  }

  /// Whether a value holds data.
  private static func hasItems(_ value: JSONValue) -> Bool {
    switch value {
    case .list(let items): items.contains(where: isObject) && !items.allSatisfy { $0["message"] != nil }
    case .object(let members):
      members.values.contains { if case .list(let items) = $0 { !items.isEmpty } else { false } }
    default: false
    }
  }

  private static func isObject(_ value: JSONValue?) -> Bool {
    if case .object? = value { true } else { false }
  }

  /// A server's text on one line, shortened, and without words that may be tokens.
  private static func shown(_ text: String) -> String {
    let plain = text.prefix(1000).map { $0.isLetter || $0.isNumber || "!'(),-./:;?_".contains($0) ? $0 : " " }
    let words = String(plain).split(separator: " ").map { (word: Substring) -> String in
      word.count > maxWord && word.contains(where: \.isNumber) ? "…" : String(word)
    }
    return String(words.joined(separator: " ").prefix(maxText))
  }
}

// SPDX-License-Identifier: Apache-2.0

/// The fields for the length of a treatment, which API v3 computes when it changes a document of any
/// collection. They are the end, the duration in milliseconds, and the duration in whole minutes.
enum NightscoutDuration {
  /// - Parameter stored: the document before the changes; nil if `changes` is a whole document.
  static func settle(_ changes: inout NightscoutDocument, stored: NightscoutDocument? = nil) {
    let start = start(changes, stored ?? [:])
    if changes["endmills"] ?? .null == .null, let start, let length = length(changes, stored ?? [:]) {
      changes["endmills"] = .number(start + length)
    }
    let end = JavaScriptNumber.of(changes["endmills"])
    guard let start, changes["endmills"] != nil, end.isFinite, end >= start else { return }
    changes["durationInMilliseconds"] = .number(end - start)
    changes["duration"] = .number(JavaScriptNumber.rounded((end - start) / 60_000))
  }

  private static func length(_ changes: NightscoutDocument, _ stored: NightscoutDocument) -> Double? {
    for document in [changes, stored] {
      if let milliseconds = document["durationInMilliseconds"] {
        let length = orZero(milliseconds)
        return length > 0 ? length : nil
      }
      if let minutes = document["duration"] { return orZero(minutes) * 60_000 }
    }
    return nil
  }

  private static func orZero(_ value: DocumentValue) -> Double {
    let number = JavaScriptNumber.of(value)
    return number.isNaN ? 0 : number
  }

  private static func start(_ changes: NightscoutDocument, _ stored: NightscoutDocument) -> Double? {
    let candidates = [
      changes["mills"], stored["mills"], changes["created_at"], changes["date"], stored["created_at"],
      stored["date"],
    ]
    return candidates.lazy.compactMap(instant).first
  }

  private static func instant(_ value: DocumentValue?) -> Double? {
    switch value {
    case .number(let number)?: number
    case .string(let text)?:
      JavaScriptNumber.whole(text) ?? NightscoutTime.parse(text).map { Double($0.milliseconds) }
    default: nil
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

/// The valid links to pages, by the SHA-256 of their secrets. They are lost when the server ends.
actor PageLinks {
  struct Link: Sendable {
    /// The hash of the token that created it. That token must still open the same logbook.
    let tokenHash: [UInt8]
    let login: String
    let logbook: String
    let madeAt: Int64
    let expiresAt: Int64

    /// A clock that was set back does not extend a link.
    func isValid(at now: Int64) -> Bool { now >= madeAt && now < expiresAt }
  }

  private let max: Int
  private let maxPerLogin: Int
  private var links: [[UInt8]: (link: Link, place: Int)] = [:]
  private var last = 0

  init(max: Int, perLogin: Int) {
    self.max = max
    maxPerLogin = perLogin
  }

  /// Adds a link; false if other logins have too many.
  func add(_ link: Link, secretHash: [UInt8]) -> Bool {
    links = links.filter { $0.value.link.isValid(at: link.madeAt) }
    let own = links.filter { $0.value.link.login == link.login }
    if own.count >= maxPerLogin, let oldest = own.min(by: { $0.value.place < $1.value.place }) {
      links[oldest.key] = nil
    }
    guard links.count < max else { return false }
    last += 1
    links[secretHash] = (link, last)
    return true
  }

  /// The link of a secret; nil if there is none or it has expired.
  func link(secretHash: [UInt8], at now: Int64) -> Link? {
    guard let link = links[secretHash]?.link else { return nil }
    if !link.isValid(at: now) { links[secretHash] = nil }
    return link.isValid(at: now) ? link : nil
  }
}

// SPDX-License-Identifier: Apache-2.0

/// The links to pages that are valid: each by the SHA-256 of its secret. They end with the server, too.
actor PageLinks {
  struct Link: Sendable {
    /// That of the token that made it, which has to open the same logbook still.
    let tokenHash: [UInt8]
    let login: String
    let logbook: String
    let madeAt: Int64
    let expiresAt: Int64

    /// A clock that was set back makes no link last longer than it was made for.
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

  /// Keeps a link; false where there are too many of others.
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

  /// The link of a secret; nil where there is none, or none any more.
  func link(secretHash: [UInt8], at now: Int64) -> Link? {
    guard let link = links[secretHash]?.link else { return nil }
    if !link.isValid(at: now) { links[secretHash] = nil }
    return link.isValid(at: now) ? link : nil
  }
}

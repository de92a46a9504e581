// SPDX-License-Identifier: Apache-2.0

/// How a site is set up, and how it misbehaves for as long as a test says so.
package struct NightscoutSettings: Sendable {
  package var secret = "a secret of a site"
  /// Roles that everybody has, also who sends no credentials.
  package var defaultRoles: [String] = []
  /// The default and the cap of `limit` in v3.
  package var maxDocuments = 1000
  /// Days after which documents go, by collection.
  package var autopruneDays: [String: Double] = [:]
  /// Whether a POST of v3 meets documents without identifier.
  package var meetsLegacyDocuments = true
  /// Where the server is, in minutes east of UTC.
  package var serverOffsetMinutes = 0
  /// What a wrong credential costs: 5 s on a real site.
  package var penalty: Duration = .seconds(5)
  /// After which an idle connection is closed.
  package var idle: Duration = .seconds(5)
  package var maxBodyBytes = 50 << 20
  /// Whether who accepts gzip gets it.
  package var packsAnswers = false
  /// How long after its `srvModified` a write of v3 is seen by reads. The answer to the write does not wait.
  package var visibilityDelayMilliseconds: Int64 = 0
  /// The subject whose writes are seen late; nil for all.
  package var lateSubject: String?
  /// How long an answer takes over a wire.
  package var answerDelay: Duration = .zero
  /// How many writes of v3 have looked for their document before the first of them writes.
  package var looksBeforeWrite = 1

  package init() {}
}

/// What goes wrong with one call.
package enum NightscoutFault: Sendable {
  /// An error of the site; nothing is done.
  case status(Int, retryAfterSeconds: Int? = nil)
  /// The HTML page of a proxy or a hotel; nothing is done.
  case page(Int)
  /// This very answer, of whatever is before the site; nothing is done.
  case answer(Int, String)
  /// A redirect with method and body (307) to the same path at another base; nothing is done.
  case redirect(String)
  /// The connection ends; nothing is done.
  case reset
  /// No answer comes; nothing is done.
  case silence
  /// All is done, and the connection ends without an answer.
  case answerLost
  /// All is done, and no answer comes.
  case silenceAfterwards
  /// All is done and answered, and the connection is closed without a word of it.
  case closedAfterwards
}

/// What a site was asked so far.
package struct NightscoutCounts: Sendable, Equatable {
  package var requests = 0
  package var bytesReceived = 0
  package var bytesSent = 0
  /// By method and path without what names a document or an instant: `POST /api/v3/entries`.
  package var calls: [String: Int] = [:]
}

/// The clock of a site: the machine's, moved by some time, or standing still.
struct NightscoutClock {
  var frozen: Int64?
  var ahead: Int64 = 0
}

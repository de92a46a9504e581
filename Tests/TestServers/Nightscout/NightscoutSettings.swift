// SPDX-License-Identifier: Apache-2.0

/// The settings of a site, and the faults that a test requests.
package struct NightscoutSettings: Sendable {
  package var secret = "a secret of a site"
  /// Roles of every caller, with or without credentials.
  package var defaultRoles: [String] = []
  /// The default and the maximum of `limit` in API v3.
  package var maxDocuments = 1000
  /// Days after which documents are removed, by collection.
  package var autopruneDays: [String: Double] = [:]
  /// Whether a POST of API v3 finds documents without an identifier.
  package var meetsLegacyDocuments = true
  /// The server's zone, in minutes east of UTC.
  package var serverOffsetMinutes = 0
  /// The delay after wrong credentials, which is 5 s on a real site.
  package var penalty: Duration = .seconds(5)
  /// The time after which an idle connection is closed.
  package var idle: Duration = .seconds(5)
  package var maxBodyBytes = 50 << 20
  /// Whether a client that accepts gzip gets compressed answers.
  package var packsAnswers = false
  /// How long reads do not see a write of API v3 after its `srvModified`. The answer to the write is not
  /// delayed.
  package var visibilityDelayMilliseconds: Int64 = 0
  /// The subject whose writes become visible late; nil for all.
  package var lateSubject: String?
  /// The delay of an answer over a connection.
  package var answerDelay: Duration = .zero
  /// The number of API v3 writes that search their documents before the first of them writes. A test of
  /// writes at the same time sets it to more than one.
  package var looksBeforeWrite = 1

  package init() {}
}

/// A fault of one call.
package enum NightscoutFault: Sendable {
  /// The site answers with an error, and the call is not performed.
  case status(Int, retryAfterSeconds: Int? = nil)
  /// The HTML page of a proxy or hotel network comes, and the call is not performed.
  case page(Int)
  /// A proxy sends the given answer, and the call is not performed.
  case answer(Int, String)
  /// A redirect (307) leads to the same path at another base address, and the call is not performed.
  case redirect(String)
  /// The connection is reset, and the call is not performed.
  case reset
  /// No answer comes, and the call is not performed.
  case silence
  /// The call is performed, and the connection ends without an answer.
  case answerLost
  /// The call is performed, and no answer comes.
  case silenceAfterwards
  /// The call is performed and answered, and the connection is closed without notice.
  case closedAfterwards
}

/// The numbers of requests and bytes of a site.
package struct NightscoutCounts: Sendable, Equatable {
  package var requests = 0
  package var bytesReceived = 0
  package var bytesSent = 0
  /// The numbers of requests by method and path, for example `POST /api/v3/entries`. The paths lack
  /// identifiers of documents and times.
  package var calls: [String: Int] = [:]
}

/// The clock of a site, in milliseconds. It is stopped at `frozen`, or ahead of the machine's clock by
/// `ahead`.
struct NightscoutClock {
  var frozen: Int64?
  var ahead: Int64 = 0
}

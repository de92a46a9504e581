// SPDX-License-Identifier: Apache-2.0

/// The settings of a site, and the faults that a test requests.
package struct NightscoutSettings: Sendable {
  package var secret = "a secret of a site"
  /// Roles of every caller, with or without credentials.
  package var defaultRoles: [String] = []
  /// The default and the maximum of `limit` in v3.
  package var maxDocuments = 1000
  /// Days after which documents are removed, by collection.
  package var autopruneDays: [String: Double] = [:]
  /// Whether a POST of v3 finds documents without an identifier.
  package var meetsLegacyDocuments = true
  /// The server's zone, in minutes east of UTC.
  package var serverOffsetMinutes = 0
  /// The delay after wrong credentials, which is 5 s on a real site.
  package var penalty: Duration = .seconds(5)
  /// The time after which an idle connection is closed.
  package var idle: Duration = .seconds(5)
  package var maxBodyBytes = 50 << 20
  /// Whether a client that accepts gzip gets it.
  package var packsAnswers = false
  /// How long after its `srvModified` reads see a write of v3. The answer to the write is not delayed.
  package var visibilityDelayMilliseconds: Int64 = 0
  /// The subject whose writes become visible late; nil for all.
  package var lateSubject: String?
  /// The delay of an answer over a connection.
  package var answerDelay: Duration = .zero
  /// The number of v3 writes that have searched their document before the first of them writes.
  package var looksBeforeWrite = 1

  package init() {}
}

/// A fault of one call.
package enum NightscoutFault: Sendable {
  /// An error of the site without any change.
  case status(Int, retryAfterSeconds: Int? = nil)
  /// The HTML page of a proxy or hotel without any change.
  case page(Int)
  /// The given answer of a server before the site, without any change.
  case answer(Int, String)
  /// A redirect with method and body (307) to the same path at another base, without any change.
  case redirect(String)
  /// The connection ends without any change.
  case reset
  /// No answer comes, without any change.
  case silence
  /// The call is performed, and the connection ends without an answer.
  case answerLost
  /// The call is performed, and no answer comes.
  case silenceAfterwards
  /// The call is performed and answered, and the connection is closed without notice.
  case closedAfterwards
}

/// The number of requests to a site.
package struct NightscoutCounts: Sendable, Equatable {
  package var requests = 0
  package var bytesReceived = 0
  package var bytesSent = 0
  /// The numbers of requests, by method and path without the names of documents and instants: `POST
  /// /api/v3/entries`.
  package var calls: [String: Int] = [:]
}

/// The clock of a site: that of the machine, with an offset or stopped.
struct NightscoutClock {
  var frozen: Int64?
  var ahead: Int64 = 0
}

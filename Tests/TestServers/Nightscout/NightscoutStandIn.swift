// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A simulated Nightscout site of release 15.0.7 in memory and on loopback: API v1, the authorization of API
/// v2, and API v3. Its answers are like those of a real site. A test can plan faults of the connection.
package final class NightscoutStandIn: Sendable {
  package static let version = "15.0.7"

  private let site: NightscoutSite
  private let server: ScriptedServer?

  /// - Parameter frozenAt: the time of a stopped clock in milliseconds; nil for a clock that runs with the
  ///   machine's.
  package init(_ settings: NightscoutSettings = NightscoutSettings(), frozenAt: Int64? = nil) throws {
    let site = NightscoutSite(settings, frozenAt: frozenAt)
    site.state.withLock { $0.access.defaultRoles = settings.defaultRoles }
    self.site = site
    server = try ScriptedServer { site.answer($0) }
  }

  /// A site that only `reply` reaches, without a connection.
  package init(_ settings: NightscoutSettings = NightscoutSettings(), withoutWireAt frozenAt: Int64) {
    site = NightscoutSite(settings, frozenAt: frozenAt)
    server = nil
  }

  /// A copy of a site with all its data, without a connection.
  package init(copying other: NightscoutStandIn) {
    site = NightscoutSite(copying: other.site)
    server = nil
  }

  package var url: String { server?.url ?? "http://localhost" }
  package var port: UInt16 { server?.port ?? 0 }
  /// Every request so far, as it was received.
  package var requests: [ReceivedRequest] { server?.requests ?? [] }
  package var connectionCount: Int { server?.connectionCount ?? 0 }
  /// Answers a request without a connection.
  package func reply(_ request: ReceivedRequest) -> NightscoutReply { site.reply(request) }
  package var counts: NightscoutCounts { site.state.withLock { $0.counts } }
  package func resetCounts() { site.state.withLock { $0.counts = NightscoutCounts() } }

  /// Changes the settings of the running site, except the secret.
  package func change(_ change: (inout NightscoutSettings) -> Void) {
    site.state.withLock { state in
      change(&state.settings)
      state.access.defaultRoles = state.settings.defaultRoles
      state.looks = 0
    }
  }
}

// MARK: Clock

extension NightscoutStandIn {
  /// The site's time in milliseconds.
  package var now: Int64 { site.state.withLock { $0.now } }

  package func freezeClock(at milliseconds: Int64) { site.state.withLock { $0.clock.frozen = milliseconds } }

  /// Moves the clock forward or back, whether it is running or not.
  package func moveClock(by milliseconds: Int64) {
    site.state.withLock { state in
      state.clock.ahead += milliseconds
      state.clock.frozen? += milliseconds
    }
  }

  /// Starts the clock with this lead over the machine's clock.
  package func runClock(ahead milliseconds: Int64 = 0) {
    site.state.withLock { $0.clock = NightscoutClock(frozen: nil, ahead: milliseconds) }
  }
}

// MARK: Access

extension NightscoutStandIn {
  /// The value of the header `api-secret`.
  package var secretDigest: String { site.state.withLock { NightscoutDigest.sha1($0.access.secret) } }

  /// Adds a role with rights such as `api:entries:create,read`.
  package func setRole(_ name: String, _ rights: [String]) {
    site.state.withLock { $0.access.setRole(name, rights) }
  }

  /// Adds a role with typed text, which the page splits at blanks, commas and semicolons.
  package func setRole(_ name: String, typed text: String) {
    site.state.withLock { $0.access.setRole(name, typed: text) }
  }

  /// Adds a subject and returns its access token.
  package func addSubject(_ name: String, roles: [String]) -> String {
    site.state.withLock { $0.access.addSubject(name, roles: roles).token }
  }

  /// Adds a subject with exactly these rights and returns its access token.
  package func addSubject(_ name: String, rights: [String]) -> String {
    setRole("role of \(name)", rights)
    return addSubject(name, roles: ["role of \(name)"])
  }

  package func removeSubject(_ name: String) { site.state.withLock { $0.access.removeSubject(name) } }

  /// The access token of a subject, also of one that a client added.
  package func accessToken(of name: String) -> String? {
    site.state.withLock { state in state.access.subjects.first { $0.name == name }?.token }
  }

  /// Invalidates every token, as a new installation does.
  package func redeploy() { site.state.withLock { $0.access.redeploy() } }
}

// MARK: Process

extension NightscoutStandIn {
  /// Whether the server's process has ended. Then no client gets an answer.
  package var isDown: Bool { site.state.withLock { $0.isDown } }

  /// Starts the process again. Its memory is filled from the database.
  package func restart() {
    site.state.withLock { state in
      state.isDown = false
      state.memory.restart()
      state.settle()
    }
  }

  /// Makes the running site reload its data, as it does within seconds after each write.
  package func settle() { site.state.withLock { $0.settle() } }

  /// The active insulin in units, as the site computes it now.
  package var insulinOnBoard: Double {
    settle()
    return site.state.withLock { $0.onBoard.insulin }
  }

  /// The carbs that are not yet absorbed, in grams, as the site computes them now; nil without a profile.
  package var carbsOnBoard: Double? {
    settle()
    return site.state.withLock { $0.onBoard.carbs }
  }
}

// MARK: Faults

extension NightscoutStandIn {
  /// Plans faults for the next matching calls. The faults are used in the order in which they were planned.
  package func plan(
    _ fault: NightscoutFault, times: Int = 1,
    for concerns: @escaping @Sendable (ReceivedRequest) -> Bool = { _ in true }
  ) {
    site.state.withLock {
      $0.faults.append(NightscoutState.Planned(fault: fault, times: times, concerns: concerns))
    }
  }

  package func forgetFaults() { site.state.withLock { $0.faults = [] } }
}

// MARK: Inspection

extension NightscoutStandIn {
  /// The documents of a collection in the database, including deleted ones and those that reads do not see
  /// yet.
  package func documents(_ collection: String) -> [NightscoutDocument] {
    site.state.withLock { $0.collections[collection]?.documents ?? [] }
  }

  /// The documents of a collection that reads see at this moment, including deleted ones.
  package func visibleDocuments(_ collection: String) -> [NightscoutDocument] {
    site.state.withLock { $0.seen(collection).map(\.document) }
  }

  /// The documents with this identifier; there can be several.
  package func documents(_ collection: String, identifier: String) -> [NightscoutDocument] {
    documents(collection).filter { $0["identifier"]?.text == identifier }
  }

  /// Puts a document into the database unchanged, with an `_id` if it has none.
  @discardableResult
  package func put(_ document: NightscoutDocument, in collection: String) -> String {
    site.state.withLock { state in
      var document = document
      let id = document["_id"] ?? state.objectID()
      document["_id"] = id
      state.insert(document, in: collection)
      return id.text ?? ""
    }
  }

  /// An app of another person, which writes as with API v1 and the web page's socket. It sends no requests.
  package func actAsPhoneApp() -> NightscoutPhoneApp { NightscoutPhoneApp(site: site) }
}

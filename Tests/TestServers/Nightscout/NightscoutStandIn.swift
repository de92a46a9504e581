// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A Nightscout site, release 15.0.7, as seen from outside: v1, v2's authorization and v3, on loopback and in
/// memory, with its traps, and with what can go wrong on the way to it.
package final class NightscoutStandIn: Sendable {
  package static let version = "15.0.7"

  private let site: NightscoutSite
  private let server: ScriptedServer?

  /// - Parameter frozenAt: where its clock does not move, in milliseconds; else it runs with the machine's.
  package init(_ settings: NightscoutSettings = NightscoutSettings(), frozenAt: Int64? = nil) throws {
    let site = NightscoutSite(settings, frozenAt: frozenAt)
    site.state.withLock { $0.access.defaultRoles = settings.defaultRoles }
    self.site = site
    server = try ScriptedServer { site.answer($0) }
  }

  /// A site that nobody reaches by a wire.
  package init(_ settings: NightscoutSettings = NightscoutSettings(), withoutWireAt frozenAt: Int64) {
    site = NightscoutSite(settings, frozenAt: frozenAt)
    server = nil
  }

  /// A copy of a site, with all that it holds, that nobody reaches by a wire.
  package init(copying other: NightscoutStandIn) {
    site = NightscoutSite(copying: other.site)
    server = nil
  }

  package var url: String { server?.url ?? "http://localhost" }
  package var port: UInt16 { server?.port ?? 0 }
  /// Every request so far, as it came.
  package var requests: [ReceivedRequest] { server?.requests ?? [] }
  package var connectionCount: Int { server?.connectionCount ?? 0 }
  /// Answers a request that comes by no wire.
  package func reply(_ request: ReceivedRequest) -> NightscoutReply { site.reply(request) }
  package var counts: NightscoutCounts { site.state.withLock { $0.counts } }
  package func resetCounts() { site.state.withLock { $0.counts = NightscoutCounts() } }

  /// Changes the settings of the running site. The secret stays.
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

  /// Moves the clock, running or not, forward or back.
  package func moveClock(by milliseconds: Int64) {
    site.state.withLock { state in
      state.clock.ahead += milliseconds
      state.clock.frozen? += milliseconds
    }
  }

  /// Lets the clock run, so far ahead of the machine's.
  package func runClock(ahead milliseconds: Int64 = 0) {
    site.state.withLock { $0.clock = NightscoutClock(frozen: nil, ahead: milliseconds) }
  }
}

// MARK: Access

extension NightscoutStandIn {
  /// The value of the header `api-secret`.
  package var secretDigest: String { site.state.withLock { NightscoutDigest.sha1($0.access.secret) } }

  /// Makes a role of rights such as `api:entries:create,read`.
  package func setRole(_ name: String, _ rights: [String]) {
    site.state.withLock { $0.access.setRole(name, rights) }
  }

  /// Makes a role of what is typed into the page, which splits it at blanks, commas and semicolons.
  package func setRole(_ name: String, typed text: String) {
    site.state.withLock { $0.access.setRole(name, typed: text) }
  }

  /// Makes a subject and returns its access token.
  package func addSubject(_ name: String, roles: [String]) -> String {
    site.state.withLock { $0.access.addSubject(name, roles: roles).token }
  }

  /// Makes a subject with these very rights and returns its access token.
  package func addSubject(_ name: String, rights: [String]) -> String {
    setRole("role of \(name)", rights)
    return addSubject(name, roles: ["role of \(name)"])
  }

  package func removeSubject(_ name: String) { site.state.withLock { $0.access.removeSubject(name) } }

  /// The access token of a subject, also of one that was made over the wire.
  package func accessToken(of name: String) -> String? {
    site.state.withLock { state in state.access.subjects.first { $0.name == name }?.token }
  }

  /// Voids every token given out, as a new installation does.
  package func redeploy() { site.state.withLock { $0.access.redeploy() } }
}

// MARK: Process

extension NightscoutStandIn {
  /// Whether the server's process ended. Nobody gets an answer any more.
  package var isDown: Bool { site.state.withLock { $0.isDown } }

  /// Starts the process again: all that is in memory comes from the database.
  package func restart() {
    site.state.withLock { state in
      state.isDown = false
      state.memory.restart()
      state.settle()
    }
  }

  /// Lets the running site read its data again, as it does within seconds after each write.
  package func settle() { site.state.withLock { $0.settle() } }

  /// Units that still act, as the site computes them now.
  package var insulinOnBoard: Double {
    settle()
    return site.state.withLock { $0.onBoard.insulin }
  }

  /// Grams that still act, as the site computes them now; nil without a profile.
  package var carbsOnBoard: Double? {
    settle()
    return site.state.withLock { $0.onBoard.carbs }
  }
}

// MARK: Faults

extension NightscoutStandIn {
  /// Lets the next calls that are concerned go wrong. Faults are used up in the order they were planned.
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
  /// The documents of a collection as they are in the database, deleted ones too, and those that reads see later.
  package func documents(_ collection: String) -> [NightscoutDocument] {
    site.state.withLock { $0.collections[collection]?.documents ?? [] }
  }

  /// The documents of a collection that reads see by now, deleted ones too.
  package func visibleDocuments(_ collection: String) -> [NightscoutDocument] {
    site.state.withLock { $0.seen(collection).map(\.document) }
  }

  /// The documents with this identifier; there may be several.
  package func documents(_ collection: String, identifier: String) -> [NightscoutDocument] {
    documents(collection).filter { $0["identifier"]?.text == identifier }
  }

  /// Puts a document into the database as it is, with an `_id` if it has none.
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

  /// An app of another person, which writes by v1 and by the web page's socket, without a request.
  package func actAsPhoneApp() -> NightscoutPhoneApp { NightscoutPhoneApp(site: site) }
}

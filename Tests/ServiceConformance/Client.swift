// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Logbook
package import LogbookAPI

/// A client of a logbook on a server: one node, with its current run and its cursor.
package struct Client: Sendable {
  package let service: any LogbookService
  package let login: Login
  package var run: RunStamp
  package var cursor: String?

  package init(_ stand: RunningStorage, as login: Login? = nil) {
    let login = login ?? stand.writer
    self.login = login
    service = stand.logbook(login)
    run = RunStamp(node: Self.uuid(), number: 1, id: Self.uuid())
  }

  /// A run of the node with the number `node`.
  static func run(_ node: Int) -> RunStamp {
    RunStamp(
      node: "00000000-0000-4000-8000-00000000000\(node)", number: 3,
      id: "11111111-1111-4111-8111-11111111111\(node)")
  }

  package static func uuid() -> String { UUID().uuidString.lowercased() }

  @discardableResult
  package func push(_ batch: ReadingBatch) async throws -> ReadingAnswer {
    try await service.store(batch, run)
  }

  @discardableResult
  package func push(_ changes: RecordChange...) async throws -> [RecordVerdict] {
    // A change names the node that sent it first. For changes made by `Sample`, this is the client's node.
    let own = changes.map { change in
      change.node == Sample.node
        ? RecordChange(
          guid: change.guid, node: run.node, version: change.version, base: change.base, state: change.state)
        : change
    }
    return try await service.apply(own, run).verdicts
  }

  /// Pushes one change, and returns its revision. The service must accept the change.
  package func revision(_ change: RecordChange) async throws -> String {
    guard case .accepted(let revision)? = try await push(change).first else { throw Refused() }
    return revision
  }

  /// Pulls the page after the cursor, and moves the cursor to its end. Returns nil if nothing has changed.
  package mutating func pull(limit: Int = WireProtocol.maxReadings) async throws -> ChangePage? {
    let page = try await service.changes(after: cursor, limit: limit, run)
    if let page { cursor = page.cursor }
    return page
  }

  /// Pulls all pages after the cursor.
  package mutating func pullAll(limit: Int = WireProtocol.maxReadings) async throws -> [ChangePage] {
    var pages: [ChangePage] = []
    while let page = try await pull(limit: limit) { pages.append(page) }
    return pages
  }

  private struct Refused: Error {}
}

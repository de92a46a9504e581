// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import LogbookServer
import ServerStore

/// A glucoport server on loopback with one empty logbook.
enum ServedLogbook {
  static let writeToken = "gp_conformance-writer"
  static let readToken = "gp_conformance-reader"

  /// Runs a server, and passes its URL to `body`.
  ///
  /// - Parameter hasPages: whether the server creates links to pages. No page exists.
  static func with(hasPages: Bool = false, _ body: @Sendable (_ url: String) async throws -> Void)
    async throws
  {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "glucoport-served-\(UUID().uuidString)")
    let storage = try EmbeddedStorage(folder: folder.path)
    let (writer, reader) = (LoginToken(writeToken), LoginToken(readToken))
    try await storage.logins.add(name: "writer", role: .write, logbook: "Anna", token: writer, at: 0)
    try await storage.logins.add(name: "reader", role: .read, logbook: nil, token: reader, at: 0)
    var settings = ServerSettings(addresses: [ListeningAddress(host: "127.0.0.1", port: 0)]) { 1_795_219_200 }
    settings.isQuiet = true
    if hasPages {
      settings.pages = PageSettings(source: NoPages()) {
        var generator = SystemRandomNumberGenerator()
        return LoginToken(using: &generator)
      }
    }
    let server = LogbookServer(storage, settings)
    try await withThrowingTaskGroup(of: Void.self) { group in
      let (urls, continuation) = AsyncStream.makeStream(of: String.self)
      group.addTask { try await server.run { continuation.yield($0[0]) } }
      var iterator = urls.makeAsyncIterator()
      try await body(await iterator.next() ?? "")
      group.cancelAll()
    }
    try await storage.close()
    try FileManager.default.removeItem(at: folder)
  }
}

private struct NoPages: PageSource {
  func page(_ request: PageRequest, of logbook: any LogbookService) async throws -> PageAnswer {
    .invalid("no such page")
  }
}

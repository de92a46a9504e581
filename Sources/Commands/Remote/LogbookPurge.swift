// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Remotes

/// The removal of a logbook on its server.
struct LogbookPurge {
  let setting: RemoteSetting

  /// The logbook on the server; nil if it no longer exists, for example after a run that ended before it
  /// removed the store.
  ///
  /// - Throws: `Failure` if the server is not reachable, or cannot remove logbooks.
  func logbook() async throws -> RemoteLogbook? {
    let logbook: RemoteLogbook? = try await setting.access.ask { remote in
      guard remote.purging != nil else {
        throw Failure(
          .configuration,
          "\(setting.access.url): this kind of server cannot remove a logbook; nothing was sent")
      }
      do throws(ServiceError) {
        return try await remote.logbook()
      } catch {
        guard error == .purged else { throw error }
        return nil
      }
    }
    guard let logbook else { return nil }
    guard logbook.id == setting.logbook else {
      throw Failure(.otherLogbook(id: logbook.id), host: setting.access.url)
    }
    guard logbook.isWritable else { throw Failure(.readOnly, host: setting.access.url) }
    return logbook
  }

  /// Removes it.
  func purge(_ logbook: RemoteLogbook) async throws {
    try await setting.access.ask { remote in
      do throws(ServiceError) {
        try await remote.purging?.purge(logbook)
      } catch {
        // Another store was faster, or the answer to this request was lost.
        guard error == .purged else { throw error }
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

/// A remote that can remove a logbook for ever.
public protocol PurgingRemote: Sendable {
  /// Removes a logbook with everything in it. From then on every request for it, of whichever node, ends with
  /// `RemoteError.purged`.
  ///
  /// - Parameter logbook: the logbook of the login; the remote refuses another id or name.
  func purge(_ logbook: RemoteLogbook) async throws(RemoteError)
}

// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A separate temporary folder. It is removed when this object is released.
package final class ScratchFolder: Sendable {
  package let url = FileManager.default.temporaryDirectory.appending(
    path: "glucoport-server-\(UUID().uuidString)")
  package var path: String { url.path }

  package init() throws {
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: url)
    } catch {
      // If the folder remains in the temporary folder, it affects no test.
    }
  }

  /// Replaces the other folder by a copy of this folder.
  package func copy(to other: ScratchFolder) throws {
    try FileManager.default.removeItem(at: other.url)
    try FileManager.default.copyItem(at: url, to: other.url)
  }
}

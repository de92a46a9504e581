// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A separate folder, which is removed with this value.
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
      // A folder that remains among the temporary ones does not affect a test.
    }
  }

  /// Replaces the content of another folder with a copy of everything.
  package func copy(to other: ScratchFolder) throws {
    try FileManager.default.removeItem(at: other.url)
    try FileManager.default.copyItem(at: url, to: other.url)
  }
}

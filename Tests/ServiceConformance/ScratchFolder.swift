// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Its own folder, which is removed with this value.
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
      // A folder that is left behind among the temporary ones harms no test.
    }
  }

  /// Puts a copy of everything into another folder, in place of what is there.
  package func copy(to other: ScratchFolder) throws {
    try FileManager.default.removeItem(at: other.url)
    try FileManager.default.copyItem(at: url, to: other.url)
  }
}

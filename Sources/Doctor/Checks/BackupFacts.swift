// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// The backups that were made of a store.
package struct BackupFacts: Sendable {
  /// The age in seconds from which a backup is reported as too old.
  private static let maxAge: Int64 = 30 * 86_400

  /// The last backup that the store recorded; nil for none.
  package var last: BackupNote?
  /// Whether the file of the last backup exists; nil for a backup to standard output.
  package var isThere: Bool?
  /// The host's clock in UTC seconds.
  package var now: Int64
  /// Why the notes that the store keeps about its backups cannot be read; nil if they can.
  package var problem: Failure?

  /// The last backup, and whether its file is there.
  package init(last: BackupNote?, isThere: Bool?, now: Int64, problem: Failure? = nil) {
    (self.last, self.isThere, self.now, self.problem) = (last, isThere, now, problem)
  }

  /// The age of the last backup, and whether its file exists.
  var findings: [Finding] {
    if let problem { return [Finding(.backups, .warn, problem.message)] }
    guard let last else {
      return [
        Finding(
          .backups, .note, "no backup was made with 'glucoport backup' so far",
          fix: "mkdir -p ~/backup && glucoport backup ~/backup")
      ]
    }
    let made = "the last backup is of \(DeviceTime(seconds: last.madeAt).text)Z"
    guard let age = StoredAge.seconds(of: last.madeAt, now: now) else {
      return [
        Finding(.backups, .warn, "\(made), which is in the future, so that its age is unknown", fix: fix)
      ]
    }
    if age > Self.maxAge {
      return [Finding(.backups, .warn, "\(made), more than 30 days ago", fix: fix)]
    }
    guard isThere != false else {
      return [
        Finding(
          .backups, .note, "\(made), and its file is not at \(PathText.shown(last.path)) any more", fix: fix)
      ]
    }
    return [Finding(.backups, .ok, last.path.isEmpty ? made : "\(made): \(PathText.shown(last.path))")]
  }

  private var fix: String {
    let path = last?.path ?? ""
    return path.isEmpty ? "glucoport backup - | …" : "glucoport backup \(quoted(PathText.folder(of: path)))"
  }
}

// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// The content of the store.
package struct StoreFacts: Sendable {
  /// The result of reading the store.
  package enum ReadResult: Sendable {
    /// No store exists yet.
    case none
    /// The store cannot be read.
    case refused(Failure)
    /// The store was read.
    case examined(StoreExamination)
  }

  /// The path of the store for commands; nil if none was given.
  package var path: String?
  /// The result of reading the store.
  package var content: ReadResult
  /// The size of the store's log (`-wal`) in bytes.
  package var logBytes: Int64

  /// A store with its content.
  package init(path: String?, content: ReadResult, logBytes: Int64 = 0) {
    self.path = path
    self.content = content
    self.logBytes = logBytes
  }

  /// The problems of the store. If there are none, one finding states that the store is sound.
  var findings: [Finding] {
    switch content {
    case .none:
      return [Finding(.store, .note, "there is no store yet; 'glucoport import' creates one")]
    case .refused(let failure):
      return [Finding(.store, .fail, failure.message, fix: fix(failure), failure.category)]
    case .examined(let store):
      let found = damage(store) + log + openWorkFindings(store)
      return found.isEmpty ? [Finding(.store, .ok, "\(sound(store)), schema \(store.schema)")] : found
    }
  }

  private func sound(_ store: StoreExamination) -> String {
    guard store.deep != nil else { return "a quick check finds no damage" }
    let checked = "every page, reference and attachment was checked, without damage"
    guard let copy = store.comparison else { return checked }
    return "\(checked), and \(copy.readings + copy.records) readings and records are the same in the copy"
  }

  private func fix(_ failure: Failure) -> String? {
    failure.category == .inputOutput ? restore : nil
  }

  /// The command that restores a backup. It also moves the store's log (`-wal`) away with the damaged file.
  /// Otherwise SQLite would apply the log to the backup.
  private var restore: String {
    let (store, folder) = (quoted(path ?? ""), quoted(PathText.folder(of: path ?? "") + "/damaged"))
    return "mkdir \(folder) && mv \(store)* \(folder) && cp BACKUP \(store)"
  }

  private func damage(_ store: StoreExamination) -> [Finding] {
    var found: [Finding] = []
    func fail(_ detail: String) {
      found.append(
        Finding(.store, .fail, detail + "; restore the store from a backup", fix: restore, .inputOutput))
    }
    if let first = store.damage.first {
      let more = store.damage.count > 1 ? ", and more" : ""
      fail("the file is damaged: \(first.replacing("\n", with: " "))\(more)")
    }
    if let first = store.changedSchema.first {
      let more = store.changedSchema.count > 1 ? " and \(store.changedSchema.count - 1) more are" : " is"
      fail("\(first)\(more) missing or changed, so the rules of the store do not hold")
    }
    if let first = store.foreignSchema.first {
      found.append(
        Finding(
          .store, .fail,
          "glucoport did not make the \(first.replacing("\n", with: " ")), which may change what is stored or refuse it, so nothing is stored",
          fix: StoreExamination.removal(of: first, from: path ?? ""), .configuration))
    }
    if let deep = store.deep {
      if deep.brokenReferences > 0 { fail("\(deep.brokenReferences) rows refer to rows that do not exist") }
      if !deep.brokenRules.isEmpty {
        fail("rows have values that the store never writes: \(deep.brokenRules.joined(separator: ", "))")
      }
      if deep.misplacedSeries > 0 {
        fail(
          "\(deep.misplacedSeries) series do not have the readings that were stored, so listings lack readings"
        )
      }
      if deep.lostWithdrawals > 0 {
        fail("\(deep.lostWithdrawals) hidden readings are not in the store, so others may show again")
      }
      if deep.wrongContents > 0 {
        fail("\(deep.wrongContents) attachments do not have the SHA-256 that they should have")
      }
      if deep.unreachableReadings > 0 {
        fail("no upload finds \(deep.unreachableReadings) pending readings, which are in no pending_range")
      }
    }
    if let comparison = store.comparison, let first = comparison.first {
      // It is unknown whether the store or the copy is damaged, so no command that replaces a file is
      // proposed.
      found.append(
        Finding(
          .store, .fail,
          "the store and the copy differ: missing in the store \(comparison.missing), different \(comparison.differing), "
            + "first \(first); one of both files is damaged, and 'glucoport show' on each shows the values",
          .inputOutput))
    }
    return found
  }

  /// The warning about a large log (`-wal`). SQLite copies the log into the store when no other connection
  /// uses the log. A reader that never ends prevents this.
  private var log: [Finding] {
    guard logBytes > 64 << 20 else { return [] }
    return [
      Finding(
        .store, .warn,
        "the log beside the store has \(logBytes >> 20) MiB; a program that keeps the store open prevents its return",
        fix: "fuser -v \(quoted((path ?? "") + "-wal"))")
    ]
  }

  private func openWorkFindings(_ store: StoreExamination) -> [Finding] {
    var found: [Finding] = []
    if store.unfinishedImports > 0 {
      found.append(
        Finding(
          .store, .note,
          "unfinished imports: \(store.unfinishedImports); what they stored is complete, the rest is imported by repeating them",
          fix: "glucoport log"))
    }
    if store.conflicts > 0 {
      found.append(
        Finding(
          .store, .note, "conflicts that need a decision: \(store.conflicts)", fix: "glucoport conflict list")
      )
    }
    if store.hidden > 0 {
      found.append(
        Finding(
          .store, .note,
          "hidden readings and records that the store still holds: \(store.hidden); 'glucoport undo --help' says how to remove data",
          fix: "glucoport list --hidden"))
    }
    if store.refused > 0 {
      found.append(
        Finding(
          .store, .note, "items that the remote refused: \(store.refused)",
          fix: "glucoport upload --retry-refused"))
    }
    return found
  }
}

// SPDX-License-Identifier: Apache-2.0

import Ingest
import Logbook
import LogbookStore

/// The import of another store of the same person.
struct StoreImport {
  private let command: ImportCommand
  private let path: String
  private let target: ImportTarget
  private let output: Output
  private let isItself: Bool

  /// Nil for a file that is no store.
  init?(_ command: ImportCommand, _ path: String, _ target: ImportTarget, _ output: Output) {
    // Closing the file of the store itself would end the locks that its connections have.
    isItself = Host.isSameFile(path, target.path)
    guard isItself || Store.isStore(path: path) else { return nil }
    (self.command, self.path, self.target, self.output) = (command, path, target, output)
  }

  func run() throws -> ExitStatus {
    guard !isItself else {
      throw Failure(.usage, "\(displayed(path)): this is the store itself; name another one")
    }
    if let option = command.optionOfExports {
      throw Failure(.usage, "\(displayed(path)): this is a store; \(option) is only for exports")
    }
    let other = try Store(path: path, role: .reader, upgrades: false)
    if !command.yes { try requireSamePerson(other) }
    let store = try target.store()
    if !command.dryRun { try keepCopy(of: store) }
    let report = try StoreMerge(other, at: Host.now()).report(named: path, into: store)
    return try command.show(report, in: { store }, output)
  }

  /// The store as it was: a merge is no import that `undo` takes back.
  private func keepCopy(of store: Store) throws {
    let kept = store.path + ".before-merge"
    let copy = try BackupFile.replace(kept, by: store, part: kept + ".part")
    if !command.quiet, !command.json, copy.readings + copy.records > 0 {
      output.message(
        "glucoport: the store as it was before is kept in \(displayed(kept)); 'glucoport restore' makes it the store again"
      )
    }
  }

  private func requireSamePerson(_ other: Store) throws {
    let advice = "nothing was imported; if it is of the same person, add --yes"
    // The store itself was refused before.
    if let owner = try PersonList.load().owner(ofStore: path) {
      throw Failure(.badInput, "\(displayed(path)): this is the store of \(displayed(owner.name)); \(advice)")
    }
    guard let mine = target.present else { return }
    if let own = try mine.syncedLogbook(), let theirs = try other.syncedLogbook(), own != theirs {
      throw Failure(.badInput, "\(displayed(path)): this store was synced with another logbook; \(advice)")
    }
    let stated = try other.statedInSettings()
    let verdicts = try [mine.verdict(on: stated), mine.verdict(onPersonOf: other)]
    let agrees = try StatedPerson.agree(mine.statedInSettings(), stated)
    for case .other(let ingest, _, _) in verdicts where agrees != true {
      throw Failure(
        .badInput, "\(displayed(path)): this store is of another person than import \(ingest); \(advice)")
    }
    if agrees == false {
      throw Failure(
        .badInput,
        "\(displayed(path)): this store has another name or date of birth in its settings; \(advice)")
    }
  }
}

extension Store {
  /// What `config name` and `config born` state.
  fileprivate func statedInSettings() throws -> [StatedPerson] {
    let name = try personName().flatMap { StatedPerson(name: $0) }
    let born = try personBorn().flatMap { StatedPerson(birthDate: $0) }
    return [name, born].compactMap(\.self)
  }
}

extension StatedPerson {
  /// Whether both are of one person; nil where one states nothing that the other does.
  fileprivate static func agree(_ one: [StatedPerson], _ other: [StatedPerson]) -> Bool? {
    for kind in [Kind.birthDate, .name] {
      guard let mine = one.first(where: { $0.kind == kind }),
        let theirs = other.first(where: { $0.kind == kind })
      else { continue }
      return agree(mine.words, theirs.words)
    }
    return nil
  }
}

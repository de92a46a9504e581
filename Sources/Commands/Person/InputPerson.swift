// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook
import LogbookStore

/// The person of an input: not another one than that of the store, nor that of another store on this computer.
struct InputPerson {
  private let stated: [StatedPerson]
  private let name: String
  private let store: Store?
  private let storePath: String
  /// The path of a file, for the command that imports it for another person; nil for what is in no file.
  private let path: String?
  /// What to do if the input is of the person of this store.
  private let acceptance: String

  init(_ reader: ExportReader, _ path: String, _ target: ImportTarget) {
    (stated, name) = (reader.statedPersons, reader.name)
    (store, storePath, self.path) = (target.present, target.path, path)
    acceptance = "if it is of the person of this store, add --yes"
  }

  /// - Parameters:
  ///   - stated: what the answer of a source states.
  ///   - name: the name of the source, for messages.
  init(_ stated: [StatedPerson], of name: String, for store: Store?, at path: String) {
    (self.stated, self.name, self.store, storePath, self.path) = (stated, name, store, path, nil)
    acceptance =
      "if it is of the person of this store, set the source again with --accept-person"
  }

  /// - Throws: `Failure` of category `badInput` for an input of another person.
  func require() throws {
    guard !stated.isEmpty else { return }
    let verdict = try store?.verdict(on: stated) ?? .unknown
    if verdict == .same { return }
    let other = try personWithIt()
    let reason: String
    switch verdict {
    case .other(let ingest, let format, let startedAt):
      let day = DeviceTime(seconds: startedAt).text.prefix(10)
      reason =
        "this input states another person than import \(ingest) (\(SourceTitle.format(format)), \(day)) did"
    case .same, .unknown:
      guard let other else { return }
      reason = "this input states the person of \(displayed(other.name))"
    }
    let hint = other.map { other in
      guard let path else { return "the source may be for \(displayed(other.name)); " }
      let words = ["glucoport", "import", "--person", other.name, path].map(\.shellWord).joined(
        separator: " ")
      return "'\(words)' imports it for \(displayed(other.name)); "
    }
    throw Failure(
      .badInput,
      "\(displayed(name)): \(reason); nothing was imported; \(hint ?? "")\(acceptance)"
    )
  }

  /// Another person whose imports stated the same.
  private func personWithIt() throws -> Person? {
    for person in try PersonList.load().all where !person.hasStore(storePath) {
      do {
        guard try Store.exists(path: person.store) else { continue }
        if try Store(path: person.store, role: .reader).verdict(on: stated) == .same { return person }
      } catch is Failure {
        // A store of somebody else that cannot be read is no reason to refuse an import; `person list` shows it.
        continue
      }
    }
    return nil
  }
}

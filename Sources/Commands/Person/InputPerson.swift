// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook
import LogbookStore

/// The person of an input: not another one than that of the store, nor that of another store on this computer.
struct InputPerson {
  private let stated: [StatedPerson]
  private let name: String
  private let path: String
  private let target: ImportTarget
  private let options: StoreOptions

  init(_ reader: ExportReader, _ path: String, _ target: ImportTarget, _ options: StoreOptions) {
    (stated, name) = (reader.statedPersons, reader.name)
    (self.path, self.target, self.options) = (path, target, options)
  }

  /// - Throws: `Failure` of category `badInput` for an input of another person.
  func require() throws {
    guard !stated.isEmpty else { return }
    let verdict = try target.present?.verdict(on: stated) ?? .unknown
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
      let words = ["glucoport", "import", "--person", other.name, path].map(\.shellWord).joined(
        separator: " ")
      return "'\(words)' imports it for \(displayed(other.name)); "
    }
    throw Failure(
      .badInput,
      "\(displayed(name)): \(reason); nothing was imported; \(hint ?? "")if it is of the person of this store, add --yes"
    )
  }

  /// Another person whose imports stated the same.
  private func personWithIt() throws -> Person? {
    for person in try PersonList.load().all where !person.hasStore(target.path) {
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

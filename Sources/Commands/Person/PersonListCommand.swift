// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport person list`: the people, and the state of each store.
struct PersonListCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract:
      "List the people with their newest reading, what is pending, the last backup, folders and meters.",
    discussion: helpText(examples: "glucoport person list", "glucoport person list --json"))

  @Flag(help: "Print one JSON object per line.")
  var json = false

  func run() throws {
    let output = Output()
    let persons = try PersonList.load().all
    if persons.isEmpty, !json { output.line("no persons; 'glucoport person add NAME' adds one") }
    for person in persons {
      let object = try PersonObject(person)
      try output.result(asJSON: json, object, orLines: object.lines)
    }
    try output.finish()
  }
}

/// A person as `person list --json` prints one; glucoport-json(5) documents its members.
struct PersonObject: Encodable {
  let name: String
  let store: String
  let newestReading: String?
  let pending: Int?
  let lastBackup: String?
  let problem: String?
  let folders: [String]
  let meters: [String]

  /// A store that cannot be read is a problem of one person, and must not affect the others.
  init(_ person: Person) throws {
    (name, store, folders, meters) = (person.name, person.store, person.folders, person.meters)
    do {
      lastBackup = try BackupNotes(storePath: person.store).notes().last.map { instant($0.madeAt) }
    } catch {
      (lastBackup, newestReading, pending, problem) = (nil, nil, nil, error.message)
      return
    }
    do {
      guard try Store.exists(path: person.store) else {
        (newestReading, pending, problem) = (nil, nil, nil)
        return
      }
      let store = try Store(path: person.store, role: .reader)
      let query = try StatsQuery(store: store, device: nil, zone: store.timezone(), now: Host.now())
      (newestReading, pending) = (
        try query.newestReading().map { instant($0.utc) }, try store.overview(ingests: 0).pending
      )
      problem = nil
    } catch let failure as Failure {
      (newestReading, pending, problem) = (nil, nil, failure.message)
    }
  }

  var lines: [String] {
    let state =
      problem.map(displayed)
      ?? pending.map { "newest reading \(newestReading ?? "none") · \(grouped($0)) pending" }
      ?? "no store yet"
    return [
      "\(displayed(name)): \(state) · last backup \(lastBackup ?? "none")", "  store \(displayed(store))",
    ] + folders.map { "  folder \(displayed($0))" } + meters.map { "  meter \(displayed($0))" }
  }
}

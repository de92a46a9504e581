// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// An import for several persons of one computer, each into the person's own store.
extension ImportCommand {
  /// The persons among whom an import chooses; none where a store is chosen, or there are not several.
  private func persons() throws -> PersonList? {
    guard !storeOptions.isChosen else { return nil }
    let list = try PersonList.load()
    return list.all.count > 1 ? list : nil
  }

  /// Imports files, those in the folder of a person into the person's store.
  func importFiles(_ output: Output) throws -> ExitStatus {
    guard let list = try persons() else { return try importPaths(output) }
    var parts: [(person: Person, paths: [PathArgument])] = []
    for path in paths {
      guard let person = list.owner(ofPath: Host.resolved(path.path)) else {
        throw StoreOptions.failure(without: list.all)
      }
      if let index = parts.firstIndex(where: { $0.person == person }) {
        parts[index].paths.append(path)
      } else {
        parts.append((person, [path]))
      }
    }
    if parts.count > 1, rejects != nil {
      throw Failure(.usage, "--rejects is for the files of one person; choose one with --person")
    }
    return try ExitStatus.of(
      parts.map { part in
        var one = self
        one.paths = part.paths
        return try one.run(for: part.person, among: parts.count, output) { try $0.importPaths(output) }
      })
  }

  /// Imports the meter that is plugged in; with several persons each meter into the store of its person.
  func importMeters(_ output: Output) throws -> ExitStatus {
    guard meter, let list = try persons() else { return try importMeter(output) }
    let opener = MeterOpener(meterOptions, readsAgain: true)
    let meters = try opener.all(mayBeNone: ifPresent)
    let statuses = try meters.compactMap { meter in
      try Self.reporting(output, asOneOf: meters.count) {
        try importMeter(meter, by: opener, among: list, output)
      }
    }
    if statuses.isEmpty, !meters.isEmpty { throw MeterOpener.noSuchSerial }
    return ExitStatus.of(statuses)
  }

  private func run(
    for person: Person, among count: Int, _ output: Output, _ work: (ImportCommand) throws -> ExitStatus
  ) throws -> ExitStatus {
    var one = self
    one.storeOptions.person = person.name
    return try Output.$subject.withValue(count > 1 ? person.name : nil) {
      let status = try Self.reporting(output, asOneOf: count) {
        if count > 1, !quiet, !json { output.line("\(displayed(person.name)):") }
        return try work(one)
      }
      try output.finish()
      return status ?? .done
    }
  }

  /// What fails for one of several is no reason to leave out the others.
  private static func reporting(
    _ output: Output, asOneOf count: Int, _ work: () throws -> ExitStatus?
  ) throws -> ExitStatus? {
    do {
      return try work()
    } catch let failure as Failure where count > 1 {
      let status = ExitStatus(failure.category)
      output.failure("glucoport: \(failure.message)", status)
      return status
    }
  }
}

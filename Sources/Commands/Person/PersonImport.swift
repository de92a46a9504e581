// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Formats
import Logbook
import LogbookStore
import USBTransport

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

  /// What fails for one of several is not a reason to leave out the others.
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

  init(_ reader: InputReader, _ path: String, _ target: ImportTarget) {
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
      return
        "\(quotedCommand("glucoport", "import", "--person", other.name, path)) imports it for \(displayed(other.name)); "
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
        // A store of somebody else that cannot be read is not a reason to refuse an import; `person list` shows it.
        continue
      }
    }
    return nil
  }
}

/// Whose a meter is.
struct MeterOwner {
  /// The names by which a meter is assigned: its serial numbers, or its model.
  private let names: [String]
  /// Where it is, as the start of a message.
  private let start: String
  private let persons: PersonList

  init(_ identity: MeterIdentity, _ meter: PluggedMeter, _ persons: PersonList) {
    self.init(identity, plug: meter.device.serial, at: meter.place, persons)
  }

  /// - Parameters:
  ///   - plug: the serial number that the plug reports; empty for none.
  ///   - place: the port; nil if the caller's message names the place.
  init(_ identity: MeterIdentity, plug: String = "", at place: String? = nil, _ persons: PersonList) {
    let serials = [identity.device.serial, plug].filter { !$0.isEmpty }
    names = serials.isEmpty ? [identity.device.model] : serials
    start = place.map { "\($0): " } ?? ""
    self.persons = persons
  }

  /// The person to whom the meter is assigned.
  ///
  /// - Throws: `Failure` of category `configuration` for a meter that is assigned to none.
  func required() throws -> Person {
    if let person = persons.owner(ofMeter: names) { return person }
    let command = quotedCommand("glucoport", "person", "assign", names[0], "NAME")
    throw Failure(
      .configuration,
      "\(start)this meter is assigned to no person, so that it is open whose readings it holds; \(command) assigns it to \(alternatives(persons.all.map { displayed($0.name) })); nothing was imported"
    )
  }

  /// - Throws: `Failure` of category `badInput` for a meter that is assigned to a person with another store.
  func requireStore(_ path: String) throws {
    guard let person = persons.owner(ofMeter: names), !person.hasStore(path) else { return }
    throw Failure(
      .badInput,
      "\(start)this meter is that of \(displayed(person.name)), so nothing is imported; \(quotedCommand("--person", person.name)) imports it there, and --yes here"
    )
  }
}

/// The meters that are assigned to other persons. A file with readings of one of them is a mistake, as the meter itself is.
struct OthersMeters {
  private let persons: [Person]

  /// Nil if no other person has a meter.
  ///
  /// - Parameter path: the store of the import.
  init?(_ path: String) throws {
    persons = try PersonList.load().all.filter { !$0.meters.isEmpty && !$0.hasStore(path) }
    if persons.isEmpty { return nil }
  }

  /// - Parameters:
  ///   - name: the name of the input.
  ///   - path: the path of its file; nil for what a source sent.
  /// - Throws: `Failure` of category `badInput` for a device that another person has.
  func requireNone(of devices: [Device], in name: String, _ path: String?) throws {
    let serials = devices.map(\.serial).filter { !$0.isEmpty }
    guard let person = persons.first(where: { $0.hasMeter(serials) }) else { return }
    let hint =
      if let path {
        "\(quotedCommand("glucoport", "import", "--person", person.name, path)) imports it there, and --yes here"
      } else {
        "set the source for that person, or give the meter to this one with 'glucoport person assign'"
      }
    throw Failure(
      .badInput,
      "\(displayed(name)): it has readings of a meter of \(displayed(person.name)), so nothing is imported; \(hint)"
    )
  }
}

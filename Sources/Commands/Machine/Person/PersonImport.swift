// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Formats
import Logbook
import LogbookStore
import USBTransport

/// Imports for several persons of one computer. Each input goes into the store of its person.
extension ImportCommand {
  /// The persons among whom the import chooses for each input; nil if the store is selected, or if there is
  /// only one person.
  private func persons() throws -> PersonList? {
    guard !storeOptions.isChosen else { return nil }
    let list = try PersonList.load()
    return list.all.count > 1 ? list : nil
  }

  /// Imports files. With several persons, a file in a person's folder goes into this person's store.
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

  /// Imports the plugged meter. With several persons, each plugged meter goes into the store of its person.
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

  /// Runs the import for one of several persons, and returns its exit status. Its failure is printed, and
  /// does not stop the imports for the others.
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

/// Checks that an input belongs to the person of the store. The input is refused if it states another person
/// than earlier imports did. If no earlier import stated a person, it is refused if it states the person of
/// another store on this computer.
struct InputPerson {
  private let stated: [StatedPerson]
  private let name: String
  private let store: Store?
  private let storePath: String
  /// The path of the input's file, for the command in a hint; nil if the input is not a file.
  private let path: String?
  /// How a person can import the input in spite of the check, in the words of the hint.
  private let acceptance: String

  init(_ reader: InputReader, _ path: String, _ target: ImportTarget) {
    (stated, name) = (reader.statedPersons, reader.name)
    (store, storePath, self.path) = (target.present, target.path, path)
    acceptance = "if it is of the person of this store, add --yes"
  }

  /// - Parameters:
  ///   - stated: the name and date of birth that the answer of a source states.
  ///   - name: the name of the source, for messages.
  init(_ stated: [StatedPerson], of name: String, for store: Store?, at path: String) {
    (self.stated, self.name, self.store, storePath, self.path) = (stated, name, store, path, nil)
    acceptance =
      "if it is of the person of this store, set the source again with --accept-person"
  }

  /// Refuses the input if it states another person than that of the store, or the person of another store.
  ///
  /// - Throws: `Failure` of category `badInput` if the input belongs to another person.
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

  /// Another person of this computer whose imports stated the same name or date of birth.
  private func personWithIt() throws -> Person? {
    for person in try PersonList.load().all where !person.hasStore(storePath) {
      do {
        guard try Store.exists(path: person.store) else { continue }
        if try Store(path: person.store, role: .reader).verdict(on: stated) == .same { return person }
      } catch is Failure {
        // Another person's store may be unreadable. That must not stop this import, and `person list` shows
        // it.
        continue
      }
    }
    return nil
  }
}

/// The person to whom a meter is assigned.
struct MeterOwner {
  /// The names by which the meter may be assigned: its serial numbers, or its model if it has none.
  private let names: [String]
  /// The start of a message that states where the meter is.
  private let start: String
  private let persons: PersonList

  init(_ identity: MeterIdentity, _ meter: PluggedMeter, _ persons: PersonList) {
    self.init(identity, plug: meter.device.serial, at: meter.place, persons)
  }

  /// - Parameters:
  ///   - plug: the serial number that the USB plug reports; empty if it reports none.
  ///   - place: the port, for messages; nil if the caller adds the port to the message.
  init(_ identity: MeterIdentity, plug: String = "", at place: String? = nil, _ persons: PersonList) {
    let serials = [identity.device.serial, plug].filter { !$0.isEmpty }
    names = serials.isEmpty ? [identity.device.model] : serials
    start = place.map { "\($0): " } ?? ""
    self.persons = persons
  }

  /// The person to whom the meter is assigned, for an import that needs one.
  ///
  /// - Throws: `Failure` of category `configuration` if the meter is assigned to no person.
  func required() throws -> Person {
    if let person = persons.owner(ofMeter: names) { return person }
    let command = quotedCommand("glucoport", "person", "assign", names[0], "NAME")
    throw Failure(
      .configuration,
      "\(start)this meter is assigned to no person, so that it is open whose readings it holds; \(command) assigns it to \(alternatives(persons.all.map { displayed($0.name) })); nothing was imported"
    )
  }

  /// Refuses an import of the meter into the store at a path, if the store is not that of the meter's person.
  ///
  /// - Throws: `Failure` of category `badInput` if the meter is assigned to a person whose store is another
  ///   one.
  func requireStore(_ path: String) throws {
    guard let person = persons.owner(ofMeter: names), !person.hasStore(path) else { return }
    throw Failure(
      .badInput,
      "\(start)this meter is that of \(displayed(person.name)), so nothing is imported; \(quotedCommand("--person", person.name)) imports it there, and --yes here"
    )
  }
}

/// The meters of the other persons on this computer. An input with readings of such a meter would go into the
/// wrong store.
struct OthersMeters {
  private let persons: [Person]

  /// Reads the list of persons; nil if no other person has a meter.
  ///
  /// - Parameter path: the path of the store into which the import goes.
  init?(_ path: String) throws {
    persons = try PersonList.load().all.filter { !$0.meters.isEmpty && !$0.hasStore(path) }
    if persons.isEmpty { return nil }
  }

  /// Refuses an input with readings of a device that is assigned to another person.
  ///
  /// - Parameters:
  ///   - name: the name of the input, for messages.
  ///   - outcome: what a refusal means, in the words of the message.
  ///   - hint: how to use the input for the other person, and how for this one.
  /// - Throws: `Failure` of category `badInput` if a device belongs to another person.
  func requireNone(
    of devices: [Device], in name: String, outcome: String = "nothing is imported",
    _ hint: (Person) -> String
  ) throws {
    let serials = devices.map(\.serial).filter { !$0.isEmpty }
    guard let person = persons.first(where: { $0.hasMeter(serials) }) else { return }
    throw Failure(
      .badInput,
      "\(displayed(name)): it has readings of a meter of \(displayed(person.name)), so \(outcome); \(hint(person))"
    )
  }
}

extension Person {
  /// How to import a file for this person, and how for the person of the chosen store.
  func hint(toImport path: String) -> String {
    "\(quotedCommand("glucoport", "import", "--person", name, path)) imports it there, and --yes here"
  }
}

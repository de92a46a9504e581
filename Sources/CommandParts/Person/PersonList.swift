// SPDX-License-Identifier: Apache-2.0

import Formats
import Glibc
import Logbook
package import LogbookStore

/// A name for one store on this computer.
package struct Person: Hashable {
  /// The name, as it was typed first.
  package var name: String
  /// The path of the store.
  package var store: String
  /// Absolute paths of the folders whose files are imported for the person.
  package var folders: [String] = []
  /// The serial numbers of the person's meters; for a meter without one its model.
  package var meters: [String] = []

  /// A person without folders and meters.
  package init(name: String, store: String) { (self.name, self.store) = (name, store) }

  /// Whether one of the names is that of a meter of the person.
  package func hasMeter(_ names: [String]) -> Bool {
    meters.contains { meter in names.contains { PersonList.isSame($0, meter) } }
  }

  /// Whether a path is that of the store, also by a link or before either file exists.
  package func hasStore(_ path: String) -> Bool {
    Host.isSameFile(store, path) || Host.resolved(store) == Host.resolved(path)
  }
}

/// The persons of this computer, in a file of the data folder.
package struct PersonList {
  /// The maximum length of a name.
  static let maxNameBytes = 64
  private static let file = ListFile(name: "persons.json", title: "list of persons", remedy: "add them again")

  /// The persons, in the order of their names.
  package private(set) var all: [Person]

  /// These persons, who need not be in the file.
  package init(all: [Person] = []) { self.all = all }

  /// The file; nil if the environment names no data folder.
  static var path: String? { file.path }

  /// Reads the current list.
  ///
  /// - Throws: `Failure`: `badInput` if the file is not such a list, `permission`, `inputOutput`.
  package static func load() throws -> PersonList {
    PersonList(all: try file.elements(of: "persons") { (scanner) throws(JSONError) in try person(&scanner) })
  }

  /// Changes the list, while no other process does.
  ///
  /// - Throws: errors of `body`, after which nothing has changed; `Failure` as for `load`, and
  ///   `cannotCreate`.
  package static func change<Value>(_ body: (inout PersonList) throws -> Value) throws -> Value {
    try file.locked {
      var list = try load()
      let before = list.all
      let value = try body(&list)
      if list.all != before { try file.save(PersonListObject(list.all)) }
      return value
    }
  }
}

// MARK: - Persons

extension PersonList {
  /// The person with a name.
  ///
  /// - Throws: `Failure` of category `missingInput`, with the existing names.
  package func person(_ name: String) throws -> Person {
    guard let person = all.first(where: { $0.name == name }) else {
      let near = NearestWord.of(name, among: all.map(\.name)).map { "did you mean '\($0)'? " } ?? ""
      let hint =
        all.isEmpty
        ? "\(quotedCommand("glucoport", "person", "add", name)) adds one"
        : "\(near)'glucoport person list' lists them"
      throw Failure(.missingInput, "\(displayed(name)): no such person; \(hint)")
    }
    return person
  }

  /// Adds a person.
  ///
  /// - Throws: `Failure` of category `usage` for a name or a store that another person has.
  package mutating func add(_ person: Person) throws {
    try Self.requireName(person.name)
    try requireFree(person.name)
    if let other = owner(ofStore: person.store) {
      throw Failure(
        .usage,
        "\(displayed(person.store)): this is the store of \(displayed(other.name)); each person has one")
    }
    all.append(person)
    all.sort { $0.name < $1.name }
  }

  /// Whose store a file is, under whatever path; nil if it is the store of none.
  package func owner(ofStore path: String, besides name: String? = nil) -> Person? {
    all.first { $0.name != name && $0.hasStore(path) }
  }

  /// Gives a person another name.
  package mutating func rename(_ name: String, to new: String) throws {
    try Self.requireName(new)
    _ = try person(name)
    try requireFree(new, besides: name)
    for index in all.indices where all[index].name == name { all[index].name = new }
    all.sort { $0.name < $1.name }
  }

  /// Gives a meter to a person, and takes it from the one who had it, whose name is returned.
  package mutating func assign(meter: String, to name: String) throws -> String? {
    _ = try person(name)
    let earlier = owner(ofMeter: [meter])
    for index in all.indices {
      all[index].meters.removeAll { Self.isSame($0, meter) }
      if all[index].name == name { all[index].meters.append(meter) }
    }
    return earlier?.name == name ? nil : earlier?.name
  }

  /// The same for a folder.
  package mutating func assign(folder: String, to name: String) throws -> String? {
    _ = try person(name)
    let earlier = all.first { $0.folders.contains(folder) }
    for index in all.indices {
      all[index].folders.removeAll { $0 == folder }
      if all[index].name == name { all[index].folders.append(folder) }
    }
    return earlier?.name == name ? nil : earlier?.name
  }

  /// Whose meter it is; nil where it is assigned to none.
  ///
  /// - Parameter names: the serial numbers that the meter and its plug report, or the model of one without.
  package func owner(ofMeter names: [String]) -> Person? { all.first { $0.hasMeter(names) } }

  /// Whose folder a path is, or is in; the longest one decides.
  package func owner(ofPath path: String) -> Person? {
    let matches = all.flatMap { person in
      person.folders.filter { path == $0 || path.hasPrefix($0.hasSuffix("/") ? $0 : $0 + "/") }.map {
        (person, $0.utf8.count)
      }
    }
    return matches.max { $0.1 < $1.1 }?.0
  }

  fileprivate static func isSame(_ one: String, _ other: String) -> Bool {
    one.lowercased() == other.lowercased()
  }

  /// Removes a person from the list, and returns what it had.
  package mutating func remove(_ name: String) throws -> Person {
    let person = try person(name)
    all.removeAll { $0.name == name }
    return person
  }

  /// Some file systems keep one file for two names that differ only in case, and people take them for one.
  ///
  /// - Parameter former: the name of the person who gets this one.
  private func requireFree(_ name: String, besides former: String? = nil) throws {
    guard
      !all.contains(where: { $0.name == name || ($0.name != former && Self.isSame($0.name, name)) })
    else {
      throw Failure(.usage, "\(displayed(name)): there is a person of this name; choose another one")
    }
  }

  /// A name is also used as the name of a file.
  private static func requireName(_ name: String) throws {
    let isPlain = name.unicodeScalars.allSatisfy {
      $0.properties.isAlphabetic || $0.properties.numericType != nil || "-_. ".unicodeScalars.contains($0)
    }
    guard !name.isEmpty, name.utf8.count <= maxNameBytes, isPlain, name.first != ".", name.first != "-",
      name.first != " ", name.last != " "
    else {
      throw Failure(
        .usage,
        "\(displayed(name)): a name has letters, digits, and inside of it '-', '_', '.' and blanks, at most \(maxNameBytes) bytes"
      )
    }
  }
}

// MARK: - JSON

/// The list in the form of its file.
private struct PersonListObject: Encodable {
  struct Entry: Encodable {
    let name: String
    let store: String
    let folders: [String]
    let meters: [String]
  }

  let persons: [Entry]

  init(_ persons: [Person]) {
    self.persons = persons.map {
      Entry(name: $0.name, store: $0.store, folders: $0.folders, meters: $0.meters)
    }
  }
}

extension PersonList {
  private static func person(_ scanner: inout JSONScanner) throws(JSONError) -> Person {
    var person = Person(name: "", store: "")
    try scanner.object { (name, scanner) throws(JSONError) in
      switch name {
      case "name": person.name = try scanner.string()
      case "store": person.store = try scanner.string()
      case "folders":
        try scanner.array { (scanner) throws(JSONError) in person.folders.append(try scanner.string()) }
      case "meters":
        try scanner.array { (scanner) throws(JSONError) in person.meters.append(try scanner.string()) }
      default: return false
      }
      return true
    }
    guard !person.name.isEmpty, person.store.hasPrefix("/") else {
      throw scanner.error("a person with a name and a store is expected")
    }
    return person
  }
}

/// A command that runs for the stores of all persons if none is selected.
package protocol PersonVisitor: ClassifiedCommand {
  var storeOptions: StoreOptions { get set }
  /// Whether it goes over all persons with these options.
  var visitsAll: Bool { get }
  /// Whether the results of the persons are told apart by themselves, or none are printed.
  var needsNoHeading: Bool { get }
  /// Refuses options that have no meaning for several stores.
  func validateForSeveral() throws
  /// The reason to skip a store; nil to run the command for it.
  func reasonToSkip(_ store: Store) throws -> String?
}

extension PersonVisitor {
  /// A command goes over all persons, unless it states otherwise.
  package var visitsAll: Bool { true }

  /// No option is refused, unless a command states otherwise.
  package func validateForSeveral() throws {}

  /// No store is skipped, unless a command states otherwise.
  package func reasonToSkip(_ store: Store) throws -> String? { nil }
}

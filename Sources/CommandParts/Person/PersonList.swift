// SPDX-License-Identifier: Apache-2.0

import Formats
import Glibc
import Logbook
package import LogbookStore

/// A person whose logbook is on this computer: the name, the store, and what is imported into it.
package struct Person: Hashable {
  /// The name, in the letters in which it was first typed.
  package var name: String
  /// The absolute path of the person's store.
  package var store: String
  /// The absolute paths of the folders whose files are imported into the store.
  package var folders: [String] = []
  /// The serial numbers of the person's meters. A meter without a serial number is named by its model.
  package var meters: [String] = []

  /// A person without folders and meters.
  package init(name: String, store: String) { (self.name, self.store) = (name, store) }

  /// Whether the person owns a meter that has one of these serial numbers or models.
  package func hasMeter(_ names: [String]) -> Bool {
    meters.contains { meter in names.contains { PersonList.isSame($0, meter) } }
  }

  /// Whether a path leads to the person's store, also through a link, and also if the file does not exist
  /// yet.
  package func hasStore(_ path: String) -> Bool {
    Host.isSameFile(store, path) || Host.resolved(store) == Host.resolved(path)
  }
}

/// The list of the persons on this computer, in a file of the data folder.
package struct PersonList {
  /// The maximum length of a name in bytes of UTF-8.
  static let maxNameBytes = 64
  private static let file = ListFile(name: "persons.json", title: "list of persons", remedy: "add them again")

  /// The persons, in the order of their names.
  package private(set) var all: [Person]

  /// A list of these persons, which is not read from the file.
  package init(all: [Person] = []) { self.all = all }

  /// The path of the file; nil if the environment names no data folder.
  static var path: String? { file.path }

  /// Reads the list from its file.
  ///
  /// - Throws: `Failure`: `badInput` if the file is not such a list, `permission`, `inputOutput`.
  package static func load() throws -> PersonList {
    PersonList(all: try file.elements(of: "persons") { (scanner) throws(JSONError) in try person(&scanner) })
  }

  /// Reads the list, lets the body change it, and writes it. Other processes cannot change the list
  /// meanwhile.
  ///
  /// - Throws: errors of `body`, after which the file is unchanged; `Failure` as in `load`, and
  ///   `cannotCreate`.
  package static func change<Value>(_ body: (inout PersonList) throws -> Value) throws -> Value {
    try file.locked {
      var list = try load()
      let before = list.all
      let value = try body(&list)
      if list.all != before { try file.save(list) }
      return value
    }
  }
}

// MARK: - Persons

extension PersonList {
  /// The person with exactly this name.
  ///
  /// - Throws: `Failure` of category `missingInput` if there is none. The message lists the existing names.
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

  /// Adds a person to the list.
  ///
  /// - Throws: `Failure` of category `usage` if the name is not valid, or if another person has the name or
  ///   the store.
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

  /// The person whose store is at a path, also through a link; nil if no person has this store. The person
  /// named `besides` is left out.
  package func owner(ofStore path: String, besides name: String? = nil) -> Person? {
    all.first { $0.name != name && $0.hasStore(path) }
  }

  /// Renames a person.
  ///
  /// - Throws: `Failure` of category `missingInput` for an unknown person; of `usage` for a name that is not
  ///   valid or not free.
  package mutating func rename(_ name: String, to new: String) throws {
    try Self.requireName(new)
    _ = try person(name)
    try requireFree(new, besides: name)
    for index in all.indices where all[index].name == name { all[index].name = new }
    all.sort { $0.name < $1.name }
  }

  /// Assigns a meter to a person. If it was another person's meter, that person loses it, and the result is
  /// their name.
  package mutating func assign(meter: String, to name: String) throws -> String? {
    _ = try person(name)
    let earlier = owner(ofMeter: [meter])
    for index in all.indices {
      all[index].meters.removeAll { Self.isSame($0, meter) }
      if all[index].name == name { all[index].meters.append(meter) }
    }
    return earlier?.name == name ? nil : earlier?.name
  }

  /// Assigns a folder to a person. If it was another person's folder, that person loses it, and the result is
  /// their name.
  package mutating func assign(folder: String, to name: String) throws -> String? {
    _ = try person(name)
    let earlier = all.first { $0.folders.contains(folder) }
    for index in all.indices {
      all[index].folders.removeAll { $0 == folder }
      if all[index].name == name { all[index].folders.append(folder) }
    }
    return earlier?.name == name ? nil : earlier?.name
  }

  /// The person to whom a meter is assigned; nil if there is none.
  ///
  /// - Parameter names: the serial numbers that the meter and its USB plug report, or the model if it has
  ///   none.
  package func owner(ofMeter names: [String]) -> Person? { all.first { $0.hasMeter(names) } }

  /// The person to whom a folder is assigned that is or contains this path. If there are several such
  /// folders, the longest one decides.
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

  /// Removes a person from the list, and returns their entry. The store is not deleted.
  package mutating func remove(_ name: String) throws -> Person {
    let person = try person(name)
    all.removeAll { $0.name == name }
    return person
  }

  /// Refuses a name that another person has, even in other letter case: people would confuse both names, and
  /// some file systems do not distinguish them.
  ///
  /// - Parameter former: the present name of a person who is being renamed; nil for a new person.
  private func requireFree(_ name: String, besides former: String? = nil) throws {
    guard
      !all.contains(where: { $0.name == name || ($0.name != former && Self.isSame($0.name, name)) })
    else {
      throw Failure(.usage, "\(displayed(name)): there is a person of this name; choose another one")
    }
  }

  /// Refuses names that cannot be used as the name of a file.
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

/// The list in its file.
extension PersonList: Encodable {
  private enum CodingKeys: String, CodingKey { case all = "persons" }
}

/// The person in the file of the list. The members are in the order of the coding keys.
extension Person: Encodable {
  private enum CodingKeys: String, CodingKey { case name, store, folders, meters }
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

/// A command that runs once for each person's store if no store is selected.
package protocol PersonVisitor: ClassifiedCommand {
  var storeOptions: StoreOptions { get set }
  /// Whether the command runs for all persons with its present options.
  var visitsAll: Bool { get }
  /// Whether no line with the person's name is printed before the results, since the results contain the name
  /// or are empty.
  var needsNoHeading: Bool { get }
  /// Refuses options that make no sense for several stores.
  func validateForSeveral() throws
  /// Why the command skips a store; nil if the command runs for the store.
  func reasonToSkip(_ store: Store) throws -> String?
}

extension PersonVisitor {
  /// Runs for the stores of all persons.
  package var visitor: (any PersonVisitor)? { self }

  /// By default, a command runs for all persons.
  package var visitsAll: Bool { true }

  /// By default, no option is refused for several stores.
  package func validateForSeveral() throws {}

  /// By default, no store is skipped.
  package func reasonToSkip(_ store: Store) throws -> String? { nil }
}

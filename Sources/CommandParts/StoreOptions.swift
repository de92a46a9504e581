// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import Logbook
package import LogbookStore

/// The options of all commands with a store.
package struct StoreOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The store to use. Default: $GLUCOPORT_STORE, else the store in the data folder.", valueName: "file"))
  var store: PathArgument?

  @Option(
    help: ArgumentHelp("The person whose store to use. Default: $GLUCOPORT_PERSON.", valueName: "name"),
    completion: .persons)
  package var person: String?

  /// The options without values, for the parser.
  package init() {}

  /// Refuses two ways to choose the store.
  package func validate() throws {
    // Data of one person would go into the store of another.
    if store != nil, person != nil {
      throw ValidationError("--store and --person both choose the store; give one of them.")
    }
  }

  /// The path of the store.
  ///
  /// - Throws: `Failure`: `configuration` if nothing determines it, `missingInput` for an unknown person, and
  ///   `usage` if it may be that of several persons.
  package var path: String {
    get throws {
      if let named = try named { return named }
      throw Failure(
        .configuration,
        "no store is named: use --store or GLUCOPORT_STORE, or set HOME or XDG_DATA_HOME to an absolute path"
      )
    }
  }

  /// Whether the command line or the environment selects the store.
  package var isChosen: Bool {
    store != nil || person != nil || Host.environment("GLUCOPORT_STORE") != nil
      || Host.environment("GLUCOPORT_PERSON") != nil
  }

  /// The words of a command for a hint, with the options that select this store.
  package func words(_ command: String...) -> [String] {
    ["glucoport"] + command + (store.map { ["--store", $0.path] } ?? person.map { ["--person", $0] } ?? [])
  }

  /// The failure of a command that does not choose one of several persons.
  package static func failure(without persons: [Person]) -> Failure {
    Failure(
      .usage,
      "several persons have a store here: choose \(alternatives(persons.map { displayed($0.name) })) with --person or GLUCOPORT_PERSON"
    )
  }

  private var named: String? {
    get throws {
      if let store { return store.path }
      if let person { return try PersonList.load().person(person).store }
      if let path = Host.environment("GLUCOPORT_STORE") { return path }
      if let name = Host.environment("GLUCOPORT_PERSON") { return try PersonList.load().person(name).store }
      let persons = try PersonList.load().all
      guard persons.count <= 1 else { throw Self.failure(without: persons) }
      return persons.first?.store ?? Host.dataFolder.map { $0 + "/logbook.db" }
    }
  }

  /// Opens the store. If it is read without a lock, this is reported, since changes by other processes may be
  /// missed.
  package func open(_ role: StoreRole) throws -> Store {
    let store = try Store(path: path, role: role)
    if store.isFrozen {
      Output().message("glucoport: \(store.path): the folder cannot be written; reading without a lock")
    }
    return store
  }

  /// The zone of the logbook; without a store that of the system.
  package func zone() throws -> LogbookZone {
    guard try named != nil, let zone = try existing()?.timezone() else {
      return try NewLogbook().zone
    }
    return zone
  }

  /// The store for reading; nil if it does not exist yet.
  package func existing() throws -> Store? {
    guard try Store.exists(path: path) else { return nil }
    do {
      return try open(.reader)
    } catch let failure as Failure where failure.category == .missingInput {
      return nil
    }
  }

  /// Opens the store, or creates it with the time zone of the system.
  package func openOrCreate(_ role: StoreRole, _ output: Output) throws -> Store {
    Host.keepFilesPrivate()
    return try NewLogbook().openOrCreate(path, role, output)
  }
}

extension GlucoseUnit: ExpressibleByArgument {
  /// The unit in an argument; nil if it is not valid.
  public init?(argument: String) { self.init(name: argument) }
  /// The names of the units, for help.
  public static var allValueStrings: [String] { allCases.map(\.name) }
}

/// A file on the command line. Its name need not be UTF-8; shells complete it.
package struct PathArgument: ExpressibleByArgument {
  /// Shells complete it as the name of a file.
  package static var defaultCompletionKind: CompletionKind { .file() }

  /// The path in the form of `PathText`.
  package let path: String

  /// The word as the shell gave it.
  package init(argument: String) { path = argument }
}

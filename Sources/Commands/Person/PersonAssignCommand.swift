// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import Logbook

/// `glucoport person assign`: says whose a meter or a folder is.
struct PersonAssignCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "assign", abstract: "Give a meter or a folder to a person.",
    discussion: helpText(
      """
      'glucoport import --meter' imports a meter into the store of its person, and 'glucoport import \
      FOLDER' a folder. What is imported already stays in its store.
      """,
      examples: "glucoport person assign 7654321 anna",
      "glucoport person assign ~/Downloads/ben ben"))

  @Argument(
    help: ArgumentHelp(
      "The serial number of a meter, the model of one without, or a folder.", valueName: "meter"))
  var meter: PathArgument

  @Argument(help: ArgumentHelp("The person.", valueName: "name"))
  var name: String

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run() throws {
    let output = Output()
    let given = meter.path
    guard !given.isEmpty else { throw Failure(.usage, "name a serial number, a model or a folder") }
    let folder = given.contains("/") ? try PersonFolder.path(given) : nil
    let earlier = try PersonList.change { list in
      if let folder { return try list.assign(folder: folder, to: name) }
      return try list.assign(meter: given, to: name)
    }
    if !quiet {
      let before = earlier.map { ", before to \(displayed($0))" } ?? ""
      output.line("assigned: \(displayed(folder ?? given)) to \(displayed(name))\(before)")
    }
    try output.finish()
  }
}

/// A folder that belongs to a person.
enum PersonFolder {
  /// The path as it is kept: absolute, and without links, so that each way to it is the same.
  ///
  /// - Throws: `Failure` of category `missingInput` for what is no folder.
  static func path(_ given: String) throws(Failure) -> String {
    guard Host.isFolder(given) else {
      throw Failure(.missingInput, "\(displayed(given)): No such folder")
    }
    return Host.resolved(given)
  }
}

// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
package import CommandParts
import Glibc
import Logbook

/// A command that installs shell completions. They contain the names of all commands, which this module does
/// not know, so the program passes the completions to `run`.
package protocol CompletionInstaller: ClassifiedCommand {
  /// Runs the command with the completions of the whole program.
  func run(_ completions: CompletionScript) throws
}

/// `glucoport setup`: installs units, udev rules and completions for people who did not install a package.
struct SetupCommand: CompletionInstaller {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "setup", "Install units, udev rules and completions without a package.",
    examples: "glucoport setup --dry-run", "sudo glucoport setup system",
    subcommands: [SetupSystemCommand.self, SetupUserCommand.self, SetupRemoveCommand.self])

  @Flag(help: "Preview 'setup system' and 'setup user'; write nothing.")
  var dryRun = false

  // This check is not in `validate`, since ArgumentParser also calls `validate` when a subcommand is run.
  func run(_ completions: CompletionScript) throws {
    guard dryRun else {
      throw ValidationError(
        "Choose 'setup system', 'setup user' or 'setup remove'; 'setup --dry-run' lists what they write.")
    }
    let output = Output()
    let program = try Host.program()
    for plan in [
      try SetupPlan.system(prefix: SetupPrefix.standard, program: program, completions),
      try SetupPlan.user(.ofUser(), program: program, completions),
    ] {
      SetupText.list(try SetupWork(manifest: plan.manifest).changes(plan), output)
    }
    try output.finish()
  }
}

/// `glucoport setup system`: installs the files for all users of this computer.
struct SetupSystemCommand: CompletionInstaller {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "system", "Install program, units, udev rules and completions for all users.",
    examples: "sudo glucoport setup system", "glucoport setup system --prefix /opt/glucoport --dry-run")

  // `setup` and this subcommand both have a flag `--dry-run`. The parser sets only the flag of `setup`, so
  // both flags are read.
  @ParentCommand var group: SetupCommand

  @OptionGroup var target: SetupPrefix

  @Flag(help: "Preview; write nothing.")
  var dryRun = false

  func run(_ completions: CompletionScript) throws {
    let plan = try SetupPlan.system(prefix: target.path, program: Host.program(), completions)
    try SetupText.install(plan, isDryRun: dryRun || group.dryRun)
  }
}

/// `glucoport setup user`: installs the files for the user who runs it.
struct SetupUserCommand: CompletionInstaller {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "user", "Install units and completions for yourself.",
    examples: "glucoport setup user", "glucoport setup user --dry-run")

  @ParentCommand var group: SetupCommand

  @Flag(help: "Preview; write nothing.")
  var dryRun = false

  func run(_ completions: CompletionScript) throws {
    try SetupText.install(
      try SetupPlan.user(.ofUser(), program: Host.program(), completions), isDryRun: dryRun || group.dryRun)
  }
}

/// `glucoport setup remove`: removes only the files that `setup system` or `setup user` has installed.
struct SetupRemoveCommand: ClassifiedCommand {
  /// Whether the files of the system or those of the user are removed.
  enum Scope: String, CaseIterable, ExpressibleByArgument { case system, user }

  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "remove", "Remove exactly what setup installed.",
    "Files that you changed since are kept. Stores and logbooks are never touched.",
    examples: "sudo glucoport setup remove system", "glucoport setup remove user --dry-run")

  @ParentCommand var group: SetupCommand

  @Argument(help: "What to remove: system or user.")
  var scope: Scope

  @OptionGroup var target: SetupPrefix

  @Flag(help: "Preview; remove nothing.")
  var dryRun = false

  func validate() throws {
    if scope == .user, target.prefix != nil { throw ValidationError("--prefix is for 'remove system'.") }
  }

  func run() throws {
    let output = Output()
    let manifest =
      scope == .system ? SetupPlan.manifest(inSystem: target.path) : try SetupFolders.ofUser().manifest
    let work = SetupWork(manifest: manifest)
    let changes = dryRun || group.dryRun ? try work.removals() : try work.remove()
    SetupText.list(changes, output)
    if changes.isEmpty { output.message("glucoport: nothing was installed by 'glucoport setup'") }
    try output.finish()
    if changes.contains(where: { $0.change == .keep }) {
      output.message("glucoport: files that were changed since are kept")
      throw ExitStatus.partial
    }
  }
}

/// The option for the folder in which files for all users are installed.
struct SetupPrefix: ParsableArguments {
  static let standard = "/usr/local"

  @Option(
    help: ArgumentHelp("Folder below which to install. Default: /usr/local.", valueName: "folder"),
    completion: .directory)
  var prefix: String?

  var path: String {
    let prefix = prefix ?? Self.standard
    return prefix.count > 1 && prefix.hasSuffix("/") ? String(prefix.dropLast()) : prefix
  }

  func validate() throws {
    if let prefix, !prefix.hasPrefix("/") || prefix.contains("\n") {
      throw ValidationError("--prefix needs an absolute path.")
    }
  }
}

/// The texts about what `setup` changes.
private enum SetupText {
  static func list(_ changes: [(change: SetupWork.FileChange, path: String)], _ output: Output) {
    for change in changes { output.line("\(change.change.rawValue) \(displayed(change.path))") }
  }

  static func install(_ plan: SetupPlan, isDryRun: Bool) throws {
    let output = Output()
    let work = SetupWork(manifest: plan.manifest)
    list(isDryRun ? try work.changes(plan) : try work.install(plan), output)
    if let missingNote = plan.missingNote { output.message("glucoport: \(missingNote)") }
    for command in plan.commands where !isDryRun { output.message("glucoport: now run: \(command)") }
    try output.finish()
  }
}

/// The list of what `setup` has installed: the SHA-256 of each file, and the created folders, outer ones
/// first.
struct SetupManifest: Equatable {
  var digests: [String: String] = [:]
  var folders: [String] = []

  init() {}

  /// Reads the text of a manifest, which has one line for each file and folder. Other lines are ignored.
  init(_ text: String) {
    for line in text.split(separator: "\n") {
      if line.hasPrefix("folder ") {
        folders.append(String(line.dropFirst("folder ".count)))
      } else if let match = line.wholeMatch(of: /([0-9a-f]{64})  (\/.*)/) {
        digests[String(match.2)] = String(match.1)
      }
    }
  }

  /// The manifest as text, with one line for each file and folder.
  var text: String {
    let lines =
      digests.sorted { $0.key < $1.key }.map { "\($0.value)  \($0.key)" } + folders.map { "folder \($0)" }
    return lines.map { $0 + "\n" }.joined()
  }

  /// Reads a manifest from its file. Without a file, it is empty.
  static func read(_ path: String) throws(Failure) -> SetupManifest {
    guard access(path, F_OK) == 0 else { return SetupManifest() }
    guard let bytes = Host.bytes(of: path) else { throw SetupFile.failure(errno, path) }
    return SetupManifest(String(decoding: bytes, as: UTF8.self))
  }
}

/// Installs the files of a plan, and removes exactly the files that were installed.
struct SetupWork {
  /// What an installation or a removal does with a file.
  enum FileChange: String { case write, replace, unchanged, remove, keep, refuse }

  let manifest: String

  /// What an installation would do with each file. A file that `setup` did not write is refused.
  func changes(_ plan: SetupPlan) throws -> [(change: FileChange, path: String)] {
    let known = try SetupManifest.read(manifest).digests
    let changes = try plan.files.map { file in
      let change: FileChange =
        switch try SetupFile.digest(of: file.path) {
        case nil: .write
        case try file.digest(): .unchanged
        case known[file.path]: .replace
        default: .refuse
        }
      return (change, file.path)
    }
    let planned = Set(plan.files.map(\.path))
    // Files are removed if an older version has installed them and this version does not.
    return changes + known.keys.filter { !planned.contains($0) }.sorted().map { (.remove, $0) }
  }

  /// Installs the files of a plan. The manifest is written before the files, so that the files of an
  /// interrupted installation can be removed.
  ///
  /// - Throws: `Failure` of category `cannotCreate` if a file exists that `setup` did not write. In this
  ///   case, nothing is written.
  func install(_ plan: SetupPlan) throws -> [(change: FileChange, path: String)] {
    let changes = try changes(plan)
    if let refused = changes.first(where: { $0.change == .refuse }) {
      throw Failure(
        .cannotCreate, "\(refused.path): File exists, and 'glucoport setup' did not write it; move it away")
    }
    var noted = try SetupManifest.read(manifest)
    let old = noted.digests
    let paths = plan.files.map(\.path) + [manifest]
    noted.folders += missingFolders(paths).filter { !noted.folders.contains($0) }
    // A file that already existed with the same content is not entered in the manifest. A file that is
    // replaced keeps its old digest in the manifest until it is written, so that an interrupted installation
    // can be repeated.
    for (file, change) in zip(plan.files, changes) {
      let isOurs = change.change == .unchanged && old[file.path] != nil
      if change.change == .write || isOurs { noted.digests[file.path] = try file.digest() }
    }
    for folder in missingFolders(paths) {
      guard mkdir(folder, 0o755) == 0 || errno == EEXIST else { throw SetupFile.failure(errno, folder) }
    }
    try SetupFile(path: manifest, content: .text(noted.text)).write()
    for (file, change) in zip(plan.files, changes) where change.change != .unchanged {
      try file.write()
      noted.digests[file.path] = try file.digest()
    }
    for change in changes where change.change == .remove {
      if try SetupFile.digest(of: change.path) == old[change.path] { unlink(change.path) }
      noted.digests[change.path] = nil
    }
    try SetupFile(path: manifest, content: .text(noted.text)).write()
    return changes
  }

  /// What a removal would do with each file. A file that was changed since its installation is kept.
  func removals() throws -> [(change: FileChange, path: String)] {
    try SetupManifest.read(manifest).digests.sorted { $0.key < $1.key }.compactMap { path, digest in
      guard let found = try SetupFile.digest(of: path) else { return nil }
      return (found == digest ? .remove : .keep, path)
    }
  }

  /// Removes the installed files and the manifest, and those created folders that are then empty.
  func remove() throws -> [(change: FileChange, path: String)] {
    let changes = try removals()
    let folders = try SetupManifest.read(manifest).folders
    for change in changes where change.change == .remove {
      guard unlink(change.path) == 0 else { throw SetupFile.failure(errno, change.path) }
    }
    guard unlink(manifest) == 0 || errno == ENOENT else { throw SetupFile.failure(errno, manifest) }
    // `rmdir` keeps a folder that still has other files.
    for folder in folders.reversed() { rmdir(folder) }
    return changes
  }

  /// The folders of these paths that do not exist yet, outer ones first.
  private func missingFolders(_ paths: [String]) -> [String] {
    var missing: Set<String> = []
    for path in paths {
      var folder = PathText.folder(of: path)
      while folder != "/", folder != ".", access(folder, F_OK) != 0, missing.insert(folder).inserted {
        folder = PathText.folder(of: folder)
      }
    }
    return missing.sorted()
  }
}

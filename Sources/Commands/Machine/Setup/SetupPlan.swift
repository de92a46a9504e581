// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Glibc
import Logbook
import Meters

/// What `setup` installs: the files, and the commands that a person runs afterwards.
struct SetupPlan {
  let files: [SetupFile]
  /// The path of the list of installed files.
  let manifest: String
  /// The commands that start what the installed files provide, such as `systemctl`.
  let commands: [String]
  /// A message about files that cannot be installed, since this program came without them; nil if none is
  /// missing.
  let missingNote: String?

  /// The plan for all users. The files are below a prefix such as `/usr/local`.
  static func system(
    prefix: String, program: String, _ completions: CompletionScript
  ) throws(Failure) -> SetupPlan {
    let target = prefix + "/bin/glucoport"
    let pages = manualPages(nextTo: program, in: prefix + "/share/man")
    let rules = UdevRules.lines(DriverRegister.all, group: "plugdev", shared: false)
    // If the running program is the installed one, its file has this content already and is not replaced.
    let program = [SetupFile(path: target, content: .copy(of: program), mode: 0o755)]
    let units =
      try self.units(PackagedSystemUnits.files, in: prefix + "/lib/systemd/system", program: target)
      + self.units(PackagedUserUnits.files, in: prefix + "/lib/systemd/user", program: target)
    let others = [
      ("/lib/udev/rules.d/70-glucoport.rules", rules.map { $0 + "\n" }.joined()),
      ("/lib/sysusers.d/glucoport.conf", PackagedSystemUsers.text),
      ("/share/bash-completion/completions/glucoport", completions.text(for: .bash)),
      ("/share/zsh/site-functions/_glucoport", completions.text(for: .zsh)),
      ("/share/fish/vendor_completions.d/glucoport.fish", completions.text(for: .fish)),
    ].map { SetupFile(path: prefix + $0.0, content: .text($0.1)) }
    return SetupPlan(
      files: program + units + others + pages, manifest: manifest(inSystem: prefix),
      commands: [
        "systemd-sysusers \(prefix)/lib/sysusers.d/glucoport.conf", "systemctl daemon-reload",
        "udevadm control --reload && udevadm trigger",
      ], missingNote: missingNote(pages))
  }

  /// The plan for the user who runs the command.
  static func user(
    _ folders: SetupFolders, program: String, _ completions: CompletionScript
  ) throws(Failure) -> SetupPlan {
    let pages = manualPages(nextTo: program, in: folders.data + "/man")
    let completions = [
      (folders.data + "/bash-completion/completions/glucoport", completions.text(for: .bash)),
      (folders.data + "/zsh/site-functions/_glucoport", completions.text(for: .zsh)),
      (folders.configuration + "/fish/completions/glucoport.fish", completions.text(for: .fish)),
    ].map { SetupFile(path: $0.0, content: .text($0.1)) }
    let units = try units(
      PackagedUserUnits.files, in: folders.configuration + "/systemd/user", program: program)
    return SetupPlan(
      files: units + completions + pages, manifest: folders.manifest,
      commands: [
        "systemctl --user daemon-reload",
        "systemctl --user enable --now glucoport-upload.timer glucoport-check.timer",
      ], missingNote: missingNote(pages))
  }

  /// The path of the list of installed files for all users.
  static func manifest(inSystem prefix: String) -> String { prefix + "/share/glucoport/setup-manifest" }
}

extension SetupPlan {
  /// The units of the packages, with the path of the program on this computer in place of the packaged path.
  private static func units(
    _ units: [(name: String, text: String)], in folder: String, program: String
  ) throws(Failure) -> [SetupFile] {
    // In a unit, systemd would read these characters as a blank, a quote, a variable or a specifier.
    guard program.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !#""'\$%;"#.utf8.contains($0) }) else {
      throw Failure(
        .configuration,
        "\(program): a unit cannot name a program whose path has blanks, quotes or other special characters; move the program"
      )
    }
    return units.map { unit in
      SetupFile(
        path: folder + "/" + unit.name,
        content: .text(unit.text.replacing("/usr/bin/glucoport", with: program)))
    }
  }

  /// The manual pages that were unpacked together with this program, for example from an archive.
  private static func manualPages(nextTo program: String, in folder: String) -> [SetupFile] {
    let source = PathText.folder(of: PathText.folder(of: program)) + "/share/man"
    return ["1", "5", "7"].flatMap { section -> [SetupFile] in
      Host.names(in: "\(source)/man\(section)").filter { $0.hasPrefix("glucoport") }.map { name in
        SetupFile(
          path: "\(folder)/man\(section)/\(name)", content: .copy(of: "\(source)/man\(section)/\(name)"))
      }
    }
  }

  private static func missingNote(_ pages: [SetupFile]) -> String? {
    pages.isEmpty
      ? "no manual pages are beside this program; they come with the package and the archive" : nil
  }
}

/// The folders for a user's files, from the environment.
struct SetupFolders {
  let configuration: String
  let data: String
  let state: String

  var manifest: String { state + "/glucoport/setup-manifest" }

  /// Reads the folders from the environment.
  ///
  /// - Throws: `Failure` of category `configuration` if the environment does not name them.
  static func ofUser() throws(Failure) -> SetupFolders {
    guard let configuration = Host.configurationFolder, let data = Host.dataHome, let state = Host.stateHome
    else {
      throw Failure(.configuration, "your folders are unknown: set HOME to an absolute path")
    }
    return SetupFolders(configuration: configuration, data: data, state: state)
  }
}

/// The sysusers file that creates the server's user. Packages have the same file.
enum PackagedSystemUsers {
  static let text = #"""
    # SPDX-License-Identifier: Apache-2.0
    # The user of glucoport-server.service and glucoport-import@.service, and the group that may open meters where the
    # distribution has none.
    u glucoport - "glucoport server" /var/lib/glucoport
    g plugdev - -

    """#
}

/// A file that `setup` installs: its path, content and mode.
struct SetupFile {
  enum FileContent {
    case text(String)
    case copy(of: String)
  }

  let path: String
  let content: FileContent
  var mode: mode_t = 0o644

  /// The SHA-256 of the content that is installed.
  ///
  /// - Throws: `Failure` if the file to copy cannot be read.
  func digest() throws(Failure) -> String {
    switch content {
    case .text(let text):
      var digest = Digest()
      digest.update(text)
      return digest.hexadecimal()
    case .copy(let source):
      guard let digest = try Self.digest(of: source) else { throw Self.failure(ENOENT, source) }
      return digest
    }
  }

  /// Writes a temporary file, and renames it to the target. So a running program keeps its old file, and a
  /// link at the target is replaced, not followed.
  func write() throws(Failure) {
    let part = path + ".glucoport-part"
    unlink(part)
    let descriptor = open(part, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { throw Self.failure(errno, part) }
    do throws(Failure) {
      defer { close(descriptor) }
      try fill(descriptor)
      // Sets the mode again, since the umask may have limited it, and all users need these files.
      guard fchmod(descriptor, mode) == 0, fsync(descriptor) == 0 else { throw Self.failure(errno, part) }
      guard rename(part, path) == 0 else { throw Self.failure(errno, path) }
    } catch {
      unlink(part)
      throw error
    }
  }

  private func fill(_ descriptor: Int32) throws(Failure) {
    switch content {
    case .text(let text): try Self.write(Array(text.utf8)[...], to: descriptor, path)
    case .copy(let source):
      try Self.forEachPiece(of: source) { (piece) throws(Failure) in
        try Self.write(piece, to: descriptor, path)
      }
    }
  }

  /// The SHA-256 of the file at a path; nil if it does not exist.
  static func digest(of path: String) throws(Failure) -> String? {
    guard access(path, F_OK) == 0 else { return nil }
    var digest = Digest()
    try forEachPiece(of: path) { piece in piece.withUnsafeBytes { digest.update($0) } }
    return digest.hexadecimal()
  }

  static func failure(_ code: Int32, _ path: String) -> Failure {
    let isPermission = code == EACCES || code == EPERM
    return Failure(
      isPermission ? .permission : .cannotCreate,
      "\(path): \(String(cString: strerror(code)))" + (isPermission ? "; run this command with sudo" : ""))
  }

  private static func forEachPiece(
    of path: String, _ work: (ArraySlice<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(errno, path) }
    defer { close(descriptor) }
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = uninterrupted { read(descriptor, &piece, piece.count) }
      guard count >= 0 else { throw failure(errno, path) }
      if count == 0 { return }
      try work(piece[..<count])
    }
  }

  private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, _ path: String) throws(Failure)
  {
    var rest = bytes
    while !rest.isEmpty {
      let count = uninterrupted { rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } }
      guard count > 0 else { throw failure(errno, path) }
      rest = rest.dropFirst(count)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

/// The rules for meters that udev should have, and those that are installed.
package struct RuleFacts: Sendable {
  /// A file with rules.
  package struct File: Hashable, Sendable {
    /// The path of the file.
    package var path: String
    /// The text of the file.
    package var text: String

    /// A file with this text.
    package init(path: String, text: String) {
      self.path = path
      self.text = text
    }

    var name: Substring { path.split(separator: "/").last ?? "" }
  }

  /// The lines of the rules for meters, as this version of the program prints them.
  package var expected: [String]
  /// The files with rules of glucoport that udev reads.
  package var files: [File]
  /// Groups in the rules that the system does not know.
  package var unknownGroups: [String]
  /// The command that installs the rules.
  package var command: String

  /// The expected rules, and the installed files.
  package init(expected: [String], files: [File], unknownGroups: [String] = [], command: String) {
    self.expected = expected
    self.files = files
    self.unknownGroups = unknownGroups
    self.command = command
  }

  /// The folders of udev, in the order of precedence.
  private static let folders = [
    "/etc/udev/rules.d", "/run/udev/rules.d", "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d",
    "/lib/udev/rules.d",
  ]

  /// The start of the first line of the rules, by which the rules are recognised in a file with any name.
  package static let mark = "# Blood-glucose meters, by glucoport."

  /// The files with rules of glucoport. udev ignores a file if an earlier folder contains a file with the
  /// same name.
  ///
  /// - Parameter root: a folder in which the folders of udev are searched, for tests; empty for this system.
  package static func installed(below root: String = "") -> [File] {
    var seen: Set<String> = []
    var found: [File] = []
    for folder in folders {
      for name in SystemText.names(root + folder) where name.hasSuffix(".rules") && seen.insert(name).inserted
      {
        guard let text = SystemText.of(root + folder + "/" + name) else { continue }
        if name.contains("glucoport") || text.contains(mark) {
          found.append(File(path: folder + "/" + name, text: text))
        }
      }
    }
    return found
  }

  /// The groups in the rules.
  package static func groups(in files: [File]) -> Set<String> {
    Set(files.flatMap { $0.text.matches(of: /GROUP="([^"]+)"/).map { String($0.1) } })
  }

  /// The problems of the rules. If there are none, one finding states that the rules are current.
  var findings: [Finding] {
    guard !files.isEmpty else {
      return [
        Finding(.udev, .note, "no rules for meters are installed; only root may open meters", fix: command)
      ]
    }
    let found = files.compactMap(late) + missing + unknown
    let names = files.map(\.path).joined(separator: ", ")
    return found.isEmpty ? [Finding(.udev, .ok, "\(names): the rules are those of this version")] : found
  }

  private func late(_ file: File) -> Finding? {
    guard file.name >= "73-seat-late.rules" else { return nil }
    return Finding(
      .udev, .warn,
      "\(file.path) sorts after 73-seat-late.rules, so that the person at the computer gets no permission by it",
      fix:
        "sudo mv \(quoted(file.path)) /etc/udev/rules.d/70-glucoport.rules && sudo udevadm control --reload && sudo udevadm trigger"
    )
  }

  private var missing: [Finding] {
    let installed = Set(files.flatMap { $0.text.split(separator: "\n").map { rule(String($0)) } })
    let lines = expected.map(rule).filter { !$0.isEmpty && !$0.hasPrefix("#") && !installed.contains($0) }
    guard !lines.isEmpty else { return [] }
    let names = files.map(\.path).joined(separator: ", ")
    return [
      Finding(
        .udev, .warn,
        "\(names): \(lines.count) rules of this version are missing; the file is of another version",
        fix: command)
    ]
  }

  private var unknown: [Finding] {
    unknownGroups.map { group in
      Finding(
        .udev, .warn, "the rules give meters to the group \(group), which does not exist",
        fix: "sudo groupadd --system \(quoted(group))")
    }
  }

  /// A rule without the name of its group. Rules are compared without this name, since an administrator may
  /// choose any group.
  private func rule(_ line: String) -> String { line.replacing(/GROUP="[^"]*"/, with: "GROUP") }
}

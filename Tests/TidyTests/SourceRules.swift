// SPDX-License-Identifier: Apache-2.0

/// Rules that reviewers overlook. Each function returns the violations in a file, as `path:line: what`.
enum SourceRules {
  static let maxFunctionLines = 70
  static let maxFileLines = 600
  /// The `lineLength` of `.swift-format`, whose linter does not check comments.
  static let maxCommentColumns = 110

  /// The rooms, which are the modules of `Sources`, by row, with the bottom row first. A room only imports
  /// rooms of lower rows.
  static let rows: [[String]] = [
    ["Logbook", "CBZip2", "CExpat", "CLZMA", "CLibUSB", "CLinux", "CZlib", "CZstd"],
    ["Archives", "LogbookAPI", "Nightscout", "PDF", "SQLiteRows", "TemporaryFiles"],
    [
      "LogbookStore", "Formats", "PostgresStore", "ServerStore", "Remotes", "Meters", "USBTransport",
      "BluetoothTransport",
    ],
    ["Ingest", "Sync", "LogbookServer", "Report", "Doctor"],
    ["CommandParts"],
    ["Commands", "LookCommands"],
    ["glucoport"],
  ]

  /// Modules of other packages, by the role for which they are needed. Only one room may import those of a
  /// role.
  static let importers: [(role: String, room: String, modules: Set<String>)] = [
    ("digests", "Logbook", ["Crypto"]),
    ("lists of readings", "Logbook", ["CZlib"]),
    ("bodies in gzip", "LogbookAPI", ["CZlib"]),
    ("archives, compressed files and XML", "Archives", ["CBZip2", "CExpat", "CLZMA", "CZlib", "CZstd"]),
    ("databases of other programs", "Archives", ["GRDBSQLite"]),
    ("streams of a PDF", "PDF", ["CZlib"]),
    ("USB", "USBTransport", ["CLibUSB"]),
    ("the store of a client", "LogbookStore", ["GRDB", "GRDBSQLite", "HeapModule"]),
    ("the storage of a server", "ServerStore", ["GRDB"]),
    ("what both stores share", "SQLiteRows", ["GRDB", "GRDBSQLite"]),
    (
      "the HTTP client", "Remotes", ["AsyncHTTPClient", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL"]
    ),
    ("the token command", "Remotes", ["Subprocess"]),
    (
      "the HTTP server", "LogbookServer",
      [
        "HTTPTypes", "HummingbirdCore", "Logging", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL",
        "ServiceLifecycle", "UnixSignals",
      ]
    ),
    ("calls of Linux that Swift does not import", "Doctor", ["CLinux"]),
    ("the memory of the process", "CommandParts", ["CLinux"]),
    ("templates of pages", "Report", ["Mustache"]),
    ("arguments that commands share", "CommandParts", ["ArgumentParser"]),
    ("arguments of commands that only look", "LookCommands", ["ArgumentParser"]),
    ("arguments of the other commands", "Commands", ["ArgumentParser"]),
    ("the tree of commands", "glucoport", ["ArgumentParser"]),
  ]

  /// Modules of the system, which every room may import.
  static let systemModules: Set<String> = [
    "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Synchronization",
  ]

  static func row(of room: String) -> Int? { rows.firstIndex { $0.contains(room) } }

  static func imports(_ file: SourceFile) -> [String] {
    guard let own = row(of: file.room) else { return ["\(file.path): a room without a row"] }
    return file.imports.compactMap { line, module in
      let place = "\(file.path):\(line): imports \(module)"
      let importers = importers.filter { $0.modules.contains(module) }
      if !importers.isEmpty {
        let rooms = importers.map(\.room)
        return rooms.contains(file.room) ? nil : "\(place), which is for \(rooms)"
      }
      if systemModules.contains(module) { return nil }
      guard let other = row(of: module) else { return "\(place), which no room is said to" }
      return other < own ? nil : "\(place), which is no lower row"
    }
  }

  static func lengths(_ file: SourceFile) -> [String] {
    // If the text ends with a line end, the last element of `lines` is empty and is not a line.
    let count = file.lines.count - (file.lines.last == "" ? 1 : 0)
    let long = count > maxFileLines ? ["\(file.path): \(count) lines"] : []
    return long
      + file.functions.filter { $0.length > maxFunctionLines }.map {
        "\(file.path):\($0.line): a function of \($0.length) lines"
      }
  }

  /// The lines of comments that are too wide, with their indentation.
  static func wideComments(_ file: SourceFile) -> [String] {
    file.numbered.filter { _, line in
      line.utf8.count > maxCommentColumns && line.drop { $0 == " " }.hasPrefix("//")
        && line.count > maxCommentColumns
    }.map { "\(file.path):\($0.number): a comment of \($0.line.count) columns" }
  }

  /// Calls and words that `Sources` must not contain.
  static func words(_ file: SourceFile) -> [String] {
    let banned = ["try!", " as!", "fatalError(", "TODO", "FIXME"].flatMap { word in
      file.lines(holding: word).map { "\(file.path):\($0.number): \(word)" }
    }
    let prints = file.lines(holding: "print(").filter { file.name != "Output.swift" && callsPrint($0.line) }
    return banned + prints.map { "\(file.path):\($0.number): print(" }
  }

  /// Whether the line calls a function with exactly this name.
  private static func callsPrint(_ line: String) -> Bool {
    line.ranges(of: "print(").contains { range in
      guard let before = line[..<range.lowerBound].last else { return true }
      return !before.isLetter && !before.isNumber && before != "_"
    }
  }

  /// A construct that the compiler does not check for data races or deadlocks, in the file that may use it.
  struct Unchecked {
    /// The text by which the construct is found.
    let word: String
    let file: String
    /// The number of lines of the file with the construct.
    var lines = 1
    /// Why this use is safe. The file states it as well.
    let reason: String
  }

  static let unchecked = [
    Unchecked(
      word: "@unchecked Sendable", file: "Sources/Logbook/BackgroundWorker.swift",
      reason: "the state is used only on the queue, which runs one job at a time"),
    Unchecked(
      word: "DispatchQueue(", file: "Sources/Logbook/BackgroundWorker.swift",
      reason: "it is serial, and protects the state of the worker"),
    Unchecked(
      word: "Mutex<", file: "Sources/LogbookServer/ConnectionGuard.swift",
      reason: "while it is held, no function of a channel is called"),
    Unchecked(
      word: "Mutex(", file: "Sources/LogbookServer/ConnectionGuard.swift",
      reason: "the initial value of the same lock"),
    Unchecked(
      word: "Mutex<", file: "Sources/PostgresStore/DatabaseError.swift",
      reason: "while it is held, only a table of warnings is changed"),
    Unchecked(
      word: "Mutex<", file: "Sources/Remotes/Exchange/PooledHTTPTransport.swift",
      reason: "while it is held, a pool is created, which calls nothing that needs the lock"),
    Unchecked(
      word: "Atomic(", file: "Sources/Remotes/Exchange/PooledHTTPTransport.swift",
      reason: "a flag that is only set, and protects no other value"),
    Unchecked(
      word: "Atomic(", file: "Sources/Remotes/Exchange/HTTPTransport.swift", lines: 3,
      reason: "counters that protect no other value"),
    Unchecked(
      word: "Atomic<", file: "Sources/USBTransport/Watch.swift",
      reason: "the flag of a signal handler, which may use nothing else"),
    Unchecked(
      word: "pthread_create(", file: "Sources/Commands/Machine/ResourceLimits.swift",
      reason: "the threads only read a pipe, and end before the function returns"),
    Unchecked(
      word: "Task.detached", file: "Sources/glucoport/main.swift",
      reason: "the main thread only waits for signals after it"),
  ]

  /// The words of `unchecked` in other files, and words that no file may contain.
  static func concurrency(_ file: SourceFile) -> [String] {
    let banned = [
      "nonisolated(unsafe)", "NSLock", "Semaphore", "Task {", "Thread.detach", "static var shared",
      "static let shared",
      // The main thread only waits for signals: what is sent to it would never run.
      "MainActor", "DispatchQueue.main", "RunLoop.main",
    ]
    let allowed = unchecked.filter { $0.file == file.path }.map(\.word)
    let others = Set(unchecked.map(\.word)).subtracting(allowed).sorted()
    return (banned + others).flatMap { word in
      file.lines(holding: word).filter { _, line in
        !line.drop { $0 == " " }.hasPrefix("//")
          && line.replacing("addTask", with: "").replacing("makeFutureWithTask", with: "").holds(word)
      }.map { "\(file.path):\($0.number): \(word)" }
    }
  }

  /// Names of values with subscripts that are not rows of a database.
  private static let noRows: Set<Substring> = ["parts"]

  /// Values that are read from a row of a database without an error. GRDB ends the program if a damaged row
  /// holds NULL or another type. `StoredRow` has subscripts that throw. Dictionaries that trap on a repeated
  /// key are found, too, since a damaged index can have one.
  static func uncheckedRows(_ file: SourceFile) -> [String] {
    guard ["LogbookStore", "ServerStore"].contains(file.room) else { return [] }
    let readsRows = file.text.contains("Row.fetch") || file.text.contains(": StoredRow")
    return file.numbered.filter { !$0.line.drop { $0 == " " }.hasPrefix("//") }.flatMap { number, line in
      var found = line.contains("uniqueKeysWithValues:") ? ["uniqueKeysWithValues"] : []
      if readsRows {
        found += line.matches(of: /(\$0|\b[A-Za-z]\w*)\??\[(\d+|"\w+")\]/).filter { match in
          !line[..<match.range.lowerBound].hasSuffix("try ") && !noRows.contains(match.1)
        }.map { String($0.0) }
      }
      return found.map { "\(file.path):\(number): \($0)" }
    }
  }

  /// Calls that fetch changes from a remote, apply them, or store the position, each with the files that may
  /// call it. So only one part of the program stores the position. A comparison also fetches, and applies
  /// missing items by the same calls.
  static let pulling: [(call: String, files: Set<String>)] = [
    ("remote.changes(", ["UploadSession+Downloads.swift", "VerifySession.swift"]),
    // The base zone is fetched when a store gets a remote, before it has a queue of downloads. A report page
    // is made from a temporary store, which is removed with the page.
    ("parts.changes(", ["UploadSession+Downloads.swift", "BaseZone.swift", "ReportPages.swift"]),
    ("remote.part(", ["UploadSession+Attachments.swift"]),
    ("storePulled(", ["UploadSession+Pull.swift", "VerifySession+Fix.swift", "ReportPages.swift"]),
    ("adopt(", ["UploadSession+Pull.swift", "ReportPages.swift"]),
    ("markConflicted(", ["UploadSession+Pull.swift"]),
    (
      "store.apply(",
      [
        "BaseZone.swift", "UploadSession+Pull.swift", "UploadSession+Push.swift",
        "VerifySession+Fix.swift",
      ]
    ),
    ("setCursor(", ["UploadSession+Downloads.swift"]), ("setPosition(", ["UploadSession+Downloads.swift"]),
    ("apply(page)", ["UploadSession+Downloads.swift"]),
  ]

  /// The calls of `pulling` in rooms above the store, in files that may not make them.
  static func secondWaysIn(_ file: SourceFile) -> [String] {
    guard ["Sync", "Ingest", "CommandParts", "Commands", "LookCommands"].contains(file.room) else {
      return []
    }
    return pulling.filter { !$0.files.contains(file.name) }.flatMap { way in
      file.lines(holding: way.call).filter { calls(way.call, $0.line) }.map {
        "\(file.path):\($0.number): \(way.call) is for \(way.files.sorted())"
      }
    }
  }

  /// Whether the line calls a function with exactly this name. An action with that name, such as
  /// `.adopt(remote)`, is not a call.
  private static func calls(_ call: String, _ line: String) -> Bool {
    !line.contains("func ")
      && line.ranges(of: call).contains { range in
        let before = line[..<range.lowerBound]
        if [" .", "(.", " case "].contains(where: before.hasSuffix) { return false }
        return before.last.map { !$0.isLetter && !$0.isNumber && $0 != "_" } ?? true
      }
  }

  /// Names that two files share, or two types that are not nested. Readers look for files and types by name.
  /// In tests only suites are checked, because tests are selected by the names of suites.
  static func repeatedNames(_ files: [SourceFile]) -> [String] {
    let declaration =
      /^(?:(?:package|public|private|fileprivate|final|indirect|@\w+(?:\(.*\))?) )*(?:struct|enum|class|actor|protocol) (\w+)/
    let types = files.flatMap { file in
      file.lines.compactMap { $0.firstMatch(of: declaration) }.map { (name: String($0.1), path: file.path) }
    }.filter { $0.path.hasPrefix("Sources/") || $0.name.hasSuffix("Tests") }
    let names = files.map { (name: $0.name, path: $0.path) } + types
    return Dictionary(grouping: names, by: \.name).filter { $0.value.count > 1 }.map { name, places in
      "\(name): \(places.map(\.path).sorted().joined(separator: ", "))"
    }.sorted()
  }

  /// Tests that pass without a check: a function marked `@Test` that returns if a `guard` fails. A test uses
  /// `#require` for its conditions, or `.enabled(if:)`.
  static func silentReturns(_ file: SourceFile) -> [String] {
    file.functions.filter { file.isTest(at: $0.line) }.flatMap { function in
      let body = file.numbered[(function.line - 1)..<(function.line - 1 + function.length)]
      return body.filter { number, line in
        let next = file.lines.indices.contains(number) ? file.lines[number] : ""
        return line.contains("else { return }")
          || line.hasSuffix("else {") && next.drop { $0 == " " } == "return"
      }.map { "\(file.path):\($0.number): a test that returns without a word" }
    }
  }

  /// The numbers of the lines with a declaration, or an import, that is public.
  static func publicDeclarations(_ file: SourceFile) -> [Int] {
    file.numbered.filter { _, line in
      let words = line.prefix { $0 != "/" }.split(separator: " ")
      return words.contains("public")
    }.map(\.number)
  }

  /// The names of public types, and of functions outside types.
  static func publicTypes(_ file: SourceFile) -> Set<String> {
    let kinds: Set<Substring> = [
      "struct", "enum", "class", "protocol", "actor", "func", "typealias", "let", "var",
    ]
    return Set(
      file.lines.compactMap { line in
        guard line.first != " " else { return nil }
        let words = line.split(separator: " ")
        guard let place = words.firstIndex(of: "public"),
          let kind = words[place...].firstIndex(where: kinds.contains), words.indices.contains(kind + 1)
        else { return nil }
        return words[..<place].allSatisfy { $0.hasPrefix("@") }
          ? String(words[kind + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" }) : nil
      })
  }

  /// The `package` structures and classes with inlinable methods that are not `@usableFromInline`.
  static func typesThatPreventInlining(_ file: SourceFile) -> [String] {
    var type: (line: Int, isInlined: Bool)?
    var found: [Int] = []
    for (number, line) in file.numbered {
      if line.first != " ", line.contains("package"), line.contains("struct ") || line.contains("class ") {
        type = (number, line.hasPrefix("@usableFromInline") || line.contains(" @usableFromInline"))
      } else if line == "}" {
        type = nil
      } else if line.hasPrefix("  @inlinable"), let type, !type.isInlined, found.last != type.line {
        found.append(type.line)
      }
    }
    return found.map { "\(file.path):\($0)" }
  }

  static func licence(_ file: SourceFile) -> [String] {
    // In Package.swift, the tools version must be the first line, so the licence is the second one.
    let line = file.path == "Package.swift" ? 1 : 0
    let isThere =
      file.lines.indices.contains(line) && file.lines[line] == "// SPDX-License-Identifier: Apache-2.0"
    return isThere ? [] : ["\(file.path): no SPDX line"]
  }

  static func vagueName(_ file: SourceFile) -> [String] {
    let vague = ["Manager", "Helper", "Util", "Handler", "Processor", "Common", "Misc"]
    return vague.filter(file.name.contains).map { "\(file.path): '\($0)' says nothing of what is inside" }
  }

  /// Paths that exist on one machine only.
  static func machinePaths(_ file: SourceFile) -> [String] {
    ["root", "work"].map { "/\($0)/" }.flatMap { folder in
      file.lines(holding: folder).map { "\(file.path):\($0.number): \(folder)" }
    }
  }

  /// A folder in which each file contains one type of a register.
  struct Registered {
    /// The folder.
    let folder: String
    /// The end of the file names.
    let suffix: String
    /// The protocol to which the types conform.
    let port: String

    static let formats = Registered(
      folder: "Sources/Formats/", suffix: "Format.swift", port: "ExportFormat")
    static let remotes = Registered(folder: "Sources/Remotes/", suffix: "Remote.swift", port: "RemoteKind")
    static let drivers = Registered(folder: "Sources/Meters/", suffix: "Driver.swift", port: "MeterDriver")
  }

  /// The types that conform to the protocol and are not in its register.
  static func unregistered(
    _ files: [SourceFile], _ kind: Registered = .formats, register: SourceFile
  ) -> [String] {
    let entries = Set(register.lines.map { line in line.filter { $0 != " " && $0 != "," } })
    return files.filter {
      $0.path.hasPrefix(kind.folder) && $0.path != register.path && !$0.name.contains("+")
    }.flatMap { file in
      let named = file.name.hasSuffix(kind.suffix) ? [String(file.name.dropLast(".swift".count))] : []
      let declared = file.lines.filter { $0.hasPrefix("struct ") && $0.contains(": \(kind.port)") }.map {
        String($0.dropFirst("struct ".count).prefix { $0.isLetter || $0.isNumber })
      }
      let missing = Set(named + declared).filter { !entries.contains($0 + ".self") }
      return missing.sorted().map { "\(file.path): \($0) is not in the register" }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logbook

/// A program of this computer that makes a PDF of a page: Chromium or WeasyPrint.
struct PagePrinter {
  private static let chromium = ["chromium", "chromium-browser", "google-chrome"]
  private static let weasyPrint = "weasyprint"
  private static let maxSeconds = 120

  private let program: String
  private let isChromium: Bool

  /// The first installed one.
  ///
  /// - Throws: `Failure` of category `unavailable` if none is.
  init() throws {
    let found = (Self.chromium + [Self.weasyPrint]).lazy.compactMap { name in
      Self.path(of: name).map { (name, $0) }
    }.first
    guard let (name, path) = found else {
      throw Failure(
        .unavailable,
        "--format pdf needs Chromium or WeasyPrint, and neither is installed; install one, or write the HTML page and print it in a browser"
      )
    }
    (program, isChromium) = (path, name != Self.weasyPrint)
  }

  /// The PDF of a page.
  ///
  /// - Throws: `Failure` of category `inputOutput` if the program fails.
  func pdf(of html: String) throws -> [UInt8] {
    let folder = try Self.makeFolder()
    let printed = Result { try self.pdf(of: html, in: folder) }
    try Self.remove(folder)
    return try printed.get()
  }

  private func pdf(of html: String, in folder: String) throws -> [UInt8] {
    let (source, target) = (folder + "/report.html", folder + "/report.pdf")
    guard FileManager.default.createFile(atPath: source, contents: Data(html.utf8)) else {
      throw Failure(.cannotCreate, "\(source): cannot be created")
    }
    let status = try run(arguments(source, target, folder))
    guard status == 0, let content = FileManager.default.contents(atPath: target), !content.isEmpty else {
      throw Failure(.inputOutput, "\(displayed(program)): could not print the page (status \(status))")
    }
    return Array(content)
  }

  /// The browser keeps its own files in the temporary folder, and cannot resolve any host. So nothing of the
  /// page leaves this computer.
  private func arguments(_ source: String, _ target: String, _ folder: String) -> [String] {
    guard isChromium else { return [source, target] }
    // Its sandbox does not work for root. The page has no script.
    let sandbox = geteuid() == 0 ? ["--no-sandbox"] : []
    return sandbox + [
      "--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND",
      "--user-data-dir=\(folder)/profile", "--no-pdf-header-footer", "--print-to-pdf=\(target)",
      "file://\(source)",
    ]
  }

  private func run(_ arguments: [String]) throws -> Int32 {
    let process = Process()
    // A browser that hangs would block a job forever.
    if let timeout = Self.path(of: "timeout") {
      process.executableURL = URL(filePath: timeout)
      process.arguments = ["\(Self.maxSeconds)", program] + arguments
    } else {
      process.executableURL = URL(filePath: program)
      process.arguments = arguments
    }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    do {
      try process.run()
    } catch {
      throw Failure(.inputOutput, "\(displayed(program)): cannot be started: \(error)")
    }
    process.waitUntilExit()
    return process.terminationStatus
  }

  private static func path(of name: String) -> String? {
    (Host.environment("PATH") ?? "").split(separator: ":").map { "\($0)/\(name)" }.first {
      access($0, X_OK) == 0
    }
  }

  /// Creates a folder that only its owner can read.
  private static func makeFolder() throws -> String {
    var path = Array("\(FileManager.default.temporaryDirectory.path)/glucoport-XXXXXX".utf8CString)
    guard mkdtemp(&path) != nil else {
      throw Failure(
        .cannotCreate, "cannot create a temporary folder: \(String(cString: strerror(errno)))")
    }
    return String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Removes the page and its PDF, and then the files of the browser.
  private static func remove(_ folder: String) throws {
    for name in ["report.html", "report.pdf"] where unlink("\(folder)/\(name)") != 0 && errno != ENOENT {
      throw Failure(
        .inputOutput, "\(folder)/\(name): cannot be removed: \(String(cString: strerror(errno)))")
    }
    do {
      try FileManager.default.removeItem(atPath: folder)
    } catch {
      // A process of the browser may still write its own files, which contain nothing of the page.
    }
  }
}

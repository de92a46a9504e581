// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Glibc
import Logbook
import LogbookStore

/// `glucoport record attach`: stores the contents of files as attachments of an entry.
struct RecordAttachCommand: AsyncPrintingCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    "attach", "Attach files to an entry.",
    """
    The files are copied into the store, all of them or none; you can remove the originals \
    afterwards. Equal content is stored and sent once.
    """,
    examples: "glucoport record attach 8120 lab-report.pdf",
    "pdftoppm -png scan.pdf | glucoport record attach 8120 - --name scan.png")

  /// The maximum length of a file name in bytes, as common file systems have it.
  private static let maxNameBytes = 255

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The id of the entry, or its first characters.")
  var id: String

  @Argument(help: ArgumentHelp("The files; - is standard input.", valueName: "file"))
  var files: [PathArgument]

  @Option(help: ArgumentHelp("The name to store for a single file.", valueName: "name"))
  var name: String?

  @OptionGroup var pushOption: PushOption
  @OptionGroup var result: RecordOutputOptions

  func validate() throws {
    if name != nil, files.count != 1 { throw ValidationError("--name is for a single file.") }
    if files.contains(where: { $0.path == "-" }), name == nil || files.count > 1 {
      throw ValidationError("Standard input needs a --name, and must be the only file.")
    }
    if let name, name.isEmpty || name.utf8.count > Self.maxNameBytes {
      throw ValidationError("A name must have 1 to \(Self.maxNameBytes) bytes.")
    }
  }

  func run(_ output: Output) async throws {
    Host.keepFilesPrivate()
    let store = try storeOptions.open(.editor)
    let entry = try store.record(named: id)
    let limit = try store.attachmentLimit()
    let intake = try ContentIntake(store)
    let (time, placement) = TimeArgument.now.placedTime(zone: try store.timezone(), now: Host.now())
    // Attachments that were added at the same time are sent in the order of their ids. So the ids are sorted,
    // and uploads send the files in the given order.
    let guids = files.map { _ in Host.randomUUID() }.sorted()
    let drafts = try zip(files, guids).map { path, guid in
      let file = try AttachedFile(path.path)
      let (content, head) = try file.read(into: intake, limit: limit)
      let name = name ?? file.name
      var draft = RecordDraft(
        kind: .attachment, at: time, placement: placement,
        fields: RecordFields([
          "name": .text(name), "type": .text(ContentType.of(head: head, name: name)),
          "size": .number(Double(content.size)), "sha256": .text(content.digest),
        ]))
      draft.entryGuid = entry.guid
      return (draft, guid)
    }
    let edits = try RecordEditor(store, at: Host.now()).attach(drafts, intake)
    for edit in try await pushOption.attempt(edits, in: store, storeOptions, output, isQuiet: result.quiet) {
      try result.show("attached", edit, store, output)
    }
  }
}

/// `glucoport record attachments`: lists the attachments of an entry.
struct RecordAttachmentsCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "attachments", "List the files that are attached to an entry.",
    "'glucoport show ID --save FILE' writes one of them to a file.",
    examples: "glucoport record attachments 8120", "glucoport record attachments 8120 --json")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The id of the entry or of one attachment, or its first characters.")
  var id: String

  @Flag(help: "Print one JSON object per line.")
  var json = false

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.reader)
    for attachment in try store.attachments(of: store.record(named: id).guid) {
      try output.result(asJSON: json, attachment, orLines: [AttachmentText.line(attachment)])
    }
  }
}

/// A file or standard input. It can be read only once, from its start to its end.
struct AttachedFile {
  private static let pieceBytes = 64 << 10

  /// The path of the file; `-` for standard input.
  let path: String
  private let descriptor: Int32

  /// - Throws: `Failure`: `missingInput`, `permission`, `badInput` if it is a folder, `inputOutput`.
  init(_ path: String) throws {
    self.path = path
    descriptor = path == "-" ? STDIN_FILENO : open(PathText.bytes(path), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.failure(path, "cannot be opened") }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.failure(path, "cannot be read") }
    guard status.st_mode & S_IFMT != S_IFDIR else {
      throw Failure(.badInput, "\(displayed(path)): Is a directory; attach the files in it")
    }
  }

  /// The name of the file, which is the last part of the path. Bytes that are not valid UTF-8 are replaced.
  var name: String {
    let bytes = PathText.bytes(path).dropLast().map { UInt8(bitPattern: $0) }
    return String(decoding: bytes.split(separator: UInt8(ascii: "/")).last ?? bytes[...], as: UTF8.self)
  }

  /// Copies the bytes into the store's intake for attachments.
  ///
  /// - Returns: the stored content, and its first bytes to determine the type.
  /// - Throws: `Failure` of category `badInput` if the file is larger than `limit` bytes. Reading stops at
  ///   this limit.
  func read(
    into intake: ContentIntake, limit: Int64
  ) throws -> (content: AttachmentContent, head: [UInt8]) {
    defer { if path != "-" { close(descriptor) } }
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceBytes, alignment: 16)
    defer { piece.deallocate() }
    var (head, total): ([UInt8], Int64) = ([], 0)
    while true {
      let count = uninterrupted { Glibc.read(descriptor, piece.baseAddress, piece.count) }
      guard count >= 0 else { throw Self.failure(path, "cannot be read") }
      guard count > 0 else { return (try intake.end(), head) }
      total += Int64(count)
      guard total <= limit else {
        throw Failure(
          .badInput,
          "\(displayed(path)): larger than \(ByteCountArgument.text(limit)), the limit for attachments; change it with 'glucoport config attachment-limit'"
        )
      }
      let bytes = UnsafeRawBufferPointer(rebasing: piece[..<count])
      if head.count < ContentType.headBytes { head += bytes.prefix(ContentType.headBytes - head.count) }
      try intake.add(bytes)
    }
  }

  private static func failure(_ path: String, _ what: String) -> Failure {
    let code = errno
    return Failure(
      FailureCategory(unreadableFile: code),
      "\(displayed(path)): \(what): \(String(cString: strerror(code)))")
  }
}

/// Determines the media type of a content from its first bytes or from the name of its file.
enum ContentType {
  /// How many bytes at the start are examined.
  static let headBytes = 512
  static let unknown = "application/octet-stream"

  /// First bytes that identify a type. They take precedence over the name of the file.
  private static let signatures: [(bytes: [UInt8], type: String)] = [
    (Array("%PDF-".utf8), "application/pdf"),
    ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "image/png"),
    ([0xFF, 0xD8, 0xFF], "image/jpeg"),
    (Array("GIF87a".utf8), "image/gif"), (Array("GIF89a".utf8), "image/gif"),
    ([0x1F, 0x8B], "application/gzip"),
    (Array("SQLite format 3\0".utf8), "application/vnd.sqlite3"),
  ]

  private static let extensions = [
    "pdf": "application/pdf", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg",
    "gif": "image/gif", "webp": "image/webp", "heic": "image/heic", "svg": "image/svg+xml",
    "mp3": "audio/mpeg", "m4a": "audio/mp4", "ogg": "audio/ogg", "wav": "audio/wav", "mp4": "video/mp4",
    "csv": "text/csv", "txt": "text/plain", "md": "text/markdown", "html": "text/html",
    "json": "application/json", "xml": "application/xml", "zip": "application/zip",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "odt": "application/vnd.oasis.opendocument.text",
  ]

  /// The media type of a content. `head` has its first bytes.
  static func of(head: [UInt8], name: String) -> String {
    if let found = signatures.first(where: { head.starts(with: $0.bytes) }) { return found.type }
    if head.starts(with: Array("RIFF".utf8)), head.dropFirst(8).starts(with: Array("WEBP".utf8)) {
      return "image/webp"
    }
    let parts = name.lowercased().split(separator: ".", omittingEmptySubsequences: false)
    if parts.count > 1, let type = extensions[String(parts[parts.count - 1])] { return type }
    if head.starts(with: [0x50, 0x4B, 0x03, 0x04]) { return "application/zip" }
    return isText(head) ? "text/plain" : unknown
  }

  private static func isText(_ head: [UInt8]) -> Bool {
    guard !head.isEmpty, head.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || (0x09...0x0D).contains($0) }) else {
      return false
    }
    // The head may end within a character, so up to three bytes at its end are ignored.
    return (0..<min(4, head.count)).contains { String(validating: head.dropLast($0), as: UTF8.self) != nil }
  }
}

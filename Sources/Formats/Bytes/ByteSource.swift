// SPDX-License-Identifier: Apache-2.0

import Archives
import Glibc
import Logbook

/// The original bytes of one input, before unpacking and decoding, with the digest of the bytes read.
protocol InputSource: ByteSource {
  /// The name for messages: the path, `-`, or the paths of archive and member.
  var name: String { get }
  /// Whether the input can be read again from the start.
  var isRegularFile: Bool { get }
  /// The size of an input that can be read again, in bytes.
  var size: Int64? { get }
  /// The time of the last modification of a regular file, in UTC seconds.
  var modifiedAt: Int64? { get }
  var bytesRead: Int64 { get }
  /// Whether bytes read are added to the digest.
  var isHashing: Bool { get set }
  /// Whether the program was asked to end.
  var isInterrupted: @Sendable () -> Bool { get set }
  /// The SHA-256 of the bytes read.
  var digest: Digest { get }
  /// Returns to the start and restarts the digest.
  func rewind() throws
}

/// An open file or pipe.
final class FileSource: InputSource {
  /// The name for messages: the path, or `-`.
  let name: String
  /// Whether the input can be read again from the start.
  let isRegularFile: Bool
  /// The size of a regular file in bytes.
  let size: Int64?
  /// The time of the last modification of a regular file, in UTC seconds.
  let modifiedAt: Int64?
  private(set) var bytesRead: Int64 = 0
  private var background = BackgroundDigest()
  /// Whether bytes read are added to the digest.
  var isHashing = true
  /// Whether the program was asked to end; a pipe is then no longer read.
  var isInterrupted: @Sendable () -> Bool = { false }
  private(set) var descriptor: Int32
  /// The bytes that `peek` took from a pipe.
  private var ahead: [UInt8] = []

  /// Opens a file. A named pipe is opened without waiting for its writer; `read` waits, so that
  /// `isInterrupted` can end the wait.
  ///
  /// - Throws: `Failure` of category `missingInput`, `permission` or `inputOutput`.
  convenience init(path: String, isInterrupted: @escaping @Sendable () -> Bool = { false }) throws {
    let descriptor = open(PathText.bytes(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw Self.failure("open", PathText.shown(path), errno) }
    // Without a writer, a read would immediately return the end, but `poll` waits for a writer. So a named
    // pipe stays non-blocking and is polled before each read.
    if !Self.isNamedPipe(descriptor) { _ = fcntl(descriptor, F_SETFL, 0) }
    try self.init(descriptor: descriptor, name: PathText.shown(path))
    self.isInterrupted = isInterrupted
  }

  /// The path of the open file without links, in the bytes of the file system and without a final zero. Empty
  /// if the system does not know it. `name` is not suitable to find files in the same folder: its bytes may
  /// differ, and it may be a link in another folder.
  var path: [CChar] {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/fd/\(descriptor)", &path, path.count)
    return Array(path.prefix(max(0, count)))
  }

  /// Whether this is a named pipe, which may still be without a writer. A pipe that a shell opens, as for
  /// `<(…)`, is not one, since the shell opens its writer as well.
  private static func isNamedPipe(_ descriptor: Int32) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else { return false }
    var name = [CChar](repeating: 0, count: 5)
    let count = readlink("/proc/self/fd/\(descriptor)", &name, name.count)
    return count != 5 || name.map(UInt8.init(bitPattern:)) != Array("pipe:".utf8)
  }

  /// Takes ownership of an open descriptor.
  ///
  /// - Parameter modifiedAt: the time of the input's last modification, if the file is a copy; nil for the
  ///   file's own time.
  init(descriptor: Int32, name: String, modifiedAt given: Int64? = nil) throws {
    self.descriptor = descriptor
    self.name = name
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.failure("read", name, errno) }
    let type = status.st_mode & S_IFMT
    guard type != S_IFDIR else {
      throw Failure(.missingInput, "\(name): Is a directory; name the files in it")
    }
    // If the shell closed standard input, descriptor 0 may refer to an object of the runtime. Such an object
    // is not a file and has no file type.
    guard type != 0 else {
      throw Failure(
        .missingInput,
        "\(name): cannot be read: standard input is closed; pipe an export into it, or name a file")
    }
    isRegularFile = type == S_IFREG
    size = isRegularFile ? Int64(status.st_size) : nil
    modifiedAt = given ?? (isRegularFile ? Int64(status.st_mtim.tv_sec) : nil)
  }

  deinit { close(descriptor) }

  /// The SHA-256 of the bytes read.
  var digest: Digest { background.digest }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
    guard ahead.isEmpty else { return copy(ahead, into: buffer) }
    let outcome = try readDescriptor(into: buffer)
    if case .bytes(let count) = outcome {
      addRead(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
    }
    return outcome
  }

  /// The first bytes, at most `count`. They remain unread. Waits for a pipe's writer.
  func peek(_ count: Int) throws -> [UInt8] {
    if isRegularFile { return try peek(count, at: 0) }
    var chunk = [UInt8](repeating: 0, count: count)
    while ahead.count < count {
      let left = count - ahead.count
      let outcome = try chunk.withUnsafeMutableBytes {
        try readDescriptor(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<left]))
      }
      if case .end = outcome { break }
      if case .bytes(let more) = outcome { ahead += chunk.prefix(more) }
    }
    return ahead
  }

  /// Bytes of a regular file, fewer at its end, independent of the read position.
  func peek(_ count: Int, at offset: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let read = pread(descriptor, &bytes, count, off_t(offset))
    guard read >= 0 else { throw Self.failure("read", name, errno) }
    return Array(bytes.prefix(read))
  }

  private func copy(_ bytes: [UInt8], into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome {
    let count = min(bytes.count, buffer.count)
    buffer.copyBytes(from: bytes.prefix(count))
    ahead.removeFirst(count)
    addRead(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
    return .bytes(count)
  }

  private func addRead(_ bytes: UnsafeRawBufferPointer) {
    bytesRead += Int64(bytes.count)
    if isHashing { background.update(bytes) }
  }

  private func readDescriptor(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
    if isInterrupted() { throw Failure(.temporary, "\(name): interrupted") }
    if !isRegularFile, try !isReadable(withinMilliseconds: 200) { return .paused }
    let count = uninterrupted { Glibc.read(descriptor, buffer.baseAddress, buffer.count) }
    if count > 0 { return .bytes(count) }
    if count == 0 { return .end }
    if errno == EAGAIN { return .paused }
    throw Self.failure("read", name, errno)
  }

  /// Returns to the start of a regular file and restarts the digest.
  func rewind() throws {
    isHashing = true
    guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw Self.failure("read", name, errno) }
    bytesRead = 0
    background = BackgroundDigest()
  }

  private func isReadable(withinMilliseconds limit: Int32) throws -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let count = poll(&request, 1, limit)
    if count < 0, errno != EINTR { throw Self.failure("read", name, errno) }
    return count > 0
  }

  private static func failure(_ action: String, _ path: String, _ code: Int32) -> Failure {
    Failure(
      FailureCategory(unreadableFile: code), "\(path): cannot \(action): \(String(cString: strerror(code)))")
  }
}

/// Returns bytes that were already read, then the rest of the source.
final class ReplaySource: ByteSource {
  private var head: [UInt8]
  private var position = 0
  private let rest: (any ByteSource)?

  init(head: [UInt8], rest: (any ByteSource)?) {
    self.head = head
    self.rest = rest
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
    if position < head.count {
      let count = min(buffer.count, head.count - position)
      buffer.copyBytes(from: head[position..<position + count])
      position += count
      if position == head.count { head = []; position = 0 }
      return .bytes(count)
    }
    return try rest?.read(into: buffer) ?? .end
  }
}

/// The first bytes of an input.
struct Head {
  /// The maximum wait for more bytes after the first ones.
  static let longestWait = Duration.seconds(1)
  /// The minimum number of bytes in the first second of a download. A pipe with fewer is live: a person or a
  /// sensor writes it, and it may never end.
  static let minBytesOfDownload = 4096

  var bytes: [UInt8] = []
  /// Whether the input ends after the bytes of this head.
  var ended = false
  /// Whether the input is a pipe whose writer is too slow for a download.
  var isLive = false
}

extension ByteSource {
  /// The first bytes: up to `limit`, the end of the input, or the time `Head.longestWait` after the first
  /// byte.
  ///
  /// Waits for the first byte of a pipe, since its writer may still be starting.
  func readHead(limit: Int, now: () -> ContinuousClock.Instant = { .now }) throws -> Head {
    var bytes = [UInt8](repeating: 0, count: limit)
    var (count, pauses) = (0, 0)
    var start: ContinuousClock.Instant?
    while count < limit {
      let outcome = try bytes.withUnsafeMutableBytes { buffer in
        try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
      }
      switch outcome {
      case .bytes(let more):
        count += more
        pauses = 0
      case .paused where count == 0: continue
      case .paused: pauses += 1
      case .end: return Head(bytes: Array(bytes[..<count]), ended: true)
      }
      let begin = start ?? now()
      start = begin
      // A download may only be pausing at this moment. It is taken as stopped after five pauses in a row,
      // which last one second.
      let isSlow = count < Head.minBytesOfDownload
      if pauses >= 5 || (now() - begin >= Head.longestWait && (isSlow || pauses == 0)) {
        return Head(bytes: Array(bytes[..<count]), isLive: isSlow || pauses > 0)
      }
    }
    return Head(bytes: bytes)
  }
}

/// Computes a digest on a separate thread while the reader continues. On a processor without instructions for
/// SHA-256, hashing would take a quarter of the reader's time.
struct BackgroundDigest {
  private struct DigestState {
    var digest = Digest()
    var piece: [UInt8] = []
  }

  private let thread = BackgroundWorker(DigestState(), name: "digest")

  /// Adds bytes. The caller may change the bytes after the return. Waits until the previous bytes are hashed,
  /// so that a fast reader cannot accumulate them.
  func update(_ bytes: UnsafeRawBufferPointer) {
    thread.wait { work in
      work.piece.removeAll(keepingCapacity: true)
      work.piece.append(contentsOf: bytes)
    }
    thread.begin { work in
      let piece = work.piece
      piece.withUnsafeBytes { work.digest.update($0) }
    }
  }

  /// The digest of all bytes so far.
  var digest: Digest { thread.wait { $0.digest } }
}

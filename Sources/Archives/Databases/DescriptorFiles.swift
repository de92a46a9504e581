// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite
import Glibc
import Logbook

/// A file system for SQLite. The name of a file is the number of a descriptor that is open for reading.
///
/// A library that opens by path would read a file that was replaced meanwhile. It would also need a name for
/// input from a pipe, and would look for a journal. With this file system, SQLite sees only the bytes of one
/// descriptor, and cannot write or open anything else.
enum DescriptorFiles {
  /// The name under which SQLite registers this file system, for opening a connection with it.
  static let name = "glucoport-descriptor"

  /// SQLite's representation of a file. The part that SQLite defines must be first.
  private struct OpenFile {
    var base: sqlite3_file
    let descriptor: Int32
  }

  /// SQLite's result code for the registration of the file system. The registration happens once in a
  /// process.
  static let registration: Int32 = {
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    methods.initialize(to: Self.methods)
    let files = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    files.initialize(to: Self.files)
    files.pointee.pAppData = UnsafeMutableRawPointer(methods)
    files.pointee.zName = UnsafePointer(strdup(name))
    return sqlite3_vfs_register(files, 0)
  }()

  private static var files: sqlite3_vfs {
    var files = sqlite3_vfs()
    files.iVersion = 1
    files.szOsFile = Int32(MemoryLayout<OpenFile>.size)
    files.mxPathname = 64
    files.xOpen = { files, name, file, flags, given in
      guard let files, let name, let file, let methods = files.pointee.pAppData,
        flags & SQLITE_OPEN_MAIN_DB != 0, let descriptor = Int32(String(cString: name))
      else { return SQLITE_CANTOPEN }
      let base = sqlite3_file(
        pMethods: UnsafePointer(methods.assumingMemoryBound(to: sqlite3_io_methods.self)))
      UnsafeMutableRawPointer(file).initializeMemory(
        as: OpenFile.self, to: OpenFile(base: base, descriptor: descriptor))
      given?.pointee = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB
      return SQLITE_OK
    }
    files.xDelete = { _, _, _ in SQLITE_IOERR_DELETE }
    files.xAccess = { _, _, _, found in
      found?.pointee = 0
      return SQLITE_OK
    }
    files.xFullPathname = { _, name, size, full in
      guard let name, let full, strlen(name) < Int(size) else { return SQLITE_CANTOPEN }
      strcpy(full, name)
      return SQLITE_OK
    }
    files.xRandomness = { _, count, bytes in
      guard let bytes else { return 0 }
      memset(bytes, 0, Int(count))
      return count
    }
    files.xSleep = { _, _ in 0 }
    files.xCurrentTime = { _, days in
      days?.pointee = 0
      return SQLITE_OK
    }
    files.xGetLastError = { _, _, _ in 0 }
    return files
  }

  private static var methods: sqlite3_io_methods {
    var methods = sqlite3_io_methods()
    methods.iVersion = 1
    // Closing does nothing, since the caller owns the descriptor.
    methods.xClose = { _ in SQLITE_OK }
    methods.xRead = { file, bytes, count, offset in
      guard let file, let bytes else { return SQLITE_IOERR_READ }
      return DescriptorFiles.read(
        DescriptorFiles.descriptor(of: file), UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)),
        offset)
    }
    methods.xWrite = { _, _, _, _ in SQLITE_READONLY }
    methods.xTruncate = { _, _ in SQLITE_READONLY }
    methods.xSync = { _, _ in SQLITE_OK }
    methods.xFileSize = { file, size in
      var status = stat()
      guard let file, let size, fstat(DescriptorFiles.descriptor(of: file), &status) == 0 else {
        return SQLITE_IOERR_FSTAT
      }
      size.pointee = Int64(status.st_size)
      return SQLITE_OK
    }
    methods.xLock = { _, _ in SQLITE_OK }
    methods.xUnlock = { _, _ in SQLITE_OK }
    methods.xCheckReservedLock = { _, isLocked in
      isLocked?.pointee = 0
      return SQLITE_OK
    }
    methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
    methods.xSectorSize = { _ in 4096 }
    // With this flag, SQLite uses no locks and no journal for the file, even for a file in WAL mode.
    methods.xDeviceCharacteristics = { _ in SQLITE_IOCAP_IMMUTABLE }
    return methods
  }

  private static func descriptor(of file: UnsafeMutablePointer<sqlite3_file>) -> Int32 {
    UnsafeRawPointer(file).assumingMemoryBound(to: OpenFile.self).pointee.descriptor
  }

  private static func read(
    _ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, _ offset: Int64
  ) -> Int32 {
    var filled = 0
    while filled < bytes.count {
      let count = uninterrupted {
        pread(
          descriptor, bytes.baseAddress.map { $0 + filled }, bytes.count - filled,
          off_t(offset) + off_t(filled))
      }
      guard count >= 0 else { return SQLITE_IOERR_READ }
      if count == 0 {
        // SQLite requires that bytes past the end of the file are read as zeros.
        for place in filled..<bytes.count { bytes[place] = 0 }
        return shortRead
      }
      filled += count
    }
    return SQLITE_OK
  }

  /// `SQLITE_IOERR_SHORT_READ`. Swift does not import C macros that contain an operator.
  private static let shortRead = SQLITE_IOERR | 2 << 8
}

private let SQLITE_IOERR_READ = SQLITE_IOERR | 1 << 8
private let SQLITE_IOERR_FSTAT = SQLITE_IOERR | 7 << 8
private let SQLITE_IOERR_DELETE = SQLITE_IOERR | 10 << 8

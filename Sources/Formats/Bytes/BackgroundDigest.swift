// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A digest that takes each piece on its own thread while its reader goes on: on a processor without instructions
/// for SHA-256, hashing would be a quarter of the reader's time.
struct BackgroundDigest {
  private struct Work {
    var digest = Digest()
    var piece: [UInt8] = []
  }

  private let thread = SideThread(Work(), name: "digest")

  /// Takes the next bytes, which the caller may change as soon as this returns. Waits for those before, so that a fast
  /// reader does not pile them up.
  func update(_ bytes: UnsafeRawBufferPointer) {
    thread.afterwards { work in
      work.piece.removeAll(keepingCapacity: true)
      work.piece.append(contentsOf: bytes)
    }
    thread.begin { work in
      let piece = work.piece
      piece.withUnsafeBytes { work.digest.update($0) }
    }
  }

  /// The digest of all that was taken.
  var digest: Digest { thread.afterwards { $0.digest } }
}

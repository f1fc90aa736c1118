import TrellisModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// The files that SQLite has open in this process.
///
/// When a process closes any descriptor of a file, POSIX releases all locks that the process has on the file. Another
/// process would then take itself for the last one that uses the file, and remove the log of those that still do. So a
/// descriptor of such a file stays open until SQLite has closed the file, and is used again in the meantime.
enum LockedFiles {
  /// The identity of a file, whatever its path.
  struct Identity: Hashable, Sendable {
    fileprivate let device: UInt64
    fileprivate let inode: UInt64

    fileprivate init(_ stamp: FileStamp) {
      device = stamp.device
      inode = stamp.inode
    }
  }

  private struct Entry {
    /// The number of connections.
    var count = 0
    /// The open descriptors that are not in use.
    var kept: [Int32] = []
  }

  private static let entries = Locked<[Identity: Entry]>([:])

  /// Called before a connection opens a file.
  static func willOpen(_ path: String) -> Identity? {
    guard let stamp = try? SystemFiles().stamp(path) else { return nil }
    let identity = Identity(stamp)
    entries.withLock { $0[identity, default: Entry()].count += 1 }
    return identity
  }

  /// Called after a connection has closed a file.
  static func didClose(_ identity: Identity) {
    entries.withLock { entries in
      guard var entry = entries[identity] else { return }
      entry.count -= 1
      entries[identity] = entry.count == 0 ? nil : entry
      #if !os(Windows)
        if entry.count == 0 { for number in entry.kept { _ = closeDescriptor(number) } }
      #endif
    }
  }

  #if !os(Windows)
    /// A descriptor for reading of a file that SQLite has open. The caller returns it by ``close(_:)``.
    static func take(_ path: String) -> Int32? {
      guard let stamp = try? SystemFiles().stamp(path) else { return nil }
      let identity = Identity(stamp)
      return entries.withLock { entries in
        guard let place = entries[identity]?.kept.firstIndex(where: isForReading) else { return nil }
        return entries[identity]?.kept.remove(at: place)
      }
    }

    private static func isForReading(_ number: Int32) -> Bool {
      let flags = fcntl(number, F_GETFL)
      return flags >= 0 && flags & O_WRONLY == 0
    }

    /// Closes a descriptor, or keeps it.
    static func close(_ number: Int32) -> Int32 {
      var status = stat()
      guard fstat(number, &status) == 0 else { return closeDescriptor(number) }
      let identity = Identity(FileStamp(status))
      // The lock is held, so that no connection opens the file in the meantime.
      return entries.withLock { entries in
        guard entries[identity] != nil else { return closeDescriptor(number) }
        entries[identity]?.kept.append(number)
        return 0
      }
    }
  #endif
}

#if !os(Windows)
  // Where the C library's name is that of a method.
  private func closeDescriptor(_ number: Int32) -> Int32 { close(number) }
#endif

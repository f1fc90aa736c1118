#if !os(Windows)
  import Foundation

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Android)
    import Android
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// The file system.
  package struct SystemFiles: FileOperations {
    package init() {}

    package func resolved(_ path: String) -> String {
      guard let found = realpath(path, nil) else { return path }
      defer { free(found) }
      return String(cString: found)
    }

    package func stamp(_ path: String) throws(FileProblem) -> FileStamp? {
      var status = stat()
      if stat(path, &status) == 0 { return FileStamp(status) }
      let problem = FileProblem.last
      if case .missing = problem.kind { return nil }
      throw problem
    }

    package func read<Content: FileContent>(
      _ path: String, limit: Int, followingLinks: Bool
    ) throws(FileProblem) -> (bytes: Content, stamp: FileStamp) {
      let file = try Descriptor.reading(path, followingLinks: followingLinks)
      defer { try? file.close() }
      let stamp = try file.stamp()
      guard stamp.size <= limit else { throw FileProblem(.tooLarge, "it is larger than \(limit) bytes") }
      return (try file.readAll(Int(stamp.size), limit: limit), stamp)
    }

    package func read(
      _ path: String, inPiecesOf size: Int, followingLinks: Bool,
      _ body: (UnsafeRawBufferPointer) throws(FileProblem) -> Bool
    ) throws(FileProblem) {
      let file = try Descriptor.reading(path, followingLinks: followingLinks)
      defer { try? file.close() }
      let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, size), alignment: 16)
      defer { piece.deallocate() }
      while true {
        let count = try file.read(piece)
        guard count > 0, try body(UnsafeRawBufferPointer(rebasing: piece[..<count])) else { return }
      }
    }

    package func mayWrite(to path: String) -> Bool {
      guard access(path, W_OK) == 0 else { return false }
      return (try? stamp(path)).flatMap { $0 }.map { $0.permissions & 0o222 != 0 } ?? true
    }

    package func create(_ path: String, permissions: UInt32) throws(FileProblem) -> any OpenFile {
      let file = try Descriptor(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600)
      // A document keeps the permissions that its owner set.
      if permissions != 0o600 { _ = fchmod(file.number, mode_t(truncatingIfNeeded: permissions)) }
      return file
    }

    package func rename(_ path: String, to other: String) throws(FileProblem) {
      guard systemRename(path, other) == 0 else { throw .last }
    }

    package func rename(_ path: String, toUnused other: String) throws(FileProblem) {
      if link(path, other) == 0 { return try remove(path) }
      let code = errno
      let problem = FileProblem.last
      // Some file systems have no links; there, a race between the check and the renaming is possible.
      guard code == EPERM || code == ENOTSUP || code == ENOSYS, try stamp(other) == nil else { throw problem }
      try rename(path, to: other)
    }

    package func syncFolder(_ path: String) throws(FileProblem) {
      let folder = try Descriptor(path, O_RDONLY)
      defer { try? folder.close() }
      // Some file systems do not support syncing a folder and report that. Nothing more can be done there.
      if fsync(folder.number) != 0, errno != EINVAL, errno != ENOTSUP { throw .last }
    }

    package func remove(_ path: String) throws(FileProblem) {
      guard unlink(path) == 0 || errno == ENOENT else { throw .last }
    }

    package func lock(_ path: String) throws(FileProblem) -> any OpenFile {
      while true {
        let file = try Descriptor(path, O_CREAT | O_RDWR | O_NOFOLLOW, 0o600, isLock: true)
        if flock(file.number, LOCK_EX | LOCK_NB) != 0 {
          let problem = errno == EWOULDBLOCK ? FileProblem(.busy, "another process holds it") : FileProblem.last
          try? file.close()
          throw problem
        }
        // The previous owner may have removed the file meanwhile. The lock would then exclude no other process.
        if try stamp(path)?.isSameFile(as: file.stamp()) == true { return file }
        try? file.close()
      }
    }

    package func share(_ path: String) throws(FileProblem) -> any OpenFile {
      let file = try Descriptor(path, O_CREAT | O_RDWR | O_NOFOLLOW, 0o600, isLock: true)
      try file.hold(alone: false)
      return file
    }

    package func isFolder(_ path: String) throws(FileProblem) -> Bool {
      var status = stat()
      guard lstat(path, &status) == 0 else {
        // Asked before each save. The message of a problem costs more than the call.
        if errno == ENOENT { return false }
        throw .last
      }
      guard status.st_mode & S_IFMT == S_IFDIR else { throw FileProblem(.other, "\(path) is no folder") }
      return true
    }

    package func makeFolder(_ path: String) throws(FileProblem) {
      guard mkdir(path, 0o700) == 0 else { throw .last }
    }

    package func names(in folder: String) throws(FileProblem) -> [String] {
      do {
        return try FileManager.default.contentsOfDirectory(atPath: folder)
      } catch {
        throw FileProblem(.other, "the folder cannot be read")
      }
    }
  }

  extension FileOperations {
    /// Removes a folder if it is empty.
    func removeEmptyFolder(_ path: String) { _ = rmdir(path) }
  }

  /// A file descriptor, closed on deinitialization at the latest.
  private final class Descriptor: OpenFile {
    let number: Int32
    /// Whether it is closed. The store's own lock serializes the calls that close it.
    private let isClosed = Flag()
    /// Whether it is a lock file.
    private let isLock: Bool

    init(
      _ path: String, _ flags: Int32, _ mode: mode_t = 0, isLock: Bool = false
    ) throws(FileProblem) {
      self.isLock = isLock
      var number: Int32
      repeat { number = open(path, flags | O_CLOEXEC, mode) } while number < 0 && errno == EINTR
      guard number >= 0 else { throw .last }
      self.number = number
    }

    deinit { try? close() }

    /// - Parameter number: a descriptor of a regular file that is open for reading.
    private init(_ number: Int32) {
      self.number = number
      isLock = false
    }

    /// The file as ``init(reading:followingLinks:)`` opens it, with a descriptor that was kept if there is one.
    static func reading(_ path: String, followingLinks: Bool) throws(FileProblem) -> Descriptor {
      if followingLinks, let kept = LockedFiles.take(path) {
        let file = Descriptor(kept)
        guard lseek(kept, 0, SEEK_SET) == 0 else { throw .last }
        return file
      }
      return try Descriptor(reading: path, followingLinks: followingLinks)
    }

    /// Opens a regular file for reading. Any other kind of file is refused, and opening a pipe does not block.
    private convenience init(reading path: String, followingLinks: Bool) throws(FileProblem) {
      do throws(FileProblem) {
        try self.init(path, O_RDONLY | O_NONBLOCK | (followingLinks ? 0 : O_NOFOLLOW))
      } catch {
        // A socket cannot be opened at all.
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, !followingLinks {
          throw FileProblem(.other, "it is a symbolic link")
        }
        if stat(path, &status) == 0, let kind = Self.kind(status.st_mode) { throw FileProblem(.irregular, kind) }
        throw error
      }
      var status = stat()
      guard fstat(number, &status) == 0 else { throw .last }
      if let kind = Self.kind(status.st_mode) { throw FileProblem(.irregular, kind) }
    }

    /// A description of a file that is not a regular file; nil for a regular one.
    private static func kind(_ mode: mode_t) -> String? {
      switch mode & S_IFMT {
      case S_IFREG: nil
      case S_IFDIR: "it is a folder"
      case S_IFIFO: "it is a named pipe"
      case S_IFSOCK: "it is a socket"
      case S_IFCHR, S_IFBLK: "it is a device"
      default: "it is no regular file"
      }
    }

    /// Fills a buffer as far as possible, and returns the number of bytes; 0 at the end of the file.
    func read(_ buffer: UnsafeMutableRawBufferPointer) throws(FileProblem) -> Int {
      var filled = 0
      while filled < buffer.count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
        let count = systemRead(number, rest)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw .last }
        if count == 0 { break }
        filled += count
      }
      return filled
    }

    func stamp() throws(FileProblem) -> FileStamp {
      var status = stat()
      guard fstat(number, &status) == 0 else { throw .last }
      return FileStamp(status)
    }

    func readAll<Content: FileContent>(_ expected: Int, limit: Int) throws(FileProblem) -> Content {
      var bytes = Content()
      // One byte more than expected, so that the first turn usually reaches the end.
      var room = expected + 1
      while true {
        let chunk = try Content(upTo: room, fill: read)
        if bytes.isEmpty { bytes = chunk } else { bytes += chunk }
        guard bytes.count <= limit else { throw FileProblem(.tooLarge, "it is larger than \(limit) bytes") }
        if chunk.count < room { return bytes }
        room = 65_536
      }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(FileProblem) {
      var rest = bytes
      while !rest.isEmpty {
        let count = systemWrite(number, rest)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw count == 0 ? FileProblem(.full, "nothing more can be written") : .last }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      }
    }

    func sync() throws(FileProblem) {
      #if canImport(Darwin)
        // On Darwin, fsync leaves the data in the drive's cache.
        if fcntl(number, F_FULLFSYNC) == 0 { return }
      #endif
      guard fsync(number) == 0 else { throw .last }
    }

    func hold(alone: Bool) throws(FileProblem) {
      guard flock(number, (alone ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 else { return }
      throw errno == EWOULDBLOCK ? FileProblem(.busy, "another process holds it") : FileProblem.last
    }

    func close() throws(FileProblem) {
      guard isClosed.set() else { return }
      // A process that is being spawned briefly has a copy of every descriptor, which would keep the lock.
      if isLock { _ = flock(number, LOCK_UN) }
      // The descriptor is closed even if the call fails.
      guard LockedFiles.close(number) == 0 || errno == EINTR else { throw .last }
    }
  }

  // Where the C library's names are those of methods. Not every Foundation exports the whole library.

  private func systemRename(_ path: String, _ other: String) -> Int32 { rename(path, other) }

  private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
  }

  private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
  }

  extension FileStamp {
    init(_ status: stat) {
      #if canImport(Darwin)
        let modified = status.st_mtimespec
      #else
        let modified = status.st_mtim
      #endif
      self.init(
        device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(truncatingIfNeeded: status.st_ino),
        size: Int64(status.st_size), modifiedSeconds: Int64(modified.tv_sec),
        modifiedNanoseconds: Int64(modified.tv_nsec), permissions: UInt32(status.st_mode) & 0o777)
    }
  }

  extension FileProblem {
    /// The error of the last system call.
    fileprivate static var last: FileProblem {
      let code = errno
      let kind: Kind =
        switch code {
        case ENOENT: .missing
        case EEXIST: .exists
        case ENOSPC, EDQUOT, EFBIG: .full
        case EROFS, EACCES, EPERM: .readOnly
        default: .other
        }
      return FileProblem(kind, String(cString: strerror(code)))
    }
  }
#endif

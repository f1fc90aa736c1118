#if os(Windows)
  import Foundation
  import WinSDK

  /// The file system. The share mode of the lock file, which allows no second open, excludes other writers.
  package struct SystemFiles: FileOperations {
    package init() {}

    package func resolved(_ path: String) -> String { URL(filePath: path).resolvingSymlinksInPath().path }

    package func stamp(_ path: String) throws(FileProblem) -> FileStamp? {
      do throws(FileProblem) {
        let file = try WindowsFile(path, GENERIC_READ, OPEN_EXISTING, WindowsFile.shared)
        defer { try? file.close() }
        return try file.stamp()
      } catch {
        if case .missing = error.kind { return nil }
        throw error
      }
    }

    package func read<Content: FileContent>(
      _ path: String, limit: Int, followingLinks: Bool
    ) throws(FileProblem) -> (bytes: Content, stamp: FileStamp) {
      if !followingLinks { try WindowsFile.refuseLink(path) }
      let file = try WindowsFile(path, GENERIC_READ, OPEN_EXISTING, WindowsFile.shared)
      defer { try? file.close() }
      let stamp = try file.stamp()
      guard stamp.size <= limit else { throw FileProblem(.tooLarge, "it is larger than \(limit) bytes") }
      return (try file.readAll(Int(stamp.size)), stamp)
    }

    package func read(
      _ path: String, inPiecesOf size: Int, followingLinks: Bool,
      _ body: (UnsafeRawBufferPointer) throws(FileProblem) -> Bool
    ) throws(FileProblem) {
      if !followingLinks { try WindowsFile.refuseLink(path) }
      let file = try WindowsFile(path, GENERIC_READ, OPEN_EXISTING, WindowsFile.shared)
      defer { try? file.close() }
      let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, size), alignment: 16)
      defer { piece.deallocate() }
      while true {
        let count = try file.read(piece)
        guard count > 0, try body(UnsafeRawBufferPointer(rebasing: piece[..<count])) else { return }
      }
    }

    package func mayWrite(to path: String) -> Bool {
      let attributes = path.withCString(encodedAs: UTF16.self) { GetFileAttributesW($0) }
      return attributes == INVALID_FILE_ATTRIBUTES || attributes & DWORD(FILE_ATTRIBUTE_READONLY) == 0
    }

    package func create(_ path: String, permissions: UInt32) throws(FileProblem) -> any OpenFile {
      try WindowsFile(path, DWORD(GENERIC_READ) | DWORD(GENERIC_WRITE), CREATE_NEW, 0)
    }

    package func rename(_ path: String, to other: String) throws(FileProblem) {
      try rename(path, to: other, DWORD(MOVEFILE_REPLACE_EXISTING) | DWORD(MOVEFILE_WRITE_THROUGH))
    }

    package func rename(_ path: String, toUnused other: String) throws(FileProblem) {
      try rename(path, to: other, DWORD(MOVEFILE_WRITE_THROUGH))
    }

    private func rename(_ path: String, to other: String, _ flags: DWORD) throws(FileProblem) {
      let isDone = path.withCString(encodedAs: UTF16.self) { from in
        other.withCString(encodedAs: UTF16.self) { to in MoveFileExW(from, to, flags) }
      }
      guard isDone else { throw .last }
    }

    /// Does nothing, because the renaming was already written through.
    package func syncFolder(_ path: String) throws(FileProblem) {}

    package func remove(_ path: String) throws(FileProblem) {
      let isDone = path.withCString(encodedAs: UTF16.self) { DeleteFileW($0) }
      guard isDone || GetLastError() == DWORD(ERROR_FILE_NOT_FOUND) else { throw .last }
    }

    package func lock(_ path: String) throws(FileProblem) -> any OpenFile {
      try WindowsFile(path, DWORD(GENERIC_READ) | DWORD(GENERIC_WRITE), OPEN_ALWAYS, 0)
    }

    package func share(_ path: String) throws(FileProblem) -> any OpenFile {
      let file = try WindowsFile(
        path, DWORD(GENERIC_READ) | DWORD(GENERIC_WRITE), OPEN_ALWAYS, WindowsFile.shared)
      try file.hold(alone: false)
      return file
    }

    package func isFolder(_ path: String) throws(FileProblem) -> Bool {
      let attributes = path.withCString(encodedAs: UTF16.self) { GetFileAttributesW($0) }
      guard attributes != INVALID_FILE_ATTRIBUTES else {
        let problem = FileProblem.last
        if case .missing = problem.kind { return false }
        throw problem
      }
      try WindowsFile.refuseLink(path)
      guard attributes & DWORD(FILE_ATTRIBUTE_DIRECTORY) != 0 else {
        throw FileProblem(.other, "\(path) is no folder")
      }
      return true
    }

    /// The folder inherits the permissions of its parent.
    package func makeFolder(_ path: String) throws(FileProblem) {
      guard path.withCString(encodedAs: UTF16.self, { CreateDirectoryW($0, nil) }) else { throw .last }
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
    func removeEmptyFolder(_ path: String) { _ = path.withCString(encodedAs: UTF16.self) { RemoveDirectoryW($0) } }
  }

  /// A file handle, closed on deinitialization at the latest.
  ///
  /// Safe because the handle never changes, and the system serializes operations on it.
  private final class WindowsFile: OpenFile, @unchecked Sendable {
    static let shared = DWORD(FILE_SHARE_READ) | DWORD(FILE_SHARE_WRITE) | DWORD(FILE_SHARE_DELETE)

    private let handle: HANDLE
    private let isClosed = Flag()

    init(_ path: String, _ access: some BinaryInteger, _ disposition: some BinaryInteger, _ share: DWORD)
      throws(FileProblem)
    {
      let opened = path.withCString(encodedAs: UTF16.self) {
        CreateFileW(
          $0, DWORD(truncatingIfNeeded: access), share, nil, DWORD(truncatingIfNeeded: disposition),
          DWORD(FILE_ATTRIBUTE_NORMAL), nil)
      }
      guard let opened, opened != INVALID_HANDLE_VALUE else { throw .last }
      handle = opened
    }

    deinit { try? close() }

    func stamp() throws(FileProblem) -> FileStamp {
      var information = BY_HANDLE_FILE_INFORMATION()
      guard GetFileInformationByHandle(handle, &information) else { throw .last }
      func joined(_ high: DWORD, _ low: DWORD) -> UInt64 { UInt64(high) << 32 | UInt64(low) }
      // In units of 100 nanoseconds since 1601.
      let modified = Int64(
        clamping: joined(information.ftLastWriteTime.dwHighDateTime, information.ftLastWriteTime.dwLowDateTime))
      return FileStamp(
        device: UInt64(information.dwVolumeSerialNumber),
        inode: joined(information.nFileIndexHigh, information.nFileIndexLow),
        size: Int64(clamping: joined(information.nFileSizeHigh, information.nFileSizeLow)),
        modifiedSeconds: modified / 10_000_000 - 11_644_473_600,
        modifiedNanoseconds: modified % 10_000_000 * 100, permissions: 0o600)
    }

    func readAll<Content: FileContent>(_ expected: Int) throws(FileProblem) -> Content {
      var bytes = Content()
      bytes.reserveCapacity(expected)
      var chunk = [UInt8](repeating: 0, count: 1 << 20)
      while true {
        var count: DWORD = 0
        guard ReadFile(handle, &chunk, DWORD(chunk.count), &count, nil) else { throw .last }
        if count == 0 { return bytes }
        bytes += chunk.prefix(Int(count))
      }
    }

    func read(_ buffer: UnsafeMutableRawBufferPointer) throws(FileProblem) -> Int {
      var count: DWORD = 0
      guard ReadFile(handle, buffer.baseAddress, DWORD(min(buffer.count, 1 << 24)), &count, nil) else { throw .last }
      return Int(count)
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(FileProblem) {
      var rest = bytes
      while !rest.isEmpty {
        var count: DWORD = 0
        let part = DWORD(min(rest.count, 1 << 24))
        guard WriteFile(handle, rest.baseAddress, part, &count, nil), count > 0 else { throw .last }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(Int(count)))
      }
    }

    func sync() throws(FileProblem) {
      guard FlushFileBuffers(handle) else { throw .last }
    }

    static func refuseLink(_ path: String) throws(FileProblem) {
      let attributes = path.withCString(encodedAs: UTF16.self) { GetFileAttributesW($0) }
      guard attributes == INVALID_FILE_ATTRIBUTES || attributes & DWORD(FILE_ATTRIBUTE_REPARSE_POINT) == 0 else {
        throw FileProblem(.other, "\(path) is a link")
      }
    }

    func hold(alone: Bool) throws(FileProblem) {
      var place = OVERLAPPED()
      // Releases any previous lock first. Without one, the call has no effect.
      _ = UnlockFileEx(handle, 0, 1, 0, &place)
      let flags = DWORD(LOCKFILE_FAIL_IMMEDIATELY) | (alone ? DWORD(LOCKFILE_EXCLUSIVE_LOCK) : 0)
      guard LockFileEx(handle, flags, 0, 1, 0, &place) else { throw .last }
    }

    func close() throws(FileProblem) {
      guard isClosed.set() else { return }
      guard CloseHandle(handle) else { throw .last }
    }
  }

  extension FileProblem {
    /// The error of the last system call.
    fileprivate static var last: FileProblem {
      let code = GetLastError()
      let kind: Kind =
        switch Int32(truncatingIfNeeded: code) {
        case ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND: .missing
        case ERROR_FILE_EXISTS, ERROR_ALREADY_EXISTS: .exists
        case ERROR_DISK_FULL, ERROR_HANDLE_DISK_FULL: .full
        case ERROR_ACCESS_DENIED, ERROR_WRITE_PROTECT: .readOnly
        case ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION: .busy
        default: .other
        }
      return FileProblem(kind, "the system's error \(code)")
    }
  }
#endif

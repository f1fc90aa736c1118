import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Bionic)
  import Bionic
#elseif canImport(Darwin)
  import Darwin
#elseif os(Windows)
  import ucrt
#endif

/// The few things asked of the file system beside SQLite.
enum PlatformFiles {
  enum Creation {
    case created, exists
    case failed(String)
  }

  /// Makes an empty file that only its owner may read and write.
  static func create(_ path: String) -> Creation {
    #if os(Windows)
      if FileManager.default.fileExists(atPath: path) { return .exists }
      return FileManager.default.createFile(atPath: path, contents: nil) ? .created : .failed("it cannot be created")
    #else
      let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
      if descriptor >= 0 {
        close(descriptor)
        return .created
      }
      return errno == EEXIST ? .exists : .failed(String(cString: strerror(errno)))
    #endif
  }

  /// The first bytes of a file, and whether there are more; an error as text when it cannot be read.
  static func start(of path: String, _ count: Int) -> Result<Data, FileProblem> {
    guard let handle = FileHandle(forReadingAtPath: path) else { return .failure(FileProblem(reason(path))) }
    defer { try? handle.close() }
    do {
      return .success(try handle.read(upToCount: count) ?? Data())
    } catch {
      return .failure(FileProblem(reason(path)))
    }
  }

  private static func reason(_ path: String) -> String {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return "there is no such file" }
    return isFolder.boolValue ? "it is a folder" : "it may not be read"
  }

  static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}

/// Why the file system refused.
struct FileProblem: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

// Platform-specific calls of the C library, so that the tool does not need Foundation.

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(CRT)
  import CRT
#endif

/// Files and streams. Paths are in UTF-8.
enum Platform {
  /// The content of a file; nil if it cannot be read.
  static func read(_ path: String) -> [UInt8]? {
    guard let file = open(path, "rb") else { return nil }
    defer { fclose(file) }
    var content: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      if count == 0 { break }
      content += buffer[..<count]
    }
    return ferror(file) == 0 ? content : nil
  }

  /// Replaces the content of a file.
  ///
  /// - Returns: whether all of the text was written.
  static func write(_ text: String, to path: String) -> Bool {
    guard let file = open(path, "wb") else { return false }
    let isWritten = put(text, file)
    return fclose(file) == 0 && isWritten
  }

  /// Removes a file, if it exists.
  static func remove(_ path: String) {
    #if os(Windows)
      _ = path.withCString(encodedAs: UTF16.self) { _wremove($0) }
    #else
      _ = unlink(path)
    #endif
  }

  static func print(_ text: String) { print(text, descriptor: 1) }
  static func complain(_ text: String) { print(text, descriptor: 2) }

  static func leave(_ status: Int32) -> Never { exit(status) }

  private static func print(_ text: String, descriptor: Int32) {
    #if os(Windows)
      let stream = _fdopen(descriptor, "wb")
    #else
      let stream = fdopen(descriptor, "w")
    #endif
    guard let stream else { return }
    _ = put(text, stream)
    fflush(stream)
  }

  #if canImport(Musl) || canImport(Android)
    typealias Stream = OpaquePointer
  #else
    typealias Stream = UnsafeMutablePointer<FILE>
  #endif

  private static func open(_ path: String, _ mode: String) -> Stream? {
    #if os(Windows)
      var file: Stream?
      let status = path.withCString(encodedAs: UTF16.self) { path in
        mode.withCString(encodedAs: UTF16.self) { mode in _wfopen_s(&file, path, mode) }
      }
      return status == 0 ? file : nil
    #else
      return fopen(path, mode)
    #endif
  }

  private static func put(_ text: String, _ stream: Stream) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      guard let start = bytes.baseAddress, !bytes.isEmpty else { return true }
      return fwrite(start, 1, bytes.count, stream) == bytes.count
    }
  }
}

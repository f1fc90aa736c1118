import Foundation
import TrellisModel
import TrellisStorage

/// The files of a folder by which replicas and a server exchange messages.
///
/// A question is the file `DIGEST.question`, and its answer `DIGEST.answer`. Each is written under a name that begins with a
/// dot, and then renamed. A folder may also be copied from computer to computer by something that does not know this, so a
/// file says how long it is and has the digest of its bytes: one that is not complete yet counts as not there.
struct ExchangeFolder: Sendable {
  /// A kind of file, which is the ending of its name.
  enum Kind: String, CaseIterable { case question, answer }

  /// The name of a question and of its answer.
  struct Name: Hashable, Sendable {
    let text: String

    fileprivate init(_ text: String) { self.text = text }

    /// A question that differs from a former one in the time of the clock only is the same one.
    init(of message: [UInt8]) {
      var bytes = message
      if case .push(var request) = try? SyncMessage(message) {
        request.now = 0
        request.clocks = ClockDifference()
        bytes = SyncMessage.push(request).bytes
      }
      text = String(ContentDigest(of: bytes).text.prefix(Self.length))
    }

    private static let length = 40

    /// - Returns: nil if no question or answer has the name.
    fileprivate init?(file: String, _ kind: Kind) {
      let parts = file.split(separator: ".", omittingEmptySubsequences: false)
      guard parts.count == 2, parts[1] == kind.rawValue, parts[0].utf8.count == Self.length,
        parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
      else { return nil }
      text = String(parts[0])
    }
  }

  let url: URL
  let files: any FileOperations

  init(_ url: URL, files: any FileOperations = SystemFiles()) {
    self.url = url
    self.files = files
  }

  /// The largest file that is read.
  static let mostBytes = 1 << 30
  private static let start: [UInt8] = Array("TRELLIS\u{1}".utf8)
  private static let digestLength = 64
  private static var headLength: Int { start.count + 8 + digestLength }

  private func path(_ name: Name, _ kind: Kind) -> String { url.appending(path: "\(name.text).\(kind.rawValue)").path }

  // MARK: Reading

  /// The names of all files of a kind.
  func names(_ kind: Kind) throws(SyncError) -> [Name] {
    let all: [String]
    do throws(FileProblem) { all = try files.names(in: url.path) } catch { throw .folder(error) }
    return all.compactMap { file in
      fetchFromCloud(file)
      return Name(file: file, kind)
    }.sorted { $0.text < $1.text }
  }

  /// The message in a file; nil if there is none, or not all of it.
  func message(_ name: Name, _ kind: Kind) throws(SyncError) -> [UInt8]? {
    fetchFromCloud(".\(name.text).\(kind.rawValue).icloud")
    let bytes: [UInt8]
    do throws(FileProblem) {
      (bytes, _) = try files.read(path(name, kind), limit: Self.mostBytes, followingLinks: false)
    } catch {
      switch error.kind {
      case .missing, .tooLarge, .irregular: return nil
      default: throw .folder(error)
      }
    }
    return Self.message(in: bytes)
  }

  /// Whether there is a file, complete or not.
  func has(_ name: Name, _ kind: Kind) -> Bool { (try? files.stamp(path(name, kind))) != nil }

  /// Whether a file was written before a moment of the file system.
  func isOlder(_ name: Name, _ kind: Kind, than date: Date) -> Bool {
    guard let stamp = try? files.stamp(path(name, kind)) else { return false }
    return Double(stamp.modifiedSeconds) < date.timeIntervalSince1970
  }

  // MARK: Writing

  /// Writes a message. What had the name is replaced.
  func write(_ message: [UInt8], _ name: Name, _ kind: Kind) throws(SyncError) {
    let temporary = url.appending(path: ".\(name.text).\(UUID().uuidString).\(Self.temporary)").path
    do throws(FileProblem) {
      do throws(FileProblem) {
        // Who may use the folder is decided by the folder.
        let file = try files.create(temporary, permissions: 0o644)
        do throws(FileProblem) {
          for part in [Self.head(of: message), message] {
            try part.withUnsafeBytes { bytes in
              Result { () throws(FileProblem) in try file.write(bytes) }
            }.get()
          }
          try file.sync()
        } catch {
          try? file.close()
          throw error
        }
        try file.close()
        try files.rename(temporary, to: path(name, kind))
      } catch {
        try? files.remove(temporary)
        throw error
      }
      try files.syncFolder(url.path)
    } catch {
      throw .folder(error)
    }
  }

  func remove(_ name: Name, _ kind: Kind) throws(SyncError) {
    do throws(FileProblem) { try files.remove(path(name, kind)) } catch {
      if case .missing = error.kind { return }
      throw .folder(error)
    }
  }

  /// Removes what was written before a date and is not asked for any more, such as after a crash.
  func removeLeftovers(before date: Date) throws(SyncError) {
    for kind in Kind.allCases {
      // What cannot be removed is of somebody else.
      for name in try names(kind) where isOlder(name, kind, than: date) { try? remove(name, kind) }
    }
    let all: [String]
    do throws(FileProblem) { all = try files.names(in: url.path) } catch { throw .folder(error) }
    for file in all where file.hasPrefix(".") && file.hasSuffix(".\(Self.temporary)") {
      let path = url.appending(path: file).path
      guard let stamp = try? files.stamp(path), Double(stamp.modifiedSeconds) < date.timeIntervalSince1970 else {
        continue
      }
      try? files.remove(path)
    }
  }

  private static let temporary = "part"

  // MARK: Bytes

  private static func head(of message: [UInt8]) -> [UInt8] {
    let count = UInt64(message.count)
    return start + (0..<8).map { UInt8(truncatingIfNeeded: count >> (8 * UInt64($0))) }
      + Array(ContentDigest(of: message).text.utf8)
  }

  private static func message(in bytes: [UInt8]) -> [UInt8]? {
    guard bytes.count >= headLength, bytes.starts(with: start) else { return nil }
    let message = Array(bytes[headLength...])
    return bytes.prefix(headLength).elementsEqual(head(of: message)) ? message : nil
  }

  /// Asks iCloud Drive for a file that it has and this device has not.
  private func fetchFromCloud(_ file: String) {
    #if canImport(Darwin)
      guard file.hasPrefix("."), file.hasSuffix(".icloud") else { return }
      let name = file.dropFirst().dropLast(".icloud".count)
      try? FileManager.default.startDownloadingUbiquitousItem(at: url.appending(path: String(name)))
    #endif
  }
}

extension SyncError {
  fileprivate static func folder(_ problem: FileProblem) -> SyncError {
    SyncError(
      .unreachable, "The folder of the exchange cannot be used: \(problem.reason).",
      remedy: "Check that it is there and may be written to.")
  }
}

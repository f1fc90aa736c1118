import Foundation
import TrellisModel

// Foundation exports the whole C library elsewhere.
#if canImport(Android)
  import Android
#endif

/// The streams of the process. What was asked for goes to the output, everything else to the errors.
enum Console {
  /// Writes to the output. After a failure, which ``Tool`` reports at the end, nothing more is written.
  static func print(_ text: String) { try? print(Array(text.utf8)) }

  /// Writes a piece of an output that has no meaning without the rest.
  ///
  /// - Throws: ``ToolFailure`` if the output cannot be written, or has no reader any more.
  static func print(_ bytes: [UInt8]) throws(ToolFailure) {
    let state = output.withLock { state in
      if state == .open { state = put(bytes) }
      return state
    }
    switch state {
    case .open: break
    case .closed: throw ToolFailure(.success, "")
    case .failed(let reason): throw unwritable(reason)
    }
  }

  static func complain(_ text: String) {
    let text = text.hidingPasswords
    if !text.isEmpty {
      try? FileHandle.standardError.write(contentsOf: Data((usesColors ? colored(text) : text).utf8))
    }
  }

  // MARK: Output

  private enum OutputState: Equatable {
    case open
    /// The reader has gone away, as `head` does. It wants no more text, so this is no failure.
    case closed
    case failed(String)
  }

  private static let output = Locked(OutputState.open)

  /// Whether what is printed still has a reader and a place.
  static var isOpen: Bool { output.withLock { $0 == .open } }

  /// The failure of the output; nil if there was none.
  static var failure: ToolFailure? {
    if case .failed(let reason) = output.withLock({ $0 }) { unwritable(reason) } else { nil }
  }

  private static func unwritable(_ reason: String) -> ToolFailure {
    ToolFailure(
      .unwritable, "error: The output cannot be written: \(reason). Make room, or choose another place for it.")
  }

  private static func put(_ bytes: [UInt8]) -> OutputState {
    #if os(Windows)
      do { try FileHandle.standardOutput.write(contentsOf: Data(bytes)) } catch {
        return .failed(error.localizedDescription)
      }
      return .open
    #else
      return bytes.withUnsafeBytes { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
          let count = write(1, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
          if count >= 0 {
            rest = rest.dropFirst(count)
            continue
          }
          switch errno {
          case EINTR: continue
          case EPIPE: return .closed
          case EAGAIN:
            // The output was made to return at once, for example by another process with the same terminal.
            var place = pollfd(fd: 1, events: Int16(POLLOUT), revents: 0)
            _ = poll(&place, 1, -1)
          case let code: return .failed(String(cString: strerror(code)))
          }
        }
        return .open
      }
    #endif
  }

  // MARK: Terminals

  /// Colors are for people: a terminal that can show them, unless `NO_COLOR` is set (https://no-color.org).
  private static let usesColors: Bool = {
    let environment = ProcessInfo.processInfo.environment
    return isTerminal(.standardError) && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
  }()

  /// The text with its words of severity in color, where they begin a line or follow a place in a file.
  static func colored(_ text: String) -> String {
    var lines: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      var line = String(line)
      for (word, color) in [("error:", "31"), ("warning:", "33")] {
        guard let range = line.range(of: word),
          range.lowerBound == line.startIndex || line[..<range.lowerBound].hasSuffix(": ")
        else { continue }
        line.replaceSubrange(range, with: "\u{1B}[1;\(color)m\(word)\u{1B}[0m")
        break
      }
      lines.append(line)
    }
    return lines.joined(separator: "\n")
  }

  /// The number of cells of a line of the output: those of the terminal, or `COLUMNS` of the environment.
  static let width: Int = {
    let given = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }
    return max(20, terminalWidth ?? given ?? 110)
  }()

  private static var terminalWidth: Int? {
    #if os(Windows)
      return nil
    #else
      var size = winsize()
      guard isTerminal(.standardOutput), ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
      return Int(size.ws_col)
    #endif
  }

  /// Whether a stream is shown to a person.
  static func isTerminal(_ stream: FileHandle) -> Bool {
    #if os(Windows)
      false
    #else
      isatty(stream.fileDescriptor) == 1
    #endif
  }
}

import Foundation

/// The streams of the process. What was asked for goes to the output, everything else to the errors.
enum Console {
  static func print(_ text: String) { write(text, to: .standardOutput) }
  static func complain(_ text: String) {
    let text = text.hidingPasswords
    write(usesColors ? colored(text) : text, to: .standardError)
  }

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

  /// A reader that has gone away wants no more text.
  private static func write(_ text: String, to stream: FileHandle) {
    if !text.isEmpty { try? stream.write(contentsOf: Data(text.utf8)) }
  }
}

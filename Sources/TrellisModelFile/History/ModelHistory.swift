import TrellisModel

/// The released versions of a model: `0001.json`, `0002.json` and so on in the folder `Diary.history` beside
/// `Diary.model.json`.
///
/// A version is never changed once it is released, because stores with its model exist. So every file that was edited,
/// damaged or removed is an error.
package struct ModelHistory: Sendable {
  /// A file of the folder. The content is nil if it cannot be read.
  package struct File: Sendable {
    package let path: String
    package let bytes: [UInt8]?

    package init(path: String, bytes: [UInt8]?) {
      self.path = path
      self.bytes = bytes
    }
  }

  /// The versions without a fault, in the order of their numbers. They are all versions if there are no diagnostics.
  package let versions: [ReleasedModel]
  /// What is wrong with the files, in the order of their numbers.
  package let diagnostics: [Diagnostic]

  /// Reads the files of a folder. Hidden files and those that do not end in `.json` are ignored.
  ///
  /// No file can cause a trap or a hang: files that exceed ``Limits`` are refused with a message.
  ///
  /// - Complexity: linear in the sizes of the files.
  package init(_ files: [File]) {
    var versions: [ReleasedModel] = []
    var diagnostics: [Diagnostic] = []
    var numbered: [(number: Int, file: File)] = []
    for file in files.sorted(by: { $0.path < $1.path }) where Self.isVersion(file.path) {
      if let number = Self.number(ofFile: file.path) {
        numbered.append((number, file))
      } else {
        diagnostics.append(
          .edited(
            file.path,
            "The file is none of the history's, whose names are \(Self.fileName(of: 1)), "
              + "\(Self.fileName(of: 2)) and so on; move it elsewhere."))
      }
    }
    numbered.sort { $0.number < $1.number }
    var last = 0
    for (number, file) in numbered {
      if number != last + 1 { diagnostics.append(.gap(before: number, after: last, file.path)) }
      last = number
      do throws(Refusal) {
        versions.append(try ReleasedModelReader(file, number: number).read())
      } catch {
        diagnostics.append(error.diagnostic)
      }
    }
    self.versions = versions
    self.diagnostics = diagnostics
  }

  /// Reads a single file of a history, whatever its name is.
  ///
  /// - Returns: the version, or what is wrong with it; nil for a file that is none of a history, such as a model file.
  package static func version(in file: File) -> Result<ReleasedModel, Refusal>? {
    guard let bytes = file.bytes, ReleasedModelReader.isMarked(bytes) else { return nil }
    return Result { () throws(Refusal) in try ReleasedModelReader(file, number: nil).read() }
  }

  /// The reason why a file is no version.
  package struct Refusal: Error {
    package let diagnostic: Diagnostic
  }

  // MARK: Names

  /// The folder for the history of a model; nil if the file's name does not end in `.model.json`.
  package static func folder(besideModel path: String) -> String? {
    let ending = ".model.json"
    guard path.hasSuffix(ending), lastComponent(of: path).utf8.count > ending.utf8.count else { return nil }
    return path.dropLast(ending.count) + ".history"
  }

  package static func fileName(of number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits + ".json"
  }

  private static func number(ofFile path: String) -> Int? {
    let name = lastComponent(of: path)
    guard let number = Int(name.dropLast(".json".count)), number > 0 else { return nil }
    return fileName(of: number) == name ? number : nil
  }

  private static func isVersion(_ path: String) -> Bool {
    path.hasSuffix(".json") && !lastComponent(of: path).hasPrefix(".")
  }

  private static func lastComponent(of path: String) -> Substring {
    path.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? ""
  }
}

extension Diagnostic {
  static func edited(_ path: String, _ message: String, at position: Position? = nil) -> Diagnostic {
    Diagnostic(
      .historyEdited, message.asMessage, path: path, position: position ?? Position(line: 1, column: 1))
  }

  fileprivate static func gap(before number: Int, after last: Int, _ path: String) -> Diagnostic {
    guard number > last else { return edited(path, "There are two files for version \(number); keep one of them.") }
    let missing = number == last + 2 ? "Version \(last + 1) is" : "Versions \(last + 1) to \(number - 1) are"
    return edited(path, "\(missing) missing before this one. Restore what was released.")
  }
}

import Foundation
import Testing
import TrellisGenerator
import TrellisModel
import TrellisModelFile

@Suite("Names that objects have") struct ReservedNameTests {
  @Test("every public member of an object is a name that a model cannot use")
  func members() throws {
    let found = try publicMembers()
    // Those that anybody sees who looks at the sources.
    #expect(found.isSuperset(of: ["objectID", "isDeleted", "hasChanges", "rollback", "validate", "committedMembers"]))
    let missing = found.subtracting(ReservedNames.members)
    #expect(missing.isEmpty, "\(missing.sorted()) are to be reserved")
  }

  /// The public members in the class `ManagedObject`, in what extends it, and in what each class of objects conforms to.
  private func publicMembers() throws -> Set<String> {
    let folder = Folders.root.appending(path: "Sources/TrellisRuntime")
    var found: Set<String> = []
    for case let file as URL in FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) ?? .init()
    where file.pathExtension == "swift" {
      var isInside = false
      for line in try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n") {
        if !line.hasPrefix(" ") && line.hasSuffix("{") { isInside = opensObject(line) }
        if line.hasPrefix("}") { isInside = false }
        if isInside && line.hasPrefix("  "), !line.hasPrefix("   "), let name = publicName(line) { found.insert(name) }
      }
    }
    return found
  }

  private func opensObject(_ line: String) -> Bool {
    let heads = ["ManagedObject", "IdentifiedObject"].flatMap { name in
      ["open class \(name)", "extension \(name)", "public protocol \(name)"]
    }
    return heads.contains { head in
      guard let range = line.range(of: head) else { return false }
      return range.upperBound == line.endIndex || !(line[range.upperBound].isLetter)
    }
  }

  /// The name that a line declares in public, without those that only generated code sees.
  private func publicName(_ line: String) -> String? {
    guard !line.contains("@_spi(") else { return nil }
    let words = line.split { " (:<{".contains($0) }.map(String.init)
    guard words.contains("public") || words.contains("open"),
      let place = words.firstIndex(where: { ["var", "let", "func"].contains($0) }), place + 1 < words.count
    else { return nil }
    let name = words[place + 1]
    return name.first?.isLetter == true ? name : nil
  }
}

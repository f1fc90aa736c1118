import Foundation
import Testing
import TrellisModelFile

@testable import TrellisCoreData

@Suite("The versions of a model") struct VersionTests {
  private static func entity(_ name: String, _ rest: String, identifier: String? = nil) -> String {
    let identity = identifier.map { " elementID=\"\($0)\"" } ?? ""
    return "<entity name=\"\(name)\"\(identity) syncable=\"YES\">\(rest)</entity>"
  }

  private static func package(_ scratch: Scratch, current: String?) throws -> URL {
    let folder = scratch.file("Diary.xcdatamodeld")
    let versions = [
      "Diary": entity("Entry", "<attribute name=\"title\" attributeType=\"String\"/>"),
      "Diary 2": entity("Entry", "<attribute name=\"caption\" attributeType=\"String\" elementID=\"title\"/>"),
      "Diary 10": entity(
        "Note", "<attribute name=\"headline\" attributeType=\"String\" elementID=\"title\"/>", identifier: "Entry"),
    ]
    for (name, contents) in versions {
      let version = folder.appending(path: "\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      try Data("<model>\(contents)</model>".utf8).write(to: version.appending(path: "contents"))
    }
    if let current {
      let list = try PropertyListSerialization.data(
        fromPropertyList: ["_XCCurrentVersionName": current], format: .xml, options: 0)
      try list.write(to: folder.appending(path: ".xccurrentversion"))
    }
    return folder
  }

  @Test("the current version is the model, and names of all earlier versions are former names") func current() throws {
    let scratch = try Scratch()
    let url = try Self.package(scratch, current: "Diary 10.xcdatamodel")
    let result = try CoreDataModelImport(contentsOf: url)
    let entity = try #require(result.description.entities.first)
    #expect(entity.name == "Note")
    #expect(entity.renamedFrom == ["Entry"])
    #expect(entity.attributes.first?.renamedFrom == ["caption", "title"])
    #expect(result.files.count == 1)
  }

  @Test("all versions become released ones, which the reader of histories accepts") func history() throws {
    let scratch = try Scratch()
    let url = try Self.package(scratch, current: "Diary 10.xcdatamodel")
    let result = try CoreDataModelImport(contentsOf: url, allVersions: true, day: "2026-03-02")
    #expect(
      result.files.map(\.name) == [
        "Diary.model.json", "Diary.history/0001.json", "Diary.history/0002.json", "Diary.history/0003.json",
      ])
    let files = result.files.dropFirst().map { ModelHistory.File(path: $0.name, bytes: Array($0.text.utf8)) }
    let history = ModelHistory(Array(files))
    #expect(history.diagnostics == [])
    #expect(history.versions.count == 3)
    #expect(history.versions.last?.canonicalText == result.description.canonicalJSON())
  }

  @Test("a package that does not say its current version is refused; with one version it need not") func unclear()
    throws
  {
    let scratch = try Scratch()
    let url = try Self.package(scratch, current: nil)
    #expect(throws: CoreDataError.self) { try CoreDataModelImport(contentsOf: url) }
    let other = try Scratch()
    let missing = try Self.package(other, current: "Gone.xcdatamodel")
    #expect(throws: CoreDataError.self) { try CoreDataModelImport(contentsOf: missing) }
    let one = try Scratch()
    let folder = one.file("One.xcdatamodeld/One.xcdatamodel")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("<model/>".utf8).write(to: folder.appending(path: "contents"))
    #expect(try CoreDataModelImport(contentsOf: one.file("One.xcdatamodeld")).description.name == "One")
  }

  @Test(
    "what is no model is refused with its reason",
    arguments: [
      ("<data/>", "outermost element"), ("no XML", "is no XML"), ("<model><entity></model>", "is no XML"),
      ("<!DOCTYPE x><model/>", "document type"),
    ])
  func noModel(_ contents: String, _ reason: String) throws {
    let scratch = try Scratch()
    let url = try scratch.model("Bad", contents)
    let error = #expect(throws: CoreDataError.self) { try CoreDataModelImport(contentsOf: url) }
    #expect(error?.code == .noModel)
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
  }

  @Test("contradictions are resolved, each with a note") func contradictions() throws {
    let scratch = try Scratch()
    let url = try scratch.model(
      "Odd",
      """
      <model surprise="1">
        <entity name="A" parentEntity="B" future="2"><attribute name="x" attributeType="String"/><attribute name="x" attributeType="Date"/>
          <relationship name="b" maxCount="1" destinationEntity="B" inverseName="nothing" inverseEntity="B"/>
          <relationship name="gone" maxCount="1" destinationEntity="Gone"/>
          <relationship name="t" maxCount="1" transient="YES" destinationEntity="C" inverseName="a" inverseEntity="C"/>
          <attribute name="low" attributeType="Integer 16" minValueString="5" maxValueString="2" defaultValueString="70000"/>
          <attribute name="pat" attributeType="String" regularExpressionString="(" defaultValueString="q"/>
          <attribute name="short" attributeType="String" maxValueString="2" defaultValueString="long"/>
          <attribute name="odd" attributeType="Quaternion"/>
          <novelty/>
        </entity>
        <entity name="B" parentEntity="A"/>
        <entity name="C" parentEntity="Nowhere">
          <relationship name="a" maxCount="1" destinationEntity="A" inverseName="t" inverseEntity="A"/>
        </entity>
        <entity name="C"/>
      </model>
      """)
    let result = try CoreDataModelImport(contentsOf: url)
    #expect(result.description.entities.map(\.name) == ["A", "B", "C"])
    #expect(result.description.entities.map(\.parent).filter { $0 != nil }.count == 1)
    let notes = result.notes.map(\.description).joined(separator: "\n")
    for part in [
      "surprise", "future", "<novelty>", "declared twice in its hierarchy", "C: is declared twice", "form a circle",
      "leads to Gone", "one of the two is transient", "A.b: has no inverse", "bounds that no value can keep",
      "default '70000'", "pattern (", "default 'long', which breaks", "type Quaternion", "Nowhere",
    ] {
      #expect(notes.contains(part), "\(part) is not in \(notes)")
    }
  }
}

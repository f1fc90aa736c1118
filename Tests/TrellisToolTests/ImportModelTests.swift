import Foundation
import Testing
import TrellisTestSupport

@Suite("trellis import of a model") struct ImportModelTests {
  @Test("what import writes is as format leaves it, and a released version is as release makes it")
  func layout() throws {
    let folder = try ToolFolder()
    let relationships = (0..<3).map { number in
      """
      <relationship name="aRatherLongNameOfARelationship\(number)" optional="YES" toMany="YES" ordered="YES"
        deletionRule="Cascade" destinationEntity="AnEntityWithALongName" renamingIdentifier="itsFormerName\(number)"/>
      """
    }
    let contents = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="AnEntityWithALongName" representedClassName="AnEntityWithALongName">
      <attribute name="first" attributeType="String"/>\(relationships.joined())
      <userInfo>\((0..<9).map { "<entry key=\"key\($0)\" value=\"a value of some length\"/>" }.joined())</userInfo>
      </entity>
      <entity name="Small" representedClassName="Small"><attribute name="one" attributeType="Date"/></entity>
      </model>
      """
    try folder.write(contents, to: "Wide.xcdatamodel/contents")
    #expect(try folder.run("import", "Wide.xcdatamodel", "--all-versions").status == 0)
    #expect(try folder.text(of: "Wide.model.json").split(separator: "\n").allSatisfy { $0.count <= 120 })
    #expect(try folder.run("format", "--check", "Wide.model.json") == .init(status: 0))
    #expect(try folder.run("check", "Wide.model.json").status == 0)
    let imported = try folder.bytes(of: "Wide.history/0001.json")
    try folder.write(try folder.bytes(of: "Wide.model.json"), to: "again/Wide.model.json")
    #expect(try folder.run("release", "again/Wide.model.json").status == 0)
    #expect(try folder.bytes(of: "again/Wide.history/0001.json") == imported)
  }
}

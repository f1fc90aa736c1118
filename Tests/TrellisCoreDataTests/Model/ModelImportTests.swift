import Foundation
import Testing
import TrellisGenerator
import TrellisModel
import TrellisModelFile

@testable import TrellisCoreData

@Suite("The import of models") struct ModelImportTests {
  private static func imported(_ contents: String, name: String = "Shop") throws -> CoreDataModelImport {
    let scratch = try Scratch()
    return try CoreDataModelImport(contentsOf: try scratch.model(name, contents))
  }

  private static func model(_ entities: String, _ rest: String = "") -> String {
    """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22522"
      systemVersion="23F79" minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="v3">
      \(entities)
      \(rest)
    </model>
    """
  }

  private static func notes(_ result: CoreDataModelImport) -> [String] { result.notes.map(\.description) }

  @Test("every attribute type has its counterpart, with its default and its bounds") func attributes() throws {
    let result = try Self.imported(
      Self.model(
        """
        <entity name="Item" representedClassName="Item" syncable="YES" codeGenerationType="class">
          <attribute name="a" attributeType="Integer 16" defaultValueString="7" minValueString="1" maxValueString="9" usesScalarValueType="YES"/>
          <attribute name="b" optional="YES" attributeType="Integer 32" usesScalarValueType="NO"/>
          <attribute name="c" attributeType="Integer 64" defaultValueString="9223372036854775807"/>
          <attribute name="d" attributeType="Decimal" defaultValueString="0.10"/>
          <attribute name="e" attributeType="Double" defaultValueString="0.0"/>
          <attribute name="f" attributeType="Float" defaultValueString="1.5"/>
          <attribute name="g" attributeType="String" defaultValueString="" maxValueString="20" regularExpressionString="[a-z]*"/>
          <attribute name="h" attributeType="Boolean" defaultValueString="YES"/>
          <attribute name="i" attributeType="Date" defaultDateTimeInterval="0" usesScalarValueType="NO"/>
          <attribute name="j" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
          <attribute name="k" attributeType="UUID" defaultValueString="E621E1F8-C36C-495A-93FC-0C247A3E6E5F"/>
          <attribute name="l" optional="YES" attributeType="URI"/>
          <attribute name="m" optional="YES" attributeType="Transformable" valueTransformerName="" customClassName="[Int64]"/>
          <attribute name="n" optional="YES" attributeType="Transformable" customClassName="UIColor"/>
          <attribute name="o" optional="YES" transient="YES" attributeType="String"/>
          <attribute name="p" optional="YES" transient="YES"/>
          <attribute name="q" optional="YES" attributeType="Date" derived="YES" derivationExpression="now()"/>
        </entity>
        """))
    let text = try #require(result.files.first?.text)
    #expect(result.files.map(\.name) == ["Shop.model.json"])
    #expect(
      text == """
        {
          "model": "Shop",
          "version": "v3",
          "entities": {
            "Item": {
              "attributes": {
                "a": { "type": "int16", "default": 7, "min": 1, "max": 9 },
                "b": "int32?",
                "c": { "type": "int64", "default": 9223372036854775807 },
                "d": { "type": "decimal", "default": "0.1" },
                "e": { "type": "double", "default": 0.0 },
                "f": { "type": "float", "default": 1.5 },
                "g": { "type": "string", "default": "", "maxLength": 20, "pattern": "[a-z]*" },
                "h": { "type": "bool", "default": true },
                "i": { "type": "date", "default": "2001-01-01T00:00:00Z" },
                "j": { "type": "data?", "externalStorage": true },
                "k": { "type": "uuid", "default": "E621E1F8-C36C-495A-93FC-0C247A3E6E5F" },
                "l": "url?",
                "m": "[int64]?",
                "n": "data?",
                "o": { "type": "string?", "transient": true }
              }
            }
          }
        }

        """)
    #expect(
      Self.notes(result) == [
        "changed Item.m: is transformable of the class [Int64]; its archived values are of the type [int64]",
        "changed Item.n: is transformable of the class UIColor; it is data, with what the transformer has made of the value",
        "left-out Item.p: has no type and is transient; declare it in Swift",
        "left-out Item.q: is derived, now(); compute it in a predicate or in Swift",
        "ignored Shop: has codeGenerationType at 1 places, which only Xcode reads",
        "ignored Shop: has syncable at 1 places, which only Xcode reads",
        "ignored Shop: has usesScalarValueType at 3 places, which only Xcode reads",
      ])
  }

  @Test("relationships keep order, bounds, rules and inverses; keys and indexes what lies in the row")
  func relationships() throws {
    let result = try Self.imported(
      Self.model(
        """
        <entity name="Album" representedClassName="Album" syncable="YES">
          <attribute name="title" attributeType="String" indexed="YES"/>
          <attribute name="cover" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
          <relationship name="tracks" optional="YES" toMany="YES" minCount="2" maxCount="20" deletionRule="Cascade" ordered="YES" destinationEntity="Track" inverseName="album" inverseEntity="Track"/>
          <relationship name="shelf" maxCount="1" deletionRule="Deny" destinationEntity="Shelf" inverseName="album" inverseEntity="Shelf"/>
          <relationship name="tags" toMany="YES" deletionRule="No Action" destinationEntity="Tag" inverseName="albums" inverseEntity="Tag"/>
          <fetchIndex name="byTitle">
            <fetchIndexElement property="title" type="Binary" order="descending"/>
            <fetchIndexElement property="shelf" type="Binary" order="ascending"/>
          </fetchIndex>
          <fetchIndex name="byCover"><fetchIndexElement property="cover" type="Binary" order="ascending"/></fetchIndex>
          <fetchIndex name="near"><fetchIndexElement property="title" type="RTree" order="ascending"/></fetchIndex>
          <fetchIndex name="odd"><fetchIndexElement expression="title.length" expressionType="Integer 32" type="Binary" order="ascending"/></fetchIndex>
          <compoundIndexes><compoundIndex><index value="title"/><index value="shelf"/></compoundIndex></compoundIndexes>
          <uniquenessConstraints>
            <uniquenessConstraint><constraint value="title"/></uniquenessConstraint>
            <uniquenessConstraint><constraint value="cover"/></uniquenessConstraint>
          </uniquenessConstraints>
          <userInfo><entry key="color" value="red"/><entry key="color" value="blue"/></userInfo>
        </entity>
        <entity name="Shelf" representedClassName="Shelf" syncable="YES">
          <relationship name="album" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Album" inverseName="shelf" inverseEntity="Album"/>
          <fetchIndex name="byAlbum"><fetchIndexElement property="album" type="Binary" order="ascending"/></fetchIndex>
        </entity>
        <entity name="Tag" representedClassName="Tag" syncable="YES">
          <relationship name="albums" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Album" inverseName="tags" inverseEntity="Album"/>
        </entity>
        <entity name="Track" representedClassName="Track" syncable="YES">
          <relationship name="album" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Album" inverseName="tracks" inverseEntity="Album"/>
          <relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Track"/>
          <fetchedProperty name="similar" optional="YES" syncable="YES">
            <fetchRequest name="fetchedPropertyFetchRequest" entity="Track" predicateString="title == $FETCH_SOURCE.title"/>
          </fetchedProperty>
        </entity>
        """,
        """
        <fetchRequest name="Titled" entity="Album" predicateString="title CONTAINS[cd] $words AND tags.@count &gt; 0" fetchLimit="5" resultType="1"/>
        <fetchRequest name="odd" entity="Album" predicateString="FUNCTION(title, 'x') == 1"/>
        <configuration name="Cloud" usedWithCloudKit="YES"><memberEntity name="Tag"/></configuration>
        <elements><element name="Album" positionX="0" positionY="0" width="128" height="90"/></elements>
        """))
    let album = try #require(result.description.entities.first { $0.name == "Album" })
    #expect(
      album.relationships == [
        RelationshipDescription(
          "tracks", to: "Track", inverse: "album", deleteRule: .cascade, toMany: true, ordered: true, minCount: 2,
          maxCount: 20, optional: true),
        RelationshipDescription("shelf", to: "Shelf", inverse: "album", deleteRule: .deny),
        RelationshipDescription("tags", to: "Tag", inverse: "albums", deleteRule: .noAction, toMany: true, minCount: 1),
      ])
    #expect(album.uniqueKeys == [["title"]])
    #expect(
      album.indexes == [
        IndexDescription([.init("title", descending: true), .init("shelf")]),
        IndexDescription([.init("title"), .init("shelf")]), IndexDescription([.init("title")]),
      ])
    #expect(album.userInfo == [UserInfoEntry("color", "red")])
    #expect(album.fetchRequests.map(\.name) == ["titled"])
    #expect(album.fetchRequests.first?.limit == 5)
    #expect(result.description.entities.first { $0.name == "Shelf" }?.indexes == [])
    let notes = Self.notes(result)
    for expected in [
      "left-out Album, index byCover: names cover, which is not in the row; it is left out",
      "left-out Album, index near: is spatial in title, which is left out of it",
      "left-out Album, index odd: has the expression title.length as an element; it is left out",
      "left-out Album, unique cover: names cover, which has no value of its own in the row; the key is left out",
      "left-out Shelf, index byAlbum: names album, which is not in the row; it is left out",
      "ignored the configuration Cloud: has Tag; a container has one store, with all entities",
      "changed the fetch request Titled: is called titled",
      "ignored the fetch request Titled: has the option resultType 1",
    ] {
      #expect(notes.contains(expected), "\(expected) is not in \(notes.joined(separator: "\n"))")
    }
    #expect(notes.contains { $0.hasPrefix("left-out the fetch request odd: has a predicate that is none here") })
    #expect(
      notes.contains { $0.hasPrefix("left-out Track.similar: is a fetched property of Track, with the predicate") })
  }

  @Test("a kept value and an indexed text are told, with the word for the same") func options() throws {
    let result = try Self.imported(
      Self.model(
        """
        <entity name="Note" syncable="YES">
          <attribute name="code" attributeType="String" preserveAfterDeletion="YES"/>
          <attribute name="text" attributeType="String" spotlightIndexingEnabled="YES"/>
        </entity>
        """))
    let notes = Self.notes(result)
    #expect(
      notes.contains(
        "ignored Note.code: is kept in the history of deletions; give the model a history, and the attribute keepInHistory"
      ))
    #expect(notes.contains("ignored Note.text: is indexed by Spotlight; make it searchable for a full-text index"))
    #expect(!result.description.entities[0].attributes.contains { $0.isKeptInHistory })
  }

  @Test("names become words that compile, each with a note") func names() throws {
    let result = try Self.imported(
      Self.model(
        """
        <entity name="note" representedClassName=".NoteMO" syncable="YES">
          <attribute name="ID" optional="YES" attributeType="String"/>
          <attribute name="id" optional="YES" attributeType="String"/>
          <attribute name="URLString" optional="YES" attributeType="String"/>
          <attribute name="_hidden" optional="YES" attributeType="String"/>
          <attribute name="größe" optional="YES" attributeType="String"/>
          <attribute name="description" optional="YES" attributeType="String"/>
          <attribute name="hash" optional="YES" attributeType="String"/>
          <attribute name="class" optional="YES" attributeType="String"/>
        </entity>
        <entity name="Note2" representedClassName="Shared" parentEntity="note" syncable="YES">
          <attribute name="Description" optional="YES" attributeType="String"/>
        </entity>
        <entity name="Object" representedClassName="Shared" syncable="YES"/>
        <entity name="Type" syncable="YES"/>
        """), name: "my shop")
    #expect(result.description.name == "Myshop")
    let entities = result.description.entities
    #expect(entities.map(\.name) == ["Note", "Note2", "Object", "Type"])
    #expect(entities.map(\.swiftName) == ["NoteMO", nil, "ObjectEntity", "TypeEntity"])
    #expect(
      entities[0].attributes.map { "\($0.name) \($0.swiftName ?? "")" } == [
        "id ", "id2 ", "urlString ", "hidden ", "groe ", "description noteDescription", "hash noteHash", "class ",
      ])
    #expect(entities[1].attributes.map(\.name) == ["description2"])
    try Self.expectCompilable(result.description)
  }

  /// The last check before Swift code is written.
  private static func expectCompilable(_ description: ModelDescription) throws {
    _ = try GeneratedFile(description, modelFileName: "Shop.model.json")
  }
}

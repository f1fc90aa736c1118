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
        "left-out Item.q: is derived, now(), the time of the save; set it in the hook willSave",
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
        RelationshipDescription("tags", to: "Tag", inverse: "albums", deleteRule: .noAction, toMany: true),
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

  @Test(
    "a to-many that is not optional may be empty, and is named; bounds that are given count where there are members")
  func emptyToManys() throws {
    let result = try Self.imported(
      Self.model(
        """
        <entity name="Game">
          <relationship name="cheats" toMany="YES" deletionRule="Cascade" destinationEntity="Cheat" inverseName="game" inverseEntity="Cheat"/>
          <relationship name="moves" toMany="YES" minCount="2" maxCount="9" destinationEntity="Cheat"/>
          <relationship name="one" minCount="1" maxCount="1" destinationEntity="Cheat"/>
        </entity>
        <entity name="Cheat">
          <relationship name="game" maxCount="1" optional="YES" destinationEntity="Game" inverseName="cheats" inverseEntity="Game"/>
        </entity>
        """))
    #expect(
      result.description.entities[0].relationships == [
        RelationshipDescription("cheats", to: "Cheat", inverse: "game", deleteRule: .cascade, toMany: true),
        RelationshipDescription("moves", to: "Cheat", toMany: true, minCount: 2, maxCount: 9, optional: true),
        RelationshipDescription("one", to: "Cheat"),
      ])
    #expect(
      Self.notes(result) == [
        "ignored Shop: has to-manys that are not optional and may be empty, as Core Data saves them; give them a minCount, "
          + "and take optional out, if they may not: Game.cheats, Game.moves"
      ])
  }

  @Test(
    "the words for Booleans are numbers too, empty data is data, and an empty default is told where it would be a value"
  )
  func defaults() throws {
    let result = try Self.imported(
      Self.model(
        """
        <entity name="Item">
          <attribute name="a" attributeType="Integer 16" defaultValueString="NO"/>
          <attribute name="b" attributeType="Integer 64" defaultValueString="YES"/>
          <attribute name="c" attributeType="Double" defaultValueString="false"/>
          <attribute name="d" attributeType="Decimal" defaultValueString="TRUE"/>
          <attribute name="e" attributeType="Binary" defaultValueString=""/>
          <attribute name="f" attributeType="URI" defaultValueString=""/>
          <attribute name="g" attributeType="Integer 32" defaultValueString=""/>
          <attribute name="h" attributeType="Boolean" defaultValueString="0"/>
          <attribute name="i" attributeType="Integer 32" defaultValueString="maybe"/>
          <attribute name="j" attributeType="URI" defaultValueString="a/b.png"/>
        </entity>
        """))
    let attributes = result.description.entities[0].attributes
    #expect(
      attributes.map(\.defaultValue) == [
        .value(.integer(0)), .value(.integer(1)), .value(.real(0)), .value(.text("1")), .value(.blob([])), nil, nil,
        .value(.integer(0)), nil, nil,
      ])
    #expect(
      Self.notes(result) == [
        "left-out Item.f: has the default of an empty text, which is no absolute URL, as the default in a model file has to "
          + "be; set the value in code",
        "left-out Item.i: has the default 'maybe', which is no value of its type",
        "left-out Item.j: has the default 'a/b.png', which is no absolute URL, as the default in a model file has to be; "
          + "set the value in code",
      ])
    #expect(ArchivedValue.url("").shown == "of an empty text")
  }

  @Test("an indexed to-one has an index, as an indexed attribute") func indexedRelationship() throws {
    let result = try Self.imported(
      Self.model(
        """
        <entity name="Page"><attribute name="rank" attributeType="Integer 16" indexed="YES"/>
          <relationship name="book" maxCount="1" indexed="YES" destinationEntity="Book" inverseName="pages" inverseEntity="Book"/>
        </entity>
        <entity name="Book">
          <relationship name="pages" optional="YES" toMany="YES" indexed="YES" destinationEntity="Page" inverseName="book" inverseEntity="Page"/>
        </entity>
        """))
    #expect(
      result.description.entities[0].indexes == [IndexDescription([.init("rank")]), IndexDescription([.init("book")])])
    #expect(result.description.entities[1].indexes == [])
    #expect(Self.notes(result) == [])
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

  @Test("composites and derived attributes become those of the model") func values() throws {
    let result = try Self.imported(
      """
      <model>
        <entity name="Trip" representedClassName="Trip">
          <attribute name="Title" attributeType="String"/>
          <attribute name="start" attributeType="Composite" composite="place"/>
          <attribute name="end" optional="YES" attributeType="Composite" composite="place" elementID="finish"/>
          <attribute name="shout" optional="YES" attributeType="String" derived="YES" derivationExpression="uppercase:(Title)"/>
          <attribute name="dayCount" attributeType="Integer 32" derived="YES" derivationExpression="days.@count"/>
          <attribute name="cost" optional="YES" attributeType="Decimal" derived="YES" derivationExpression="days.@sum.Price"/>
          <attribute name="folded" optional="YES" attributeType="String" derived="YES" derivationExpression="canonical:(Title)"/>
          <attribute name="changed" optional="YES" attributeType="Date" derived="YES" derivationExpression="now()"/>
          <relationship name="days" toMany="YES" deletionRule="Cascade" destinationEntity="Day" inverseName="trip" inverseEntity="Day"/>
          <fetchIndex name="byCost"><fetchIndexElement property="cost" type="Binary" order="descending"/></fetchIndex>
        </entity>
        <entity name="Day" representedClassName="Day">
          <attribute name="Price" attributeType="Decimal"/>
          <attribute name="tripTitle" optional="YES" attributeType="String" derived="YES" derivationExpression="trip.Title"/>
          <relationship name="trip" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Trip" inverseName="days" inverseEntity="Trip"/>
        </entity>
        <composite name="place">
          <attribute name="City" optional="YES" attributeType="String"/>
          <attribute name="at" attributeType="Composite" composite="Position"/>
        </composite>
        <composite name="Position"><attribute name="x" attributeType="Double" defaultValueString="0"/></composite>
      </model>
      """)
    let trip = try #require(result.description.entities.first { $0.name == "Trip" })
    #expect(result.description.composites.map(\.name) == ["Position", "Place"])
    #expect(
      trip.composites == [
        CompositeAttributeDescription("start", "Place", position: 1),
        CompositeAttributeDescription("end", "Place", optional: true, position: 1, renamedFrom: ["finish"]),
      ])
    #expect(
      trip.attributes == [
        AttributeDescription("title", .string),
        AttributeDescription("shout", .string, optional: true, derived: "uppercase:(#title)", stored: true),
        AttributeDescription("dayCount", .int64, derived: "#days.@count", stored: true),
        AttributeDescription("cost", .decimal, optional: true, derived: "#days.@sum.#price", stored: true),
      ])
    #expect(trip.indexes == [IndexDescription([.init("cost", descending: true)])])
    let day = try #require(result.description.entities.first { $0.name == "Day" })
    #expect(
      day.attributes.last
        == AttributeDescription("tripTitle", .string, optional: true, derived: "#trip.#title", stored: true))
    let notes = Self.notes(result)
    #expect(
      notes.contains("changed Trip.dayCount: is derived, and its expression is of the type int64 instead of int32"))
    #expect(
      notes.contains { $0.hasPrefix("left-out Trip.folded: is derived, canonical:(Title), which has no counterpart") })
    #expect(
      notes.contains("left-out Trip.changed: is derived, now(), the time of the save; set it in the hook willSave"))
  }
}

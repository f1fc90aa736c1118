import Foundation
import Testing
import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisRuntime
import TrellisTestSupport

@Suite("Objects that an import moves between owners") struct MovedObjectTests {
  /// `pets` are taken along and may be without an owner, `toys` require one and are taken along or not, `home` is a
  /// to-one.
  private static func model(
    required: Bool = false, cascade: Bool = true, maxCount: Int? = nil, members: String = "replace"
  )
    -> String
  {
    let rule = cascade ? #", "deleteRule": "cascade""# : ""
    let optional = required ? "" : #", "optional": true"#
    let count = maxCount.map { ", \"maxCount\": \($0)" } ?? ""
    return """
      { "model": "Zoo", "entities": {
        "User": { "json": { "key": "id" }, "attributes": { "id": "int64", "name": "string?" },
          "relationships": {
            "pets": { "destination": "Pet", "toMany": true, "ordered": true, "inverse": "owner"\(rule)\(count),
              "json": { "members": "\(members)" } },
            "home": { "destination": "Home", "inverse": "user", "optional": true\(rule), "json": true } },
          "unique": ["id"] },
        "Admin": { "parent": "User", "attributes": { "level": "int16?" } },
        "Pet": { "json": { "key": "tag" }, "attributes": { "tag": "string", "weight": "int32?" },
          "relationships": { "owner": { "destination": "User", "inverse": "pets"\(optional) } }, "unique": ["tag"] },
        "Home": { "json": { "key": "street" }, "attributes": { "street": "string", "rooms": "int32?" },
          "relationships": { "user": { "destination": "User", "inverse": "home"\(optional) } }, "unique": ["street"] } } }
      """
  }

  /// Elements that fill a batch and change nothing.
  private static let filler = (1000..<3100).map { "{\"id\": \($0)}" }

  private static let start =
    #"[{"id": 1, "pets": [{"tag": "a", "weight": 7}, {"tag": "b", "weight": 8}]}, {"id": 2, "pets": []}]"#

  @Test(
    "a member that the document gives to another owner stays, with what the document does not mention",
    arguments: ImportTargetKind.allCases, [false, true])
  func moved(_ kind: ImportTargetKind, _ required: Bool) throws {
    for members in [#"{"tag": "a"}"#, #""a""#] {
      for order in [[1, 2], [2, 1]] {
        let shelf = try DynamicShelf(Self.model(required: required), kind)
        try shelf.take(Self.start)
        let elements = [1: #"{"id": 1, "pets": ["b"]}"#, 2: #"{"id": 2, "pets": [\#(members)]}"#]
        let report = try shelf.take("[" + order.compactMap { elements[$0] }.joined(separator: ",") + "]")
        #expect(try shelf.list("Pet", ["tag", "weight", "owner.id"]) == ["a 7 2", "b 8 1"], "\(members) \(order)")
        #expect(report.deleted.isEmpty && report.rejected.isEmpty && report.unresolved.isEmpty)
        #expect(report.updated.filter { $0.entity == "User" }.count == 2)
      }
    }
  }

  @Test("the same holds if the two owners are in different batches", arguments: [false, true], [nil, 2, 5])
  func movedBetweenBatches(_ required: Bool, _ maxCount: Int?) throws {
    for (order, lines) in [([1, 2], false), ([2, 1], true)] {
      let shelf = try DynamicShelf(Self.model(required: required, maxCount: maxCount))
      try shelf.take(Self.start)
      let elements = [
        1: #"{"id": 1, "pets": ["b", {"tag": "c"}]}"#, 2: #"{"id": 2, "pets": [{"tag": "a"}]}"#,
      ]
      let all = [elements[order[0]] ?? ""] + Self.filler + [elements[order[1]] ?? ""]
      let report = try shelf.take(
        lines ? all.joined(separator: "\n") : "[" + all.joined(separator: ",") + "]", lines: lines)
      #expect(try shelf.list("Pet", ["tag", "weight", "owner.id"]) == ["a 7 2", "b 8 1", "c - 1"], "\(order)")
      #expect(try shelf.list("User", ["id", "pets.tag"]).prefix(1) == ["1 b,c"])
      #expect(report.rejected.isEmpty && report.deleted.isEmpty && report.updated.count >= 2)
    }
  }

  @Test(
    "a member that no owner has at the end is deleted, and counted",
    arguments: ImportTargetKind.allCases, [false, true])
  func lost(_ kind: ImportTargetKind, _ required: Bool) throws {
    let shelf = try DynamicShelf(Self.model(required: required), kind)
    try shelf.take(Self.start)
    let report = try shelf.take(#"[{"id": 1, "pets": ["b"]}, {"id": 2, "pets": []}]"#)
    #expect(try shelf.list("Pet", ["tag", "owner.id"]) == ["b 1"])
    #expect(report.counts == [0, 1, 1, 1, 0, 0])
    // The tag is free again.
    #expect(try shelf.take(#"[{"id": 2, "pets": [{"tag": "a"}]}]"#).counts == [1, 1, 0, 0, 0, 0])
    #expect(try shelf.list("Pet", ["tag", "weight"]) == ["a -", "b 8"])
  }

  @Test("a member that no later batch gives to an owner is deleted", arguments: [false, true], [nil, 2])
  func lostBetweenBatches(_ required: Bool, _ maxCount: Int?) throws {
    let shelf = try DynamicShelf(Self.model(required: required, maxCount: maxCount))
    try shelf.take(Self.start)
    let first = [#"{"id": 1, "pets": ["b", {"tag": "c"}]}"#, #"{"id": 2, "pets": [{"tag": "d"}]}"#]
    let report = try shelf.take(
      (first + Self.filler + [#"{"id": 2, "pets": [{"tag": "e"}]}"#] + Self.filler).joined(separator: "\n"), lines: true
    )
    #expect(try shelf.list("Pet", ["tag", "owner.id"]) == ["b 1", "c 1", "e 2"])
    #expect(report.rejected.isEmpty && report.deleted.count == 2)
    #expect(report.inserted.filter { $0.entity == "Pet" }.count == 2)
  }

  @Test("members without a key are told by their places among those of the document")
  func keyless() throws {
    let model = """
      { "model": "M", "entities": { "User": { "json": { "key": "id" }, "attributes": { "id": "int64" }, "unique": ["id"],
        "relationships": { "bits": { "destination": "Bit", "inverse": "owner", "toMany": true, "json": true } } },
        "Bit": { "json": true, "attributes": { "text": "string" }, "relationships": {
          "owner": { "destination": "User", "inverse": "bits" } } } } }
      """
    let shelf = try DynamicShelf(model)
    let again = #"{"id": 1, "bits": [{"text": "c"}]}"#
    let elements = [#"{"id": 1, "bits": [{"text": "a"}, {"text": "b"}]}"#, again] + Self.filler + [again]
    for turn in 0..<2 {
      let report = try shelf.take(elements.joined(separator: "\n"), lines: true)
      #expect(try shelf.list("Bit", ["text", "owner.id"]) == ["c 1"])
      #expect(turn == 0 || report.inserted.isEmpty && report.rejected.isEmpty)
    }
  }

  @Test("a member that two batches lose and give again is there", arguments: [false, true])
  func lostAndGiven(_ required: Bool) throws {
    let shelf = try DynamicShelf(Self.model(required: required))
    try shelf.take(Self.start)
    let elements =
      [#"{"id": 1, "pets": []}"#] + Self.filler + [#"{"id": 2, "pets": ["a", "b"]}"#] + Self.filler
      + [#"{"id": 2, "pets": []}"#, #"{"id": 1, "pets": ["b", "a"]}"#]
    let report = try shelf.take(elements.joined(separator: "\n"), lines: true)
    #expect(try shelf.list("Pet", ["tag", "weight", "owner.id"]) == ["a 7 1", "b 8 1"])
    #expect(try shelf.list("User", ["id", "pets.tag"]).prefix(1) == ["1 b,a"])
    #expect(report.rejected.isEmpty && report.deleted.isEmpty)
  }

  @Test("members that are added move, and their former owner has the others", arguments: [false, true])
  func added(_ required: Bool) throws {
    let shelf = try DynamicShelf(Self.model(required: required, members: "add"))
    try shelf.take(Self.start)
    let report = try shelf.take(#"[{"id": 1, "pets": []}, {"id": 2, "pets": ["a"]}]"#)
    #expect(try shelf.list("Pet", ["tag", "weight", "owner.id"]) == ["a 7 2", "b 8 1"])
    #expect(report.deleted.isEmpty)
  }

  private static let homes =
    #"[{"id": 1, "home": {"street": "x", "rooms": 1}}, {"id": 2, "home": {"street": "y", "rooms": 2}}, {"id": 3}]"#

  @Test("to-ones are exchanged", arguments: ImportTargetKind.allCases, [false, true])
  func exchanged(_ kind: ImportTargetKind, _ required: Bool) throws {
    for (first, second) in [(#""y""#, #""x""#), (#"{"street": "y"}"#, #"{"street": "x"}"#)] {
      let shelf = try DynamicShelf(Self.model(required: required), kind)
      try shelf.take(Self.homes)
      let report = try shelf.take(#"[{"id": 1, "home": \#(first)}, {"id": 2, "home": \#(second)}]"#)
      #expect(try shelf.list("Home", ["street", "rooms", "user.id"]) == ["x 1 2", "y 2 1"])
      #expect(report.rejected.isEmpty && report.deleted.isEmpty && report.updated.count >= 2)
    }
  }

  @Test("to-ones are exchanged between batches, and move to owners that come later", arguments: [false, true])
  func exchangedBetweenBatches(_ required: Bool) throws {
    let ends: [([String], [String])] = [
      ([#"{"id": 1, "home": "y"}"#, #"{"id": 2, "home": "x"}"#], ["x 1 2", "y 2 1"]),
      ([#"{"id": 1, "home": {"street": "z"}}"#, #"{"id": 3, "home": {"street": "x"}}"#], ["x 1 3", "y 2 2", "z - 1"]),
      ([#"{"id": 1, "home": null}"#, #"{"id": 3, "home": "x"}"#], ["x 1 3", "y 2 2"]),
      ([#"{"id": 3, "home": "x"}"#, #"{"id": 1, "home": {"street": "z"}}"#], ["x 1 3", "y 2 2", "z - 1"]),
      ([#"{"id": 1, "home": {"street": "z"}}"#, #"{"id": 1, "home": {"street": "w"}}"#], ["w - 1", "y 2 2"]),
      ([#"{"id": 1, "home": {"street": "z"}}"#, #"{"id": 1, "home": "x"}"#], ["x 1 1", "y 2 2"]),
    ]
    for (elements, homes) in ends {
      for between in [[], Self.filler] {
        let shelf = try DynamicShelf(Self.model(required: required))
        try shelf.take(Self.homes)
        let all = [elements[0]] + between + [elements[1]]
        let report = try shelf.take(all.joined(separator: "\n"), lines: true)
        #expect(try shelf.list("Home", ["street", "rooms", "user.id"]) == homes, "\(elements) \(between.count)")
        #expect(report.rejected.isEmpty, "\(elements): \(report.rejected)")
      }
    }
  }

  @Test("what every policy and way of rejecting does with a member that moves", arguments: MergePolicy.allCases)
  func policies(_ policy: MergePolicy) throws {
    for rejecting in [JSONRejection.objects, .everything] where policy != .error {
      let shelf = try DynamicShelf(Self.model())
      try shelf.take(Self.start)
      let report = try shelf.take(
        #"[{"id": 1, "pets": ["b"]}, {"id": 2, "pets": [{"tag": "a", "weight": 9}]}, {"id": 3, "pets": [{"tag": "c"}]}]"#,
        "User", policy, rejecting: rejecting)
      let isTaken = policy == .objectTrump || policy == .overwrite
      #expect(
        try shelf.list("Pet", ["tag", "weight", "owner.id"]) == [isTaken ? "a 9 2" : "a 7 1", "b 8 1", "c - 3"])
      #expect(report.counts == (isTaken ? [2, 3, 0, 0, 0, 0] : [2, 0, 3, 0, 0, 0]), "\(policy): \(report.counts)")
    }
  }

  @Test("an object that another owner takes along stays, whichever owner loses it")
  func severalOwners() throws {
    let model = """
      { "model": "Zoo", "entities": {
        "User": { "json": { "key": "id" }, "attributes": { "id": "int64" }, "unique": ["id"], "relationships": {
          "pets": { "destination": "Pet", "toMany": true, "inverse": "owner", "deleteRule": "cascade", "json": true },
          "lent": { "destination": "Pet", "toMany": true, "inverse": "lender", "deleteRule": "cascade", "json": true },
          "shared": { "destination": "Pet", "toMany": true, "inverse": "sharers", "deleteRule": "cascade", "json": true },
          "seen": { "destination": "Pet", "toMany": true, "deleteRule": "cascade", "json": true } } },
        "Pet": { "json": { "key": "tag" }, "attributes": { "tag": "string" }, "unique": ["tag"], "relationships": {
          "owner": { "destination": "User", "inverse": "pets", "optional": true },
          "lender": { "destination": "User", "inverse": "lent", "optional": true },
          "sharers": { "destination": "User", "inverse": "shared", "toMany": true } } } } }
      """
    for (first, second) in [
      ("pets", "lent"), ("lent", "pets"), ("shared", "shared"), ("seen", "seen"), ("pets", "shared"), ("pets", "seen"),
      ("seen", "pets"),
    ] {
      let shelf = try DynamicShelf(model)
      try shelf.take(#"[{"id": 1, "\#(first)": [{"tag": "a"}, {"tag": "b"}]}, {"id": 2}]"#)
      let report = try shelf.take(#"[{"id": 1, "\#(first)": ["b"]}, {"id": 2, "\#(second)": ["a"]}]"#)
      #expect(try shelf.list("Pet", ["tag"]) == ["a", "b"], "\(first) \(second)")
      #expect(report.deleted.isEmpty)
      let last = try shelf.take(#"[{"id": 1, "\#(first)": []}, {"id": 2, "\#(second)": []}]"#)
      #expect(try shelf.list("Pet", ["tag"]) == [] && last.deleted.count == 2, "\(first) \(second)")
    }
  }

  @Test("an object that requires an owner does not stay because another one takes it along", arguments: [false, true])
  func otherOwner(_ isNew: Bool) throws {
    let model = """
      { "model": "Zoo", "entities": {
        "User": { "json": { "key": "id" }, "attributes": { "id": "int64" }, "unique": ["id"], "relationships": {
          "pets": { "destination": "Pet", "toMany": true, "inverse": "owner", "deleteRule": "cascade", "json": true },
          "lent": { "destination": "Pet", "inverse": "lender", "optional": true, "deleteRule": "cascade", "json": true } } },
        "Pet": { "json": { "key": "tag" }, "attributes": { "tag": "string" }, "unique": ["tag"], "relationships": {
          "owner": { "destination": "User", "inverse": "pets" },
          "lender": { "destination": "User", "inverse": "lent", "optional": true } } } } }
      """
    let given = #"{"id": 1, "pets": [{"tag": "a"}]}"#
    let taken = [#"{"id": 1, "pets": []}"#, #"{"id": 2, "lent": "a"}"#]
    for order in [[0, 1], [1, 0]] {
      for filler in [[], Self.filler] {
        let shelf = try DynamicShelf(model)
        if !isNew { try shelf.take("[\(given)]") }
        let lines = (isNew ? [given] : []) + [taken[order[0]]] + filler + [taken[order[1]]]
        let report = try shelf.take(lines.joined(separator: "\n"), lines: true)
        #expect(try shelf.list("Pet", ["tag"]) == [], "\(order) \(filler.count)")
        #expect(report.rejected.isEmpty)
      }
    }
  }

  @Test(
    "an object that a later record of the same batch replaces is not made, and its replacement is", arguments: [nil, 2])
  func replacedWhileNew(_ maxCount: Int?) throws {
    for last in [#""home": {"street": "c"}"#, #""home": null"#, #""home": "a""#] {
      for filler in [[], Self.filler] {
        let shelf = try DynamicShelf(Self.model(required: true, maxCount: maxCount))
        let lines =
          [#"{"id": 1, "home": {"street": "a"}, "pets": [{"tag": "a"}, {"tag": "b"}]}"#] + [
            #"{"id": 1, "home": {"street": "b"}, "pets": [{"tag": "c"}, {"tag": "d"}]}"#, "{\"id\": 1, \(last)}",
          ] + filler
        let report = try shelf.take(lines.joined(separator: "\n"), lines: true)
        #expect(report.rejected.isEmpty && report.unresolved.isEmpty, "\(last) \(filler.count)")
        #expect(try shelf.list("Pet", ["tag", "owner.id"]) == ["c 1", "d 1"])
        let street = last.contains("c") ? ["c 1"] : last.contains("null") ? [] : ["a 1"]
        #expect(try shelf.list("Home", ["street", "user.id"]) == street, "\(last) \(filler.count)")
      }
    }
  }

  @Test("a member that two owners lose in one batch is deleted if no later one has it", arguments: [false, true])
  func lostTwice(_ required: Bool) throws {
    for last in [[], [#"{"id": 3, "pets": ["a"]}"#]] {
      let shelf = try DynamicShelf(Self.model(required: required))
      try shelf.take(Self.start)
      let elements = [
        #"{"id": 1, "pets": ["b"]}"#, #"{"id": 2, "pets": ["a"]}"#, #"{"id": 2, "pets": []}"#,
      ]
      let report = try shelf.take((elements + Self.filler + last).joined(separator: "\n"), lines: true)
      #expect(try shelf.list("Pet", ["tag", "weight", "owner.id"]) == (last.isEmpty ? ["b 8 1"] : ["a 7 3", "b 8 1"]))
      #expect(report.rejected.isEmpty && report.deleted.count == 1 - last.count)
    }
  }

  @Test("an object that has left its owner does not stay because a relationship refers to it that owns nothing")
  func referred() throws {
    let model = """
      { "model": "Zoo", "entities": {
        "User": { "json": { "key": "id" }, "attributes": { "id": "int64" }, "unique": ["id"], "relationships": {
          "pets": { "destination": "Pet", "toMany": true, "inverse": "owner", "deleteRule": "cascade", "json": true },
          "favourite": { "destination": "Pet", "inverse": "fan", "optional": true, "json": true },
          "liked": { "destination": "Pet", "toMany": true, "inverse": "fans", "json": true } } },
        "Pet": { "json": { "key": "tag" }, "attributes": { "tag": "string" }, "unique": ["tag"], "relationships": {
          "owner": { "destination": "User", "inverse": "pets", "optional": true },
          "fan": { "destination": "User", "inverse": "favourite", "optional": true },
          "fans": { "destination": "User", "inverse": "liked", "toMany": true } } } } }
      """
    for link in [#""favourite": "a""#, #""liked": ["a"]"#] {
      for order in [[0, 1], [1, 0]] {
        for filler in [[], Self.filler] {
          let shelf = try DynamicShelf(model)
          try shelf.take(#"[{"id": 1, "pets": [{"tag": "a"}]}]"#)
          let taken = [#"{"id": 1, "pets": []}"#, "{\"id\": 2, \(link)}"]
          let lines = [taken[order[0]]] + filler + [taken[order[1]]]
          let report = try shelf.take(lines.joined(separator: "\n"), lines: true)
          #expect(try shelf.list("Pet", ["tag"]) == [], "\(link) \(order) \(filler.count)")
          #expect(report.rejected.isEmpty)
        }
      }
    }
  }

  @Test("a child whose new owner is refused stays with the one that it had", arguments: [false, true])
  func refusedOwner(_ required: Bool) throws {
    let shelf = try DynamicShelf(
      Self.model(required: required).replacingOccurrences(
        of: #""name": "string?""#, with: #""name": { "type": "string?", "minLength": 1 }"#))
    try shelf.take(Self.start)
    try shelf.take(#"[{"id": 4, "home": {"street": "x"}}]"#)
    let report = try shelf.take(
      #"[{"id": 9, "name": "", "pets": ["a", {"tag": "n"}], "home": "x"}, {"id": 4, "home": {"street": "v"}}]"#)
    #expect(report.rejected.first?.code == .brokenRule)
    #expect(try shelf.list("Pet", ["tag", "weight", "owner.id"]) == ["a 7 1", "b 8 1"])
    #expect(try shelf.list("User", ["id"]) == ["1", "2", "4"])
  }
}

import TrellisDynamic
import TrellisModel
@_spi(Generated) import TrellisRuntime

extension StoreTool {
  /// The scalars of a piece of a value, and the members of a piece of a relationship.
  private static let (mostLetters, mostMembers) = (20_000, 1_000)

  static let show = StoreTool(
    name: "show", title: "Show an object",
    summary:
      "An object with all of its values, partners and members. What is cut is named under _cut; get has it whole.",
    parameters: [object], result: [note, ("object", schema("object", "The object."))], requiredInResult: 2
  ) { arguments, store in
    let name = try arguments.objectName("object")
    return try store.reading { context in
      let object = try context.object(name)
      let properties = try object.ownEntity().properties
      return JSONText.object([
        noteText, ("object", try ObjectRow.text(object, properties, members: ObjectRow.manyMembers)),
      ])
    }
  }

  static let get = StoreTool(
    name: "get", title: "Get a value",
    summary: """
      One value of an object, piece by piece if it is long: the text of an attribute, or the names of partners. Data is Base64. \
      nextCursor leads to the next piece.
      """,
    parameters: [
      object, Parameter(name: "property", schema: schema("string", "The name of a property."), isRequired: true),
      Parameter(name: "cursor", schema: schema("string", "The nextCursor of a former result for the same value.")),
    ],
    result: [
      note, ("_version", schema("integer", "The version of the object.")),
      ("length", schema("integer", "The length of the whole.")),
      (
        "value",
        JSONText.object([("description", JSONText.quoted("The value or a piece of it, as text; null for none."))])
      ),
      ("members", texts("The names of the partners, or some of them.")),
      ("nextCursor", schema("string", "Leads to the next piece. Missing after the last one.")),
    ], requiredInResult: 3
  ) { arguments, store in
    let name = try arguments.objectName("object")
    let property = try arguments.needText("property")
    let offset = try arguments.position()
    return try store.reading { context in
      let object = try context.object(name)
      func piece(_ name: String, _ json: String, shown: Int, of count: Int) -> String {
        JSONText.object(
          [noteText, ("_version", "\(object.storedVersion)"), ("length", "\(count)"), (name, json)]
            + (offset + shown < count ? [("nextCursor", JSONText.quoted("\(offset + shown)"))] : []))
      }
      switch try object.ownEntity().needProperty(property) {
      case .relationship(let relationship) where relationship.isToMany:
        let keys = try object.memberKeys(relationship.name)
        let shown = keys.dropFirst(offset).prefix(mostMembers)
        return piece(
          "members", try ObjectRow.names(shown, of: relationship, object), shown: shown.count, of: keys.count)
      case .relationship(let relationship):
        let partner = try ObjectText.partnerName(of: object, relationship).map { JSONText.quoted($0) } ?? "null"
        return piece("value", partner, shown: 1, of: 1)
      case .attribute(let attribute):
        let value = try object.value(attribute.name)
        if value.isNull { return piece("value", "null", shown: 0, of: 0) }
        let whole =
          if case .text(let text) = value, attribute.type == .string { text } else {
            try ValueText(attribute).text(value)
          }
        let scalars = whole.unicodeScalars
        let shown = scalars.dropFirst(offset).prefix(mostLetters)
        return piece(
          "value", JSONText.quoted(String(String.UnicodeScalarView(shown))), shown: shown.count, of: scalars.count)
      }
    }
  }
}

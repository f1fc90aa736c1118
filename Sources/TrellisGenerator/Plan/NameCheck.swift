import TrellisModel

/// The last check for names that would not compile or would silently change the meaning of the code.
///
/// The checks on model files reject such names first, with a position and a remedy.
enum NameCheck {
  static func check(_ model: Model) throws(GeneratorError) {
    let description = model.description
    try checkUsable(description.name, "model")
    var types: Set<String> = []
    for name in description.entities.map(\.className) + description.enums.map(\.name)
      + description.composites.map(\.name) + description.scalars.map(\.name) + description.codableTypes
    {
      try checkUsable(name, "type")
      if ReservedNames.types.contains(name) { throw GeneratorError("generated code has a type named \(name) already") }
      if !types.insert(name).inserted { throw GeneratorError("two types are named \(name)") }
    }
    for enumeration in description.enums { try check(enumeration) }
    for entity in model.entities {
      try check(entity)
      try checkRequests(of: entity, in: model)
    }
  }

  private static func checkUsable(_ name: String, _ what: String) throws(GeneratorError) {
    if !Identifier(name).isUsable { throw GeneratorError("Swift cannot have a \(what) named '\(name)'") }
  }

  private static func check(_ enumeration: EnumDescription) throws(GeneratorError) {
    if enumeration.cases.isEmpty { throw GeneratorError("the enum \(enumeration.name) has no cases") }
    var names = ReservedNames.cases.union(ReservedNames.optionalCases)
    if enumeration.unknown == .preserve { names.insert("unknown") }
    for entry in enumeration.cases {
      try checkUsable(entry.name, "case")
      if !names.insert(entry.name).inserted {
        throw GeneratorError("\(enumeration.name) cannot have another case named \(entry.name)")
      }
    }
  }

  /// Checks the names of fetch requests. A class also inherits the requests of its parents.
  private static func checkRequests(of entity: Entity, in model: Model) throws(GeneratorError) {
    var names = ReservedNames.members
    for level in ModelPlan.lineage(entity, in: model) {
      for request in model.description.entities[level.index].fetchRequests {
        try checkUsable(request.name, "function")
        if !names.insert(request.name).inserted {
          throw GeneratorError("\(entity.name) cannot have another fetch request named \(request.name)")
        }
      }
    }
  }

  private static func check(_ entity: Entity) throws(GeneratorError) {
    var names = ReservedNames.members
    for composite in entity.composites {
      let name = composite.description.swiftName ?? composite.name
      try checkUsable(name, "property")
      if name.hasPrefix("_") || !names.insert(name).inserted {
        throw GeneratorError("\(entity.name) cannot have another property named \(name)")
      }
    }
    for property in entity.properties where property.attribute?.isField != true {
      try checkUsable(property.swiftName, "property")
      if property.swiftName.hasPrefix("_") || !names.insert(property.swiftName).inserted {
        throw GeneratorError("\(entity.name) cannot have another property named \(property.swiftName)")
      }
    }
  }
}

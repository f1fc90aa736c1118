import TrellisSchema

extension Draft {
  /// The model without file offsets.
  var description: ModelDescription {
    ModelDescription(
      name: name.value, version: version, doc: doc, enums: enums.map(\.description),
      codableTypes: codableTypes.map(\.value), entities: entities.map(\.description), userInfo: userInfo)
  }
}

extension EnumDraft {
  fileprivate var description: EnumDescription {
    EnumDescription(
      name.value, rawType: rawType,
      cases: cases.map { EnumDescription.Case($0.name.value, $0.rawValue.value, doc: $0.doc) }, unknown: unknown,
      doc: doc)
  }
}

extension EntityDraft {
  fileprivate var description: EntityDescription {
    EntityDescription(
      name.value, parent: parentName?.value, isAbstract: isAbstract?.value ?? false,
      attributes: attributes.map(\.description), relationships: relationships.map(\.description),
      uniqueKeys: uniqueKeys.map { $0.value.map(\.value) },
      indexes: indexes.map { index in
        IndexDescription(
          index.value.map { IndexDescription.Element($0.value.withoutSign, descending: $0.value.isDescending) })
      },
      fetchRequests: fetchRequests.map(\.description), hooks: hooks, renamedFrom: renamedFrom?.value, doc: doc,
      userInfo: userInfo)
  }
}

extension String {
  /// Whether a sort key or an index element has the sign for descending order.
  var isDescending: Bool { utf8.first == UInt8(ascii: "-") }

  var withoutSign: String { isDescending ? String(dropFirst()) : self }
}

import TrellisMemory
import TrellisSchema
import TrellisStorage

/// A state while a document is read, with the checks that need more than one object.
struct StateLoading {
  private let document: DocumentLayout
  private(set) var state: MemoryState
  private(set) var highestKey: Int64 = 0
  /// The objects with their offsets.
  private var rows: [(row: MemoryRow, offset: Int)] = []
  private var keys: Set<Int64> = []

  private var layout: Layout { document.layout }

  init(_ document: DocumentLayout) {
    self.document = document
    state = MemoryState(document.layout)
  }

  /// - Throws: ``DocumentFault`` if another object has the same key or unique values.
  mutating func add(_ row: MemoryRow, at offset: Int, _ bytes: UnsafeBufferPointer<UInt8>) throws(DocumentFault) {
    guard keys.insert(row.key).inserted else {
      throw DocumentFault(
        "another object has the same \"_key\"", at: place(of: DocumentFormat.key, in: offset, bytes), .notUnique)
    }
    for index in layout.valueIndexesOf[row.entity] { try checkUnique(row, index, offset) }
    rows.append((row, offset))
    highestKey = max(highestKey, row.key)
    state.replace(nil, by: row, layout)
  }

  private func checkUnique(_ row: MemoryRow, _ index: Layout.ValueIndex, _ offset: Int) throws(DocumentFault) {
    guard let hash = index.hash(row) else { return }
    let root = layout.model.entities[row.entity].root
    let others = state.values[index.index].targets(hash)
    guard others.contains(where: { state.row(root, $0.key).map { index.areSame($0, row) } ?? false }) else { return }
    let entity = layout.model.entities[row.entity]
    let names = index.columns.map { document.fields[entity.index][$0].name }
    throw DocumentFault(
      "another object of \(entity.name) has the same \(names.joined(separator: ", "))", at: offset, .notUnique,
      entity: entity.name, properties: names)
  }

  // MARK: References

  /// Checks that references lead to objects of the right entity, unless their delete rule is `noAction`.
  func checkReferences(_ bytes: UnsafeBufferPointer<UInt8>) throws(DocumentFault) {
    let destinations = layout.references.map { layout.model.destination(of: $0) }
    for (row, offset) in rows {
      for reference in layout.referencesOf[row.entity] {
        guard let target = row.reference(reference.column) else { continue }
        let found = state.row(reference.targetRoot, target)
        if let found, destinations[reference.index].contains(found.entity) { continue }
        if found == nil, !reference.isChecked { continue }
        throw dangling(row, reference, offset, bytes)
      }
    }
  }

  private func dangling(
    _ row: MemoryRow, _ reference: Layout.Reference, _ offset: Int, _ bytes: UnsafeBufferPointer<UInt8>
  ) -> DocumentFault {
    let entity = layout.model.entities[row.entity]
    let name = document.fields[row.entity][reference.column].name
    let destination = entity.properties[reference.property].relationship?.description.destination ?? "its type"
    return DocumentFault(
      "\(entity.name).\(name): no object of \(destination) has this key", at: place(of: name, in: offset, bytes),
      .danglingReference, entity: entity.name, properties: [name])
  }

  // MARK: Pairs

  mutating func add(_ pair: SaveRequest.Pairs.Pair, to table: Int, at offset: Int) throws(DocumentFault) {
    let join = layout.model.joinTables[table]
    guard isObject(pair.first, of: join.first.entity), isObject(pair.partner, of: join.partnerEntity) else {
      throw DocumentFault("one end of the pair is no object of its entity", at: offset, .danglingReference)
    }
    guard !state.forward[table].contains(pair.first, pair.partner) else {
      throw DocumentFault("this pair is already in the list", at: offset, .notUnique)
    }
    state.setPair(
      table, first: pair.first, partner: pair.partner, place: pair.place, inversePlace: pair.inversePlace)
  }

  /// Checks that a relationship that is its own inverse has each pair in both directions.
  func checkSymmetry(
    of table: Int, _ offsets: [Int], _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(DocumentFault) {
    guard layout.model.joinTables[table].isSymmetric else { return }
    for offset in offsets {
      var scanner = JSONScanner(bytes, at: offset)
      let pair = try PairParser.read(&scanner)
      guard state.forward[table].contains(pair.partner, pair.first) else {
        throw DocumentFault("the same pair with \"from\" and \"to\" exchanged is missing", at: offset)
      }
    }
  }

  private func isObject(_ key: Int64, of entity: Int) -> Bool {
    let entity = layout.model.entities[entity]
    return state.row(entity.root, key).map { entity.subtree.contains($0.entity) } ?? false
  }

  // MARK: Places

  /// The offset of a key's value in an object that was read before. Only faults need it.
  private func place(of name: String, in object: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var scanner = JSONScanner(bytes, at: object)
    do throws(DocumentFault) {
      guard try scanner.open("{", "}", "an object") else { return object }
      repeat {
        if TextBytes.areEqual(try scanner.key(), name) { return scanner.offset }
        try scanner.skipValue()
      } while try scanner.goOn("}")
    } catch {}
    return object
  }
}

extension Model {
  /// The entities that a reference may lead to.
  fileprivate func destination(of reference: Layout.Reference) -> Set<Int> {
    let relationship = entities[reference.entity].properties[reference.property].relationship
    return Set(relationship.map { entities[$0.destination].subtree } ?? [])
  }
}

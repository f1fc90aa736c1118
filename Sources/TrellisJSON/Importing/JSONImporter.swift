import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage

/// One import: takes the bytes of its inputs as they come, one input after the other, and saves what is whole in batches.
///
/// Offsets go on from one input to the next, so each names one byte of the import. What waits for other objects waits until
/// the last input ends.
///
/// ```
/// bytes → ImportWindow → ElementCutter → ElementParser → records
///                                                          │ a batch of them
///                                              ImportTable finds their objects
///                                              ImportBatch sets values and partners
///                                                          │
///                                                        save
/// ```
final class JSONImporter {
  /// A batch ends after so many elements, or bytes of elements.
  private static let elementsOfBatch = 1_000
  private static let bytesOfBatch = 4 << 20
  private static let elementsOfWhole = 50_000
  /// The import is given up after so many failures; nil for no limit.
  var failureLimit: Int?

  private let context: ManagedObjectContext
  private let map: JSONMap
  private let policy: MergePolicy
  private let rejection: JSONRejection
  private let writer: ObjectWriter
  private let progress: ((JSONImportProgress) -> Void)?
  private let totalBytes: Int?

  /// Reads the elements of the input; nil before the first input.
  private var reader: (any ElementReader)?
  /// Whether there is more to read; not where the rest of an input cannot be read.
  private var isReading = false
  private var window = ImportWindow(file: nil, start: 0)
  private var isAtStart = true
  /// Whether the last element was no JSON, so that what follows it need not be told.
  private var isLastBroken = false
  private var elements = 0
  /// The elements of the batch, in the window, with their first records.
  private var batch: [(element: ImportElement, records: [ImportRecord])] = []
  /// The records that wait for objects which have not come yet, by their own key.
  private var waiting: [ImportKey: [ImportRecord]] = [:]
  /// The elements of which records wait, or have links to objects that have not come yet. An element holds its records.
  private var open: [ImportRecord] = []
  private var openRoots: Set<ObjectIdentifier> = []
  private let openLinks = OpenLinks()
  private let lost: LostObjects
  /// The keys of objects that were deleted, because they have no owner any more.
  private var deletedKeys: [Int64] = []
  /// The objects of batches that are not saved yet.
  private var unsavedTargets: [ImportTarget] = []
  /// The objects that the one save at the end deletes.
  private var deletedWithAll: [ManagedObject] = []
  /// The places of values that may be needed after their bytes are gone, by offset.
  private var keptPlaces: [Int: JSONPlace] = [:]
  private var suspectValues: [ObjectIdentifier: SuspectValues] = [:]
  /// The records of objects that are not saved yet, by the keys of the objects.
  private var unsaved: [Int64: ImportRecord] = [:]
  private var report = JSONImportReport()

  init(
    into context: ManagedObjectContext, _ policy: MergePolicy, _ rejection: JSONRejection, totalBytes: Int?,
    _ progress: ((JSONImportProgress) -> Void)?
  ) throws {
    self.context = context
    self.policy = policy
    self.rejection = rejection
    self.progress = progress
    self.totalBytes = totalBytes
    do throws(JSONMappingFault) { map = try JSONMap(context.model) } catch {
      throw JSONImportError(message: error.message, failures: [])
    }
    lost = LostObjects(map)
    writer = ObjectWriter(context)
    if context.hasChanges {
      throw JSONImportError(
        message:
          "The context has unsaved changes, which an import would save along with its own: save them, or import in another context.",
        failures: [])
    }
  }

  /// An input as the mapping of the model reads it.
  struct Part {
    fileprivate let reader: any ElementReader
    fileprivate let file: String?
  }

  /// Checks what is known of an input before it is read.
  func part(
    of entity: Int, named file: String?, at path: String?, _ layout: JSONLayout, _ makeReader: JSONInput.ReaderMaking?
  ) throws -> Part {
    do throws(JSONMappingFault) {
      let entity = try map.map(of: entity)
      if let makeReader { return Part(reader: makeReader(map, entity), file: file) }
      return Part(reader: JSONElementReader(try Self.path(path, layout), entity, map), file: file)
    } catch {
      throw JSONImportError(message: error.message, failures: [])
    }
  }

  private static func path(_ text: String?, _ layout: JSONLayout) throws(JSONMappingFault) -> ElementCutter.Path {
    if layout == .lines {
      if text == nil { return .lines }
      throw JSONMappingFault("The elements of lines are the lines: leave out the path.")
    }
    guard let text else { return .root }
    do throws(JSONPathFault) {
      let path = try JSONPath(text)
      for step in path.steps {
        switch step {
        case .name, .elements, .element: break
        case .entries, .matching, .enclosing, .key, .value:
          throw JSONPathFault(message: "the path to the elements has keys, '[*]' and positions only")
        }
      }
      return .steps(path.steps)
    } catch {
      throw JSONMappingFault("The path '\(text)' leads to no elements: \(error.message).")
    }
  }

  // MARK: Bytes

  /// Ends the input before, if there is one, and begins another one.
  func begin(_ part: Part) throws {
    try cut(isWhole: true)
    report.emptyRows += reader?.emptyRows ?? 0
    if !batch.isEmpty { try saveBatch(isLast: false) }
    reader = part.reader
    isReading = true
    window = ImportWindow(file: part.file, start: window.start + window.bytes.count)
    isAtStart = true
    isLastBroken = false
  }

  /// Takes the next bytes of the input.
  func feed(_ bytes: some Sequence<UInt8>) throws {
    guard isReading else { return }
    window.append(bytes)
    try cut(isWhole: false)
  }

  /// Ends the last input, and imports what has waited for other objects.
  func finish() throws -> JSONImportReport {
    try cut(isWhole: true)
    report.emptyRows += reader?.emptyRows ?? 0
    try saveBatch(isLast: true)
    if rejection == .everything { try saveEverything() }
    while !lost.isEmpty { try deleteLost() }
    tellProgress()
    report.settle(deleting: deletedKeys)
    return report
  }

  private func cut(isWhole: Bool) throws {
    guard let reader, isReading, skipMark(isWhole: isWhole) else { return }
    while true {
      let found: ImportElement?
      do throws(DocumentFault) {
        found = try next(reader, isWhole: isWhole)
      } catch {
        isReading = false
        if !isLastBroken { noteSyntax(error, at: window.start + error.offset, in: nil) }
        return
      }
      guard let found else { return }
      parse(found, reader)
      let limit = rejection == .everything ? Self.elementsOfWhole : Self.elementsOfBatch
      if batch.count >= limit || found.range.upperBound >= Self.bytesOfBatch { try saveBatch(isLast: false) }
    }
  }

  private func next(_ reader: any ElementReader, isWhole: Bool) throws(DocumentFault) -> ImportElement? {
    // A closure that throws a typed error is not rethrown as one by all functions of the library.
    var fault: DocumentFault?
    let found = window.bytes.withUnsafeBufferPointer { bytes -> ImportElement? in
      do throws(DocumentFault) {
        return try reader.next(bytes, isWhole: isWhole)
      } catch {
        fault = error
        return nil
      }
    }
    if let fault { throw fault }
    return found
  }

  /// Skips a byte order mark. Returns false if more bytes are needed to tell.
  private func skipMark(isWhole: Bool) -> Bool {
    guard isAtStart else { return true }
    guard window.bytes.count >= 4 || isWhole else { return false }
    isAtStart = false
    if window.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { window.drop(3) }
    return true
  }

  private func parse(_ element: ImportElement, _ reader: any ElementReader) {
    let base = window.start + element.range.lowerBound
    var fault: DocumentFault?
    let records = window.bytes[element.range].withUnsafeBufferPointer { bytes -> [ImportRecord] in
      do throws(DocumentFault) {
        return try reader.records(bytes, base: base)
      } catch {
        fault = error
        return []
      }
    }
    elements += 1
    isLastBroken = fault != nil
    if let fault { noteSyntax(fault, at: base + fault.offset, in: element) }
    batch.append((element, records))
  }

  private func noteSyntax(_ fault: DocumentFault, at offset: Int, in element: ImportElement?) {
    report.rejected.append(
      JSONImportFailure(
        code: .badSyntax, place: window.place(ofFault: offset, in: element, reader), entity: "", property: nil,
        message: fault.what))
  }

  // MARK: Batches

  private func saveBatch(isLast: Bool) throws {
    let elements = batch
    batch = []
    var records = elements.flatMap(\.records)
    if isLast { records = takeOpen() + records }
    try run(records, elements.map(\.element), isLast: isLast)
    let done = reader?.offset ?? 0
    window.drop(done)
    reader?.drop(done)
    tellProgress()
    if let failureLimit, report.rejected.count >= failureLimit { try giveUp(report.rejected) }
  }

  private func run(_ records: [ImportRecord], _ elements: [ImportElement], isLast: Bool) throws {
    if records.isEmpty, !isLast || lost.isEmpty { return }
    let batch = ImportBatch(
      records, in: context, map, writer, policy, openLinks, lost, isLast: isLast,
      isSavedEarly: !isLast && rejection == .objects)
    let finder = PlaceFinder(window, elements, reader)
    // Records and targets refer to each other.
    defer { for record in batch.records { record.target = nil } }
    try batch.carryOut(pulling: pull)
    note(batch, finder)
    let deleted = batch.deleted + (isLast ? try lost.delete(Self.mostDeletedAtOnce, in: context) : [])
    if rejection == .objects { try save(batch, deleted, finder) } else { keepPlaces(of: batch, deleted, finder) }
    for target in batch.table.targets { finish(target) }
    if rejection == .objects { count(batch.table.targets) } else { unsavedTargets += batch.table.targets }
  }

  /// The records that have waited for a key which comes again, with what is nested in them.
  private func pull(_ key: ImportKey) -> [ImportRecord] {
    var all: [ImportRecord] = []
    for record in waiting.removeValue(forKey: key) ?? [] { record.appendAll(to: &all) }
    return all.filter { $0.doneKey == nil && !$0.isRejected && $0.target == nil }
  }

  /// Notes what a batch has found, with the places of it as long as the bytes are there.
  private func note(_ batch: ImportBatch, _ finder: PlaceFinder) {
    let told = batch.failures + batch.unresolved
    finder.find(told.lazy.map(\.problem.offset))
    finder.find(told.lazy.map(\.record.start))
    for (record, problem) in batch.failures { report.rejected.append(failure(problem, record, finder)) }
    for (record, problem) in batch.unresolved { report.unresolved.append(failure(problem, record, finder)) }
    var kept = KeptRecords()
    for group in batch.waiting {
      kept.offsets += group.problems.map(\.offset)
      for record in group.records { kept.add(record, waits: true) }
    }
    for record in batch.records where !record.openLinks.isEmpty && record.doneKey == nil { kept.add(record) }
    keep(kept, finder)
  }

  /// The records that are carried out later, or have links that are.
  private struct KeptRecords {
    var records: [(record: ImportRecord, waits: Bool)] = []
    /// The offsets of which the places may be needed then.
    var offsets: [Int] = []

    mutating func add(_ record: ImportRecord, waits: Bool = false) {
      records.append((record, waits))
      offsets.append(record.start)
      for case let (number, link?) in record.links.enumerated() where waits || record.openLinks.contains(number) {
        offsets.append(link.offset)
        for case .reference(_, let offset) in link.members { offsets.append(offset) }
      }
    }
  }

  private func keep(_ kept: KeptRecords, _ finder: PlaceFinder) {
    finder.find(kept.offsets)
    for offset in kept.offsets where keptPlaces[offset] == nil { keptPlaces[offset] = finder.place(offset) }
    for (record, waits) in kept.records {
      let root = record.root
      if openRoots.insert(ObjectIdentifier(root)).inserted { open.append(root) }
      if waits, let key = record.ownKey { waiting[key, default: []].append(record) }
    }
  }

  private func place(_ offset: Int, _ finder: PlaceFinder?) -> JSONPlace? {
    finder?.place(offset) ?? keptPlaces[offset]
  }

  private func failure(
    _ problem: ImportProblem, _ record: ImportRecord, _ finder: PlaceFinder
  ) -> JSONImportFailure {
    JSONImportFailure(
      code: problem.code, place: place(problem.offset, finder) ?? place(record.start, finder),
      entity: record.map.entity.name,
      property: problem.field.map { record.map.fields[$0].attribute.name } ?? problem.property,
      message: problem.message, key: problem.key)
  }

  // MARK: Saving

  /// Whether a save may unite a new object with one that another writer has inserted meanwhile: by the key of the mapping
  /// only, by which the import would have found it.
  private func unites(_ entity: Int, _ key: UniqueKey) -> Bool { map.entities[entity]?.key == key }

  private func save(_ batch: ImportBatch, _ deleted: [ManagedObject], _ finder: PlaceFinder) throws {
    let discarded = try context.saveValidChanges(mergePolicy: policy, unites: unites) {
      try batch.giveBack()
      for target in batch.table.targets { try target.compare() }
    }
    noteDeleted(deleted)
    if discarded.isEmpty { return }
    let targets = Dictionary(
      batch.table.targets.compactMap { target in target.object.map { (AnyObjectID($0), target) } },
      uniquingKeysWith: { first, _ in first })
    var isAnyHeld = false
    var refused: [(ValidationFailure, ImportRecord?)] = []
    for change in discarded {
      let target = targets[change.object]
      target?.isRefused = true
      // The values may become free in a later batch. What depends on such an object waits as well.
      let mayBeFreed = change.failures.contains { $0.rule == .unique || isAnyHeld && $0.rule.isAboutPartners }
      if let target, !batch.isLast, mayBeFreed, !target.records.isEmpty {
        isAnyHeld = true
        target.isHeld = true
        continue
      }
      for record in target?.records ?? [] { record.isRejected = true }
      refused += change.failures.map { ($0, target?.records.last) }
    }
    finder.find(refused.compactMap { Self.offset(of: $0, $1) })
    report.rejected += refused.map { failure($0, $1, finder) }
    batch.loseMembersOfRefused()
    guard isAnyHeld else { return }
    var kept = KeptRecords()
    for target in batch.table.targets where target.isHeld {
      for record in target.records where !record.isRejected {
        kept.add(record, waits: true)
        kept.offsets += record.offsets.filter { $0 >= 0 }
      }
    }
    for record in batch.keepLinksToHeld() { kept.add(record) }
    keep(kept, finder)
  }

  private func noteDeleted(_ objects: [ManagedObject]) {
    for object in objects where object.isDeleted {
      deletedKeys.append(object._key)
      report.deleted.append(object, type(of: object)._entity)
    }
  }

  /// So many objects without an owner are deleted in one save.
  private static let mostDeletedAtOnce = 10_000

  /// Deletes more objects that have lost their owners.
  private func deleteLost() throws {
    let deleted = try lost.delete(Self.mostDeletedAtOnce, in: context)
    for change in try context.saveValidChanges(mergePolicy: policy, unites: unites, willTry: {}) {
      report.rejected += change.failures.map { failure($0, nil, nil) }
    }
    noteDeleted(deleted)
  }

  /// The offset of a property that breaks a rule, or of the object, if the input has it not.
  private static func offset(of failure: ValidationFailure, _ record: ImportRecord?) -> Int? {
    guard let record else { return nil }
    // A unique key may have several properties.
    let names = failure.rule == .unique ? failure.property.split(separator: ", ").map(String.init) : [failure.property]
    let fields = record.map.fields.indices.filter { names.contains(record.map.fields[$0].attribute.name) }
    let links = record.map.links.indices.filter { names.contains(record.map.links[$0].relationship.name) }
    return fields.map { record.offsets[$0] }.first { $0 >= 0 } ?? links.compactMap { record.links[$0]?.offset }.first
      ?? record.start
  }

  private func failure(
    _ failure: ValidationFailure, _ record: ImportRecord?, _ finder: PlaceFinder?
  ) -> JSONImportFailure {
    let offset = Self.offset(of: failure, record)
    return JSONImportFailure(
      code: failure.rule == .unique ? .unique : .brokenRule,
      place: offset.flatMap { place($0, finder) } ?? (record?.start).flatMap { place($0, finder) },
      entity: failure.entity,
      property: failure.property.isEmpty ? nil : failure.property, message: failure.message)
  }

  private func keepPlaces(of batch: ImportBatch, _ deleted: [ManagedObject], _ finder: PlaceFinder) {
    deletedWithAll += deleted
    for target in batch.table.targets {
      guard let object = target.object, let record = target.records.last else { continue }
      unsaved[object._key] = record
    }
    var offsets: [Int] = []
    for case let record? in batch.table.targets.map(\.records.last) {
      offsets.append(record.start)
      offsets += suspects(of: record.map).offsets(in: record)
    }
    finder.find(offsets)
    for offset in offsets where keptPlaces[offset] == nil { keptPlaces[offset] = finder.place(offset) }
  }

  private func suspects(of map: EntityMap) -> SuspectValues {
    if let known = suspectValues[ObjectIdentifier(map)] { return known }
    let found = SuspectValues(map)
    suspectValues[ObjectIdentifier(map)] = found
    return found
  }

  private func saveEverything() throws {
    if !report.rejected.isEmpty { try giveUp(report.rejected) }
    do {
      deletedWithAll += try lost.delete(.max, in: context)
      for target in unsavedTargets { try target.compare() }
      try context.save(mergePolicy: policy, unites: unites)
    } catch let refusal as ValidationError {
      try giveUp(refusal.failures.map { self.failure($0, unsaved[$0.key], nil) })
    }
    noteDeleted(deletedWithAll)
    count(unsavedTargets)
  }

  private func giveUp(_ failures: [JSONImportFailure]) throws {
    throw JSONImportError(
      message: "\(failures.count) problem\(failures.count == 1 ? "" : "s") in the input, so nothing was imported:",
      failures: failures)
  }

  /// Marks the records of an object as carried out.
  private func finish(_ target: ImportTarget) {
    guard let object = target.object, !target.isRefused else { return }
    for record in target.records where !record.isRejected && record.doneKey == nil {
      record.doneKey = object._key
      target.isMet = true
    }
    target.records = []
  }

  /// Counts what a save has done.
  private func count(_ targets: [ImportTarget]) {
    for target in targets where !target.isRefused && (target.isMet || target.isChanged) {
      guard let object = target.object, !object.isDeleted else { continue }
      let entity = type(of: object)._entity
      if let survivor = object.survivor {
        // Another writer has inserted the object meanwhile.
        if policy == .rollback {
          report.unchanged.append(survivor, entity)
        } else {
          report.updated.append(survivor, entity)
        }
      } else if target.isNew {
        report.inserted.append(object, entity)
      } else if target.isChanged {
        report.updated.append(object, entity)
      } else {
        report.unchanged.append(object, entity)
      }
    }
  }

  // MARK: The end

  /// Takes the records that have waited for objects that come later, or have links to such objects.
  private func takeOpen() -> [ImportRecord] {
    waiting = [:]
    var all: [ImportRecord] = []
    for root in open { root.appendAll(to: &all) }
    open = []
    openRoots = []
    return all
  }

  private func tellProgress() {
    progress?(
      JSONImportProgress(bytes: window.start + (reader?.offset ?? 0), totalBytes: totalBytes, elements: elements))
  }
}

extension ValidationFailure.Rule {
  /// Whether an object breaks the rule because of a partner that it has or lacks.
  fileprivate var isAboutPartners: Bool {
    switch self {
    case .required, .minimumCount, .deletedPartner: true
    default: false
    }
  }
}

/// The values of an entity that the save at the end may refuse, whose bytes are gone by then. The places of all values would take
/// more memory than the objects.
private struct SuspectValues {
  /// The fields with rules of their own.
  private let checked: [(field: Int, rules: CheckedAttribute)]
  /// The fields of unique keys by which no object is found.
  private let unique: [Int]
  /// The links with a number of members that is bounded.
  private let counted: [Int]

  init(_ map: EntityMap) {
    let keys = Set(map.entity.uniqueKeys.filter { $0 != map.key }.flatMap(\.properties))
    checked = map.fields.enumerated().compactMap { field, found in
      CheckedAttribute(found.attribute).map { (field, $0) }
    }
    unique = map.fields.indices.filter { keys.contains(map.fields[$0].attribute.index) }
    counted = map.links.indices.filter { number in
      let relationship = map.links[number].relationship
      return relationship.isRequired || relationship.minimumCount != nil || relationship.maximumCount != nil
        || keys.contains(relationship.index)
    }
  }

  func offsets(in record: ImportRecord) -> [Int] {
    var offsets = unique.map { record.offsets[$0] }
    for (field, rules) in checked {
      if let value = record.values[field], !rules.failures(of: value).isEmpty { offsets.append(record.offsets[field]) }
    }
    offsets += counted.compactMap { record.links[$0]?.offset }
    return offsets.filter { $0 >= 0 }
  }
}

/// Finds the places of offsets, from the bytes of a batch.
private final class PlaceFinder {
  private let window: ImportWindow
  private let elements: [ImportElement]
  private let reader: (any ElementReader)?
  private var places: [Int: JSONPlace] = [:]

  init(_ window: ImportWindow, _ elements: [ImportElement], _ reader: (any ElementReader)?) {
    self.reader = reader
    self.window = window
    self.elements = elements
  }

  /// Finds the places of offsets, all in one pass. Those that are in none of the elements have none.
  func find(_ offsets: some Sequence<Int>) {
    guard let first = elements.first, let last = elements.last else { return }
    let range = window.start + first.range.lowerBound..<window.start + last.range.upperBound
    let wanted = Set(offsets).filter { range.contains($0) && places[$0] == nil }.sorted()
    for (offset, place) in zip(wanted, window.places(of: wanted, in: elements, reader)) { places[offset] = place }
  }

  /// The place of an offset that was looked for.
  func place(_ offset: Int) -> JSONPlace? { places[offset] }
}

/// A keyed archive in a binary property list: objects with a class name and values by key.
///
/// Nothing is instantiated by the names of classes in the archive; they are only compared.
struct KeyedArchive {
  fileprivate let plist: BinaryPlist
  /// The number in the property list of each object of the archive.
  fileprivate let objects: [Int]
  private let tops: BinaryPlist.Object

  /// - Throws: ``ArchiveFault``.
  /// - Complexity: linear in the number of bytes.
  init(_ bytes: [UInt8]) throws(ArchiveFault) {
    guard let archive = KeyedArchive(try BinaryPlist(bytes)) else { throw ArchiveFault("it is no keyed archive") }
    self = archive
  }

  /// Returns nil if the list is no archive.
  init?(_ plist: BinaryPlist) {
    guard let top = plist[plist.top], case .array(let objects)? = plist.value("$objects", of: top),
      let tops = plist.value("$top", of: top), case .dictionary = tops
    else { return nil }
    self.plist = plist
    self.objects = objects
    self.tops = tops
  }

  /// The archived object: the one with the key `root`, or the only one.
  var root: ArchiveNode? {
    if let root = plist.value("root", of: tops) { return ArchiveNode(self, root) }
    guard case .dictionary(_, let values) = tops, let first = values.first, values.count == 1 else { return nil }
    return plist[first].map { ArchiveNode(self, $0) }
  }

  /// The number of objects.
  var count: Int { objects.count }
}

/// An object of a keyed archive. References are followed when a node is made.
struct ArchiveNode {
  private let archive: KeyedArchive
  private let object: BinaryPlist.Object
  /// The number among the archive's objects, which tells the same object again; nil for a value in place.
  let number: Int?

  fileprivate init(_ archive: KeyedArchive, _ object: BinaryPlist.Object) {
    self.archive = archive
    guard case .uid(let number) = object else {
      self.object = object
      self.number = nil
      return
    }
    self.number = number
    let target = archive.objects.indices.contains(number) ? archive.plist[archive.objects[number]] : nil
    // Number 0 stands for nil. A reference to a reference is none.
    if number == 0 {
      self.object = .null
    } else if case .uid? = target {
      self.object = .null
    } else {
      self.object = target ?? .null
    }
  }

  // MARK: Plain values

  var isNull: Bool {
    if case .null = object { return true }
    return number == 0
  }

  var string: String? {
    if case .string(let text) = object { return text }
    return self["NS.string"]?.plainString
  }

  private var plainString: String? {
    if case .string(let text) = object { text } else { nil }
  }

  var integer: Int64? {
    switch object {
    case .integer(let value): value
    case .bool(let flag): flag ? 1 : 0
    case .real(let value): Int64(exactly: value)
    default: nil
    }
  }

  var bool: Bool? { integer.map { $0 != 0 } }

  var real: Double? {
    switch object {
    case .integer(let value): Double(value)
    case .unsigned(let value): Double(value)
    case .real(let value): value
    default: nil
    }
  }

  var data: [UInt8]? {
    if case .data(let bytes) = object { return bytes }
    if case .data(let bytes)? = self["NS.data"]?.object { return bytes }
    return nil
  }

  /// The value as the property list has it.
  var plain: BinaryPlist.Object { object }

  // MARK: Objects

  /// The value of a key; nil if there is none.
  subscript(_ key: String) -> ArchiveNode? {
    archive.plist.value(key, of: object).map { ArchiveNode(archive, $0) }
  }

  /// The keys of the object's values.
  var keys: [String] {
    guard case .dictionary(let keys, _) = object else { return [] }
    return keys.compactMap { if case .string(let key)? = archive.plist[$0] { key } else { nil } }
  }

  /// The name of the object's class; nil for a plain value.
  var className: String? { self["$class"]?["$classname"]?.plainString }

  /// The names of the object's class and of its parents, as the archive lists them.
  var classNames: [String] {
    guard let list = self["$class"]?["$classes"], case .array(let numbers) = list.object else {
      return className.map { [$0] } ?? []
    }
    return numbers.compactMap { number in
      archive.plist[number].flatMap { ArchiveNode(archive, $0).plainString }
    }
  }

  /// Whether the object is of a class with one of these names, or of a subclass.
  func isKind(of names: String...) -> Bool { classNames.contains(where: names.contains) }

  // MARK: Collections

  // Classes with many names archive the same few forms, so that a collection is known by its keys.

  /// The elements of an array, a set or an ordered set; nil if the object is none.
  var elements: [ArchiveNode]? {
    if let list = self["NS.objects"] { return self["NS.keys"] == nil ? list.listed : nil }
    return listed ?? (self["NS.key.0"] == nil ? numbered("NS.object.") : nil)
  }

  /// The entries of a dictionary; nil if the object is none.
  var entries: [(key: ArchiveNode, value: ArchiveNode)]? {
    if self["searchMapping"] != nil { return knownKeysEntries }
    if self["NS.key.0"] != nil {
      return Self.entries(numbered("NS.key."), numbered("NS.object."))
    }
    return Self.entries(self["NS.keys"]?.listed, self["NS.objects"]?.listed)
  }

  /// The entries of Core Data's own dictionary, whose keys are those of a mapping that several may share. A key without
  /// a value has the token for an empty place.
  private var knownKeysEntries: [(key: ArchiveNode, value: ArchiveNode)]? {
    let empty = self["emptyToken"]?.string
    return Self.entries(self["searchMapping"]?["keys"]?.elements, self["values"]?.elements)?.filter { entry in
      empty == nil || entry.value.string != empty
    }
  }

  private static func entries(
    _ keys: [ArchiveNode]?, _ values: [ArchiveNode]?
  ) -> [(key: ArchiveNode, value: ArchiveNode)]? {
    guard let keys, let values, keys.count == values.count else { return nil }
    return zip(keys, values).map { (key: $0, value: $1) }
  }

  /// The nodes of a plain list.
  private var listed: [ArchiveNode]? {
    guard case .array(let numbers) = object else { return nil }
    return nodes(numbers)
  }

  /// The values of the keys with a number behind a name, `NS.object.0`, `NS.object.1` and so on; nil if there are none.
  private func numbered(_ name: String) -> [ArchiveNode]? {
    guard case .dictionary(let keys, let values) = object else { return nil }
    var places: [Int: Int] = [:]
    for (key, value) in zip(keys, values) {
      guard case .string(let text)? = archive.plist[key], text.hasPrefix(name),
        let place = Int(text.dropFirst(name.count))
      else { continue }
      places[place] = value
    }
    return places.isEmpty ? nil : nodes(places.keys.sorted().compactMap { places[$0] })
  }

  private func nodes(_ numbers: [Int]) -> [ArchiveNode] {
    numbers.compactMap { archive.plist[$0] }.map { ArchiveNode(archive, $0) }
  }
}

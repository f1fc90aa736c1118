/// The expressions of derived attributes, as far as they were asked for.
final class Derivations: Sendable {
  private let known = Locked<[UInt64: CheckedValue]>([:])
  /// The derived attributes whose expressions are being checked, each of which the next one is part of.
  @TaskLocal private static var open: [UInt64] = []
  /// The greatest number of them, so that a long chain does not overflow the stack of a small thread.
  private static let limit = 64

  /// The expression of a derived attribute of an entity.
  ///
  /// - Throws: ``PredicateFormatError`` if it is no expression over the entity's properties, or is derived from itself.
  func value(_ attribute: Attribute, _ text: String, in model: Model) throws(PredicateFormatError) -> CheckedValue {
    let number = UInt64(attribute.entity) << 32 | UInt64(attribute.index)
    if let found = known.withLock({ $0[number] }) { return found }
    if Self.open.contains(number) {
      throw PredicateFormatError(.tooDeep, "'\(attribute.name)' is derived from itself.", in: text, at: 0)
    }
    guard Self.open.count < Self.limit else {
      throw PredicateFormatError(
        .tooDeep, "'\(attribute.name)' follows from a chain of more than \(Self.limit) derived attributes.", in: text,
        at: 0)
    }
    let made: Result<CheckedValue, PredicateFormatError> = Self.$open.withValue(Self.open + [number]) {
      do throws(PredicateFormatError) {
        return .success(try CheckedValue(text, of: attribute.entity, in: model))
      } catch {
        return .failure(error)
      }
    }
    let value = try made.get()
    guard !PredicateNode.operand(value.operand).hasParameter else {
      throw PredicateFormatError(.missingArgument, "The expression of an attribute has no variables.", in: text, at: 0)
    }
    let kept = attribute.description.storesDerivation ? value.stored(in: attribute) : value
    known.withLock { $0[number] = kept }
    return kept
  }
}

extension Model {
  /// The expression of a derived attribute, over the object that has it; nil for another attribute.
  ///
  /// - Throws: ``PredicateFormatError`` if it is no expression over the entity's properties, or is derived from itself.
  package func derivation(of attribute: Attribute) throws(PredicateFormatError) -> CheckedValue? {
    guard let text = attribute.description.derivation else { return nil }
    return try derivations.value(attribute, text, in: self)
  }
}

extension Model {
  /// The facts that a store depends on which keeps the values of stored derived attributes: those of
  /// ``storageSignature``, and the whole expression of each such attribute.
  ///
  /// - Complexity: that of ``storageSignature``, and linear in the expressions.
  package var signatureWithDerivations: String {
    guard hasStoredDerivations else { return storageSignature }
    let lines = entities.flatMap { entity in entity.storedDerivations.map { derivationLine($0, of: entity) } }
    return ([storageSignature] + lines).joined(separator: "\n")
  }

  private func derivationLine(_ attribute: Attribute, of entity: Entity) -> String {
    let value = try? derivation(of: attribute)
    let text = value?.operand.computedThroughout.formatText(of: entity.index, in: self) ?? ""
    let line = text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\n")
    return "derived \(entity.name).\(attribute.name): \(attribute.type.spelling), \(line)"
  }
}

extension Entity {
  /// The stored derived attributes that the entity itself declares.
  package var storedDerivations: [Attribute] {
    properties.compactMap(\.attribute).filter { $0.entity == index && $0.description.storesDerivation }
  }
}

extension CheckedValue {
  /// The type of an attribute with the value; nil if no attribute can have it.
  package var attributeType: AttributeType? {
    switch type {
    case .integer: .int64
    case .real: .double
    case .decimal: .decimal
    case .text: .string
    case .bool: .bool
    case .date: .date
    case .data: .data
    case .uuid: .uuid
    case .url: .url
    case .enumeration(let name): name.map { .enumeration($0) }
    case .entity, .object, .json: nil
    }
  }

  /// Whether the value depends on the calendar of the program.
  package var dependsOnCalendar: Bool { PredicateNode.operand(operand).dependsOnCalendar }

  /// Whether the value depends on the moment at which it is asked for.
  package var dependsOnTime: Bool { PredicateNode.operand(operand).dependsOnTime }
}

extension PredicateNode {
  fileprivate var hasParameter: Bool {
    if case .operand(.parameter) = self { return true }
    return hasPart { $0.hasParameter }
  }

  fileprivate var dependsOnCalendar: Bool {
    if case .operand(.computed(.date(let function, _))) = self, function.calendar == nil { return true }
    return hasPart { $0.dependsOnCalendar }
  }

  fileprivate var dependsOnTime: Bool {
    if case .operand(.now) = self { return true }
    return hasPart { $0.dependsOnTime }
  }
}

extension Operand {
  /// Whether every object of an entity has a value.
  ///
  /// Arithmetic never counts as such, because a result beyond all bounds is nil.
  package func isNeverNil(for entity: Entity) -> Bool {
    switch self {
    case .value(let value): return !value.isNull
    case .now, .count, .computed(.countWhere): return true
    case .entity(let path): return path.count == 0
    case .path(let path):
      // A required to-one has a partner at each save, but not before.
      guard path.variable == 0, let step = path.onlyStep else { return path.variable == 0 && path.count == 0 }
      return entity.properties[step].attribute.map { !$0.isOptional } ?? false
    case .computed(.function(let function, let inner)):
      switch function {
      case .lowercase, .uppercase, .length, .decimal, .real, .text: return inner.isNeverNil(for: entity)
      default: return false
      }
    case .computed(.arithmetic(.concatenate, let left, let right)), .computed(.conditional(_, let left, let right)):
      return left.isNeverNil(for: entity) && right.isNeverNil(for: entity)
    case .computed(.stored(_, let inner)): return inner.isNeverNil(for: entity)
    case .parameter, .computed: return false
    }
  }
}

/// The number of an entity as a type, so that each number has its own instance of ``DynamicEntity``.
///
/// The binary digits of the number are nested generic types, so any number has a type, and none of them has to be
/// written down: 5 is `TwiceAndOne<Twice<TwiceAndOne<Zero>>>`.
package protocol EntityNumber: SendableMetatype {
  static var value: Int { get }
}

enum Zero: EntityNumber {
  static var value: Int { 0 }
}

enum Twice<Half: EntityNumber>: EntityNumber {
  static var value: Int { Half.value << 1 }
}

enum TwiceAndOne<Half: EntityNumber>: EntityNumber {
  static var value: Int { Half.value << 1 | 1 }
}

extension EntityNumber {
  fileprivate static var twice: any EntityNumber.Type { Twice<Self>.self }
  fileprivate static var twiceAndOne: any EntityNumber.Type { TwiceAndOne<Self>.self }
  fileprivate static var entityClass: DynamicObject.Type { DynamicEntity<Self>.self }
}

/// The classes of entities by number. Every model uses the same ones.
enum EntityClasses {
  /// - Complexity: linear in the number of digits. The type is created on first use, and never freed.
  static func entityClass(of number: Int) -> DynamicObject.Type { type(of: number).entityClass }

  private static func type(of number: Int) -> any EntityNumber.Type {
    if number <= 0 { return Zero.self }
    let half = type(of: number >> 1)
    return number & 1 == 0 ? half.twice : half.twiceAndOne
  }
}

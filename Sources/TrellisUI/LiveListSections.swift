@_spi(Generated) import TrellisModel
@_spi(Generated) import TrellisRuntime
public import Trellis
public import TrellisStorage

/// What the sections of a list are made by.
///
/// ```swift
/// LiveListController(EmotionDiary.all, sections: .by { $0.emotion }, in: context)             // values
/// LiveListController(EmotionDiary.all, sections: .by { $0.createdAt.month() }, in: context)   // periods of a date
/// LiveListController(Tag.all, sections: .by { $0.name.initial(in: .current) }, in: context)   // an index of names
/// ```
/// The order of the sections is that of `ManagedObjectContext.live(_:sectionedBy:)`.
public struct LiveListSections<Columns: EntityColumns, SectionValue: Hashable & Sendable>: Equatable {
  let open: (FetchRequest<Columns>, ManagedObjectContext) throws -> LiveSections<Columns, SectionValue>
  /// What tells it from others.
  private let key: AnyHashable

  /// Whether both make the same sections.
  public static func == (left: LiveListSections, right: LiveListSections) -> Bool { left.key == right.key }

  /// Sections of the objects with the same value of an attribute.
  public static func by(
    _ section: (Columns) -> AttributePath<SectionValue>
  ) -> LiveListSections where SectionValue: SortableAttributeValue {
    let value = section(columns)
    return LiveListSections(
      open: { request, context in try context.live(request, sectionedBy: { _ in value }) }, key: value.ascending)
  }

  /// Sections of the objects with the same computed value.
  public static func by<Value: OrderedAttributeValue>(
    _ section: (Columns) -> ComputedValue<Value>
  ) -> LiveListSections where SectionValue == Value.Unwrapped? {
    let value = section(columns)
    return LiveListSections(
      open: { request, context in try context.live(request, sectionedBy: { _ in value }) }, key: value.ascending)
  }

  /// Sections of the objects in the same period of a date: a day, a month, a year.
  public static func by(_ section: (Columns) -> PeriodValue<SectionValue>) -> LiveListSections {
    let value = section(columns)
    return LiveListSections(
      open: { request, context in try context.live(request, sectionedBy: { _ in value }) }, key: value.ascending)
  }

  /// Sections by the initials of a text, as a language lists names: an index. The objects are in the order of the language.
  public static func by(
    _ section: (Columns) -> InitialValue
  ) -> LiveListSections where SectionValue == String? {
    let value = section(columns)
    return LiveListSections(
      open: { request, context in try context.live(request, sectionedBy: { _ in value }) }, key: value)
  }

  private static var columns: Columns { Columns(PropertyPath(variable: 0)) }
}

import TrellisDynamic
import TrellisModel
import TrellisRuntime
import TrellisTimeTravel

/// The properties of an object that differ between two moments, with what they were and became.
struct DifferenceView {
  private static let mostLetters = 400
  private static let mostPartners = 20

  private let difference: ObjectDifference
  private let site: Site
  private let model: Model

  init(_ difference: ObjectDifference, _ site: Site, _ model: Model) {
    self.difference = difference
    self.site = site
    self.model = model
  }

  var table: HTML {
    let rows = difference.properties.map { change -> HTML in
      "<tr><td class=name>\(change.name)</td><td class=value>\(contents(of: change))</td></tr>\n"
    }
    return "<table class=object>\n\(rows)</table>\n"
  }

  private func contents(of change: ObjectDifference.PropertyDifference) -> HTML {
    let former: HTML? = change.former.map { "<del>\(html($0, change.name))</del>" }
    let latter: HTML? = change.latter.map { "<ins>\(html($0, change.name))</ins>" }
    guard let former, let latter else { return former ?? latter ?? "<span class=nothing>not kept</span>" }
    return "\(former) → \(latter)"
  }

  private func html(_ content: ObjectDifference.Content, _ name: String) -> HTML {
    if content.isEmpty { return "<span class=nothing>nil</span>" }
    switch content {
    case .value(let value):
      let attribute = model.entity(named: difference.id.entity)?.property(named: name)?.attribute
      return "\(attribute.map { ValueText($0).shortText(value, length: Self.mostLetters) } ?? "")"
    case .objects(let objects):
      let links = objects.prefix(Self.mostPartners).enumerated().map { place, id -> HTML in
        "\(place == 0 ? "" : ", ")\(site.pastLink(id))"
      }
      return "\(links)\(objects.count > Self.mostPartners ? ", …" : "")"
    }
  }
}

extension Site {
  /// A link to what happened to an object, which is there for deleted ones as well.
  func pastLink(_ id: AnyObjectID) -> HTML {
    "<a href=\"\(address("past", id.entity, "\(id.key)"))\">\(id.description)</a>"
  }
}

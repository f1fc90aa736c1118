public import TrellisRuntime

/// What became of an object that was to be as it was.
public struct Restoration {
  /// What was not restored, and stays as it is.
  public struct Loss: Hashable, Sendable {
    /// Why something was not restored.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
      /// The partner is gone.
      case partnerGone = "partner-gone"
      /// The object that referred to this one is gone, or refers to another one by now.
      case holderChanged = "holder-changed"
      /// A member that came later stays, because it cannot be without an owner.
      case memberStays = "member-stays"
      /// The model of that time did not have the property.
      case notInFormerModel = "not-in-former-model"
    }

    /// The object that has the property.
    public let object: AnyObjectID
    /// The name of the property.
    public let property: String
    /// The object at the other end of the relationship; nil if the property is none.
    public let partner: AnyObjectID?
    /// The reason.
    public let reason: Reason
  }

  /// The restored objects: the one that was asked for, and the deleted parts that have come back with it.
  public let objects: [ManagedObject]
  /// Those of them that had been deleted.
  public let returned: [ManagedObject]
  /// What was not restored.
  public let losses: [Loss]
}

extension Restoration: CustomStringConvertible {
  /// The restored objects, and the number of losses.
  public var description: String {
    let names = objects.map { "\(AnyObjectID($0))" }.joined(separator: ", ")
    return "restored \(names)" + (losses.isEmpty ? "" : ", without \(losses.count) links or values")
  }
}

extension Restoration.Loss: CustomStringConvertible {
  /// The property, the partner and the reason as a sentence, with the reason's code.
  public var description: String {
    let place = "\(object).\(property)"
    let other = partner.map { "\($0)" } ?? "another object"
    let what =
      switch reason {
      case .partnerGone: "led to \(other), which is gone"
      case .holderChanged: "led to \(other), and does not any more"
      case .memberStays: "keeps \(other), which cannot be without it"
      case .notInFormerModel: "was not in the model of that time"
      }
    return "\(place) \(what). [\(reason.rawValue)]"
  }
}

/// The reason why an object cannot be restored. Nothing was changed.
public struct RestoreError: Error, Hashable, Sendable {
  /// The object.
  public let object: AnyObjectID
}

extension RestoreError: CustomStringConvertible {
  /// The object, and that there was none.
  public var description: String { "There was no object \(object) at that moment. [missing-object]" }
}

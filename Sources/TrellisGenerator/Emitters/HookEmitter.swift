import TrellisSchema

/// Emits the calls of the functions that the app implements for the hooks in the model.
///
/// Each class overrides the hooks, so that an object first passes through the functions of its parent classes. Each
/// class also has its own protocol that requires its functions, so that the compiler reports a missing one with its
/// signature.
enum HookEmitter {
  static func emitOverrides(_ plan: EntityPlan, to writer: inout CodeWriter) {
    for hook in plan.description.hooks {
      writer.blank()
      let call = "(\(plan.name).self as any \(plan.name).Hooks.Type).\(hook.rawValue)(self)"
      writer.block("@_spi(Generated) public override func \(signature(of: hook))") { writer in
        switch hook {
        case .didInsert, .didFetch, .didSave, .willDelete:
          writer.line("super._\(hook.rawValue)()")
          writer.line(call)
        case .willSave:
          writer.line("try super._\(hook.rawValue)()")
          writer.line("try \(call)")
        case .validateInsert, .validateUpdate, .validateDelete:
          writer.line("super._\(hook.rawValue)(&failures)")
          writer.line("failures.collect { try \(call) }")
        }
      }
    }
  }

  private static func signature(of hook: LifecycleHook) -> String {
    switch hook {
    case .didInsert, .didFetch, .didSave, .willDelete: "_\(hook.rawValue)()"
    case .willSave: "_\(hook.rawValue)() throws"
    case .validateInsert, .validateUpdate, .validateDelete:
      "_\(hook.rawValue)(_ failures: inout \(TypeName.hookFailures))"
    }
  }

  /// Emits the protocol with the functions that the app has to implement.
  static func emitProtocol(_ plan: EntityPlan, to writer: inout CodeWriter) {
    if plan.description.hooks.isEmpty { return }
    writer.blank()
    writer.line("/// The hooks that the model lists: write these functions in an extension of `\(plan.name)`.")
    writer.block("nonisolated protocol Hooks") { writer in
      for hook in plan.description.hooks {
        let effect = canThrow(hook) ? " throws" : ""
        writer.line("static func \(hook.rawValue)(_ object: \(plan.name))\(effect)")
      }
    }
  }

  static func emitConformance(_ plan: EntityPlan, to writer: inout CodeWriter) {
    if plan.description.hooks.isEmpty { return }
    writer.blank()
    writer.line("nonisolated extension \(plan.name): \(plan.name).Hooks {}")
  }

  private static func canThrow(_ hook: LifecycleHook) -> Bool {
    switch hook {
    case .didInsert, .didFetch, .didSave, .willDelete: false
    case .willSave, .validateInsert, .validateUpdate, .validateDelete: true
    }
  }
}

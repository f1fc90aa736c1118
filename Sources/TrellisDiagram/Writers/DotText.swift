enum DotText { static func text(_ d: Diagram) -> String { "" } }

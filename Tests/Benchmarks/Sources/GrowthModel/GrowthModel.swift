/// The model of what may grow wrong. Its types are generated from the model file.
enum GrowthModelFile {}

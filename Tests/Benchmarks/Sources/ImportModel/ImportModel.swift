/// The types of this module are generated from the model file.
enum ImportModelFile {}

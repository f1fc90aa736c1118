// The model comes from `make-wide-model`; its Swift text is generated as for any other model.

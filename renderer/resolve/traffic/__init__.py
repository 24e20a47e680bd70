"""What ModelRoutes, InferenceModels and public names are decided by: a record for each step, made in `resolve.apps`."""

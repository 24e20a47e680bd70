"""Plans of Playgrounds, Services, ModelRoutes, InferenceModels and of the objects that they share."""

"""The pod: what runs in it, what loads its weights, how a podTemplate patches it."""

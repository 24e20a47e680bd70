"""What `llmaz presets` shows of presets, and copies into a tree."""

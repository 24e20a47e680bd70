"""What a tree is made of, as a bill of materials: models with their licences, and images; for `llmaz bom`."""

from renderer.bom.cyclonedx import to_json
from renderer.bom.materials import bill_of_materials, summary

__all__ = ["bill_of_materials", "summary", "to_json"]

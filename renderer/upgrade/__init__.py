"""What another version of an engine breaks in a tree, which defaults move, what else changes; for
`llmaz upgrade`.
"""

from renderer.upgrade.engine_upgrade import EngineUpgrade, remaining_breaks, upgrade_engine
from renderer.upgrade.formats import FORMS
from renderer.upgrade.writing import write_upgrade

__all__ = ["FORMS", "EngineUpgrade", "remaining_breaks", "upgrade_engine", "write_upgrade"]

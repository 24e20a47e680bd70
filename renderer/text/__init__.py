"""How text of others is shown, matched, compared and suggested."""

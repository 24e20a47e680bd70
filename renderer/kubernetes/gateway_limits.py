"""How much a Gateway and its control plane hold, and what the AI gateway reads.

`llmaz render` and `llmaz check` judge by these (docs/design/gateway.md#message-size, docs/design/gateway.md#memory).
"""

from __future__ import annotations

MESSAGE_BYTES, RULE_BYTES = 4 << 20, 3400  # of a message of the control plane, and of a rule in it
MAX_RULES, MAX_PACKED_ROUTE_RULES = 1200, 1400  # in such a message, one for each route or packed
MANY_ROUTES = 300  # above, Envoy Gateway's memory grows with the square
MANY_WITH_KEYS = 250  # models, above which API keys may fill the message
# By schema of a provider's API, the first AI gateway that reads its prefix (schemaToFilterAPI in
# internal/controller/gateway.go of Envoy AI Gateway); it drops that of another one.
READ_PREFIXES = {"OpenAI": "0.6", "Anthropic": "0.7"}

"""How models are reached: Gateways, routes, pools and their pickers."""

"""CEL: the door to cel_expr_python, and Kubernetes' own functions beside those of the language."""

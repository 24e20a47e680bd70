"""A renderer that does not know spec.workload."""

import json
import sys

problem = {"file": "chat.yaml", "line": 7, "column": 3, "code": "E301", "severity": "error"}
problem |= {"field": "spec.workload", "message": "there is no field 'workload'", "hint": "leave it out"}
sys.stdout.write(json.dumps([problem]))
sys.exit(2)

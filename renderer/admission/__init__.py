"""Kubernetes' own policies before the merge: ValidatingAdmissionPolicies, judged as the API server judges them when an
object is created.
"""

"""Fields of old releases of the operator, and what replaced them."""

from __future__ import annotations

# By kind and path: what to write instead, and the field that replaced it (docs/design/operator.md#older-fields).
_CLAIMS = ("write spec.modelClaims.models, a list of name and role", "modelClaims")
_CONFIGS = ("write it in an item of recommendedConfigs", "recommendedConfigs")
DEPRECATED_FIELDS: dict[str, dict[tuple[str, ...], tuple[str, str]]] = {
    "OpenModel": {
        ("spec", "dataSource"): ("write spec.source.modelHub, with name and modelID", "source"),
        ("spec", "source", "modelID"): ("write it in source.modelHub, beside name", "modelHub"),
        ("spec", "source", "modelHub"): ("write modelHub: {name: …, modelID: …}", ""),
        ("spec", "inferenceFlavors"): ("write spec.inferenceConfig.flavors", "inferenceConfig"),
        ("spec", "inferenceConfig", "flavors", "requests"): ("write limits; they are the requests too", "limits"),
    },
    "Playground": {
        ("spec", "multiModelsClaim"): _CLAIMS,
        ("spec", "multiModelsClaims"): _CLAIMS,
        ("spec", "modelClaims", "modelNames"): _CLAIMS,
        ("spec", "modelClaim", "inferenceFlavorClaims"): ("write inferenceFlavors", "inferenceFlavors"),
        ("spec", "modelClaims", "inferenceFlavorClaims"): ("write inferenceFlavors", "inferenceFlavors"),
        ("spec", "backendConfig"): ("write backendRuntimeConfig, with the name as backendName", "backendRuntimeConfig"),
        ("spec", "backendRuntimeConfig", "name"): ("write backendName", "backendName"),
        ("spec", "backendRuntimeConfig", "argName"): ("write configName", "configName"),
        ("spec", "backendRuntimeConfig", "argFlags"): ("write args, a list of strings", "args"),
        ("spec", "backendRuntimeConfig", "args"): ("write a list, one item for each argument", ""),
        ("spec", "backendRuntimeConfig", "scaleTrigger"): ("write it in spec.elasticConfig", ""),
        ("spec", "elasticConfig", "scaleTriggerRef"): ("write scaleTrigger, with the trigger itself", "scaleTrigger"),
    },
    "BackendRuntime": {
        ("spec", "commands"): ("write command", "command"),
        ("spec", "multiHostCommands"): ("leave it out; several hosts take a Service", ""),
        ("spec", "args"): ("write each as an item of recommendedConfigs, its flags as args", "recommendedConfigs"),
        ("spec", "resources"): _CONFIGS,
        ("spec", "sharedMemorySize"): _CONFIGS,
        ("spec", "scaleTrigger"): _CONFIGS,
        ("spec", "scaleTriggers"): ("write scaleTrigger in an item of recommendedConfigs", "recommendedConfigs"),
    },
    "Service": {
        ("spec", "multiModelsClaims"): _CLAIMS,
        ("spec", "modelClaim"): ("write spec.modelClaims.models, a list of names", "modelClaims"),
        ("spec", "elasticConfig"): ("leave it out; only a Playground has one", ""),
        ("spec", "workloadTemplate", "replicas"): ("write spec.replicas", ""),
        ("spec", "workloadTemplate", "rolloutStrategy"): ("write spec.rolloutStrategy", ""),
        ("spec", "workloadTemplate", "startupPolicy"): ("leave it out; it follows from the size", ""),
        ("spec", "workloadTemplate", "leaderWorkerTemplate"): (
            "write what it holds directly under workloadTemplate",
            "workerTemplate",
        ),
    },
}

"""Fields of old releases of the operator, and what replaced them."""

from __future__ import annotations

# By kind and path: what to write instead, with {value} for the user's own word, and the field that replaced it
# (docs/design/operator.md#older-fields).
_CLAIMS = ("write spec.modelClaims.models, a list of name and role", "modelClaims")
_CONFIGS = ("write it in an item of recommendedConfigs", "recommendedConfigs")
DEPRECATED_FIELDS: dict[str, dict[tuple[str, ...], tuple[str, str]]] = {
    "OpenModel": {
        ("spec", "dataSource"): ("write spec.source.modelHub, with its modelHub as name, and modelID", "source"),
        ("spec", "source", "modelID"): ("move it into modelHub: {{modelID: {value}}}", "modelHub"),
        ("spec", "source", "modelHub"): ("write modelHub: {{name: {value}}}, and modelID in it", ""),
        ("spec", "inferenceFlavors"): (
            "move the list to spec.inferenceConfig.flavors, with limits instead of requests",
            "inferenceConfig",
        ),
        ("spec", "inferenceConfig", "flavors", "requests"): (
            "rename it to limits; they are the requests too",
            "limits",
        ),
    },
    "Playground": {
        ("spec", "multiModelsClaim"): _CLAIMS,
        ("spec", "multiModelsClaims"): _CLAIMS,
        ("spec", "modelClaims", "modelNames"): _CLAIMS,
        ("spec", "modelClaim", "inferenceFlavorClaims"): ("rename it to inferenceFlavors", "inferenceFlavors"),
        ("spec", "modelClaims", "inferenceFlavorClaims"): ("rename it to inferenceFlavors", "inferenceFlavors"),
        ("spec", "backendConfig"): (
            "rename it to backendRuntimeConfig, and its name to backendName",
            "backendRuntimeConfig",
        ),
        ("spec", "backendRuntimeConfig", "name"): ("write backendName: {value}", "backendName"),
        ("spec", "backendRuntimeConfig", "argName"): ("write configName: {value}", "configName"),
        ("spec", "backendRuntimeConfig", "argFlags"): ("rename it to args, a list of strings", "args"),
        ("spec", "backendRuntimeConfig", "args"): ("write a list, one item for each argument", ""),
        ("spec", "backendRuntimeConfig", "scaleTrigger"): (
            "move it to spec.elasticConfig.scaleTrigger, beside maxReplicas",
            "",
        ),
        ("spec", "elasticConfig", "scaleTriggerRef"): ("write the trigger itself under scaleTrigger", "scaleTrigger"),
    },
    "BackendRuntime": {
        ("spec", "commands"): ("rename it to command", "command"),
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
        ("spec", "workloadTemplate", "replicas"): ("move it to spec.replicas", ""),
        ("spec", "workloadTemplate", "rolloutStrategy"): ("move it to spec.rolloutStrategy", ""),
        ("spec", "workloadTemplate", "startupPolicy"): ("leave it out; it follows from workloadTemplate.size", ""),
        ("spec", "workloadTemplate", "leaderWorkerTemplate"): (
            "write what it holds directly under workloadTemplate",
            "workerTemplate",
        ),
    },
}

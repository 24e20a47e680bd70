{{- /*
The values that a part gets from us, so that the components work together; the user's own win over them. Asked with
(dict "root" $ "components" …). A part without a template here gets none.
*/ -}}

{{- /* The tag of a component's images: its version, nothing when that is a commit. The tree of its repository says a tag that moves. */ -}}
{{- define "llmaz.release" -}}
{{- if contains "." .version -}}v{{ trimPrefix "v" .version }}{{- end -}}
{{- end -}}

{{- /* Without enableDisaggregatedSet a DisaggregatedSet runs as well, but nobody refuses a wrong one. */ -}}
{{- define "llmaz.values.lws" -}}
image:
  manager:
    {{- with include "llmaz.release" .components.leaderWorkerSet }}
    tag: {{ . }}
    {{- end }}
    pullPolicy: IfNotPresent
enableCertManager: false
enableDisaggregatedSet: true
{{- end -}}

{{- define "llmaz.values.envoy-gateway-crds" -}}
{{- $gatewayAPI := .components.envoyGateway.crds.gatewayAPI -}}
crds:
  envoyGateway:
    enabled: true
  gatewayAPI:
    enabled: {{ $gatewayAPI.enabled }}
    channel: {{ toYaml $gatewayAPI.channel }}
{{- end -}}

{{- /*
Without extensionManager every model answers 404, without backendResources those behind a pool answer 500, without the
Backend API all of them; and no status says so. Envoy Gateway sends all of a Gateway's configuration to the AI gateway in one
message, and keeps silent about one that is too large: 16 KiB a model holds a hundred API keys too.
*/ -}}
{{- define "llmaz.values.envoy-gateway" -}}
{{- $values := .root.Values -}}
crds:
  enabled: false
kubernetesClusterDomain: {{ toYaml $values.clusterDomain }}
deployment:
  {{- with .components.inferenceExtension }}
  {{- if .enabled }}
  pod:
    annotations:
      # looked for at the start only: another version starts it again
      llmaz.io/inference-extension: {{ quote .version }}
  {{- end }}
  {{- end }}
  envoyGateway:
    resources:
      limits:
        memory: {{ include "llmaz.memory" .root }}Mi
config:
  envoyGateway:
    gateway:
      controllerName: gateway.envoyproxy.io/gatewayclass-controller
    provider:
      type: Kubernetes
    extensionApis:
      enableBackend: true
    {{- if .components.envoyAIGateway.enabled }}
    extensionManager:
      maxMessageSize: {{ include "llmaz.message" .root }}Mi
      backendResources:
        - group: inference.networking.k8s.io
          kind: InferencePool
          version: v1
      hooks:
        xdsTranslator:
          translation:
            listener:
              includeAll: true
            route:
              includeAll: true
            cluster:
              includeAll: true
            secret:
              includeAll: true
          post:
            - Translation
            - Cluster
            - Route
      service:
        fqdn:
          hostname: {{ include "llmaz.controller" . }}
          port: 1063
    {{- end }}
    {{- with $values.redis }}
    {{- if .enabled }}
    rateLimit:
      backend:
        type: Redis
        redis:
          url: {{ .name }}.{{ .namespace }}.svc.{{ $values.clusterDomain }}:6379
    {{- end }}
    {{- end }}
{{- end -}}

{{- define "llmaz.values.ai-gateway" -}}
{{- with include "llmaz.release" .components.envoyAIGateway -}}
extProc:
  image:
    tag: {{ . }}
{{ end -}}
controller:
  {{- with include "llmaz.release" .components.envoyAIGateway }}
  image:
    tag: {{ . }}
  {{- end }}
  # bytes, as text; Envoy Gateway's maxMessageSize
  maxRecvMsgSize: {{ mul (include "llmaz.message" .root | int64) 1048576 | quote }}
  {{- with .components.inferenceExtension }}
  {{- if .enabled }}
  podAnnotations:
    llmaz.io/inference-extension: {{ quote .version }}
  {{- end }}
  {{- end }}
  {{- if .components.certManager.enabled }}
  mutatingWebhook:
    certManager:
      enable: true
  {{- end }}
  {{- with include "llmaz.seed" . }}
  mcp:
    sessionEncryption:
      existingSecret: {{ . }}
  {{- end }}
envoyGateway:
  namespace: {{ toYaml .components.envoyGateway.namespace }}
{{- end -}}

{{- /*
The Secret with the seed of MCP sessions. From 1.2 on the chart of Agent Router makes a random seed unless it finds the one that
is there, and Argo CD renders without looking into the cluster: a new seed at every rendering. Nothing where somebody says a
seed or a Secret of his own.
*/ -}}
{{- define "llmaz.seed" -}}
{{- $own := .components.envoyAIGateway -}}
{{- $seed := (include "llmaz.at" (list $own.values "controller" "mcp" "sessionEncryption" "seed") | fromJson).found -}}
{{- $secret := (include "llmaz.at" (list $own.values "controller" "mcp" "sessionEncryption" "existingSecret") | fromJson).found -}}
{{- $old := and (contains "." $own.version) (semverCompare "<1.2.0-0" (trimPrefix "v" $own.version)) -}}
{{- if and (eq .root.Values.engine "argocd") $own.enabled (not (or $old $seed $secret)) -}}
mcp-session-seed
{{- end -}}
{{- end -}}

{{- /* MiB of a message that holds all models of a Gateway: 16 KiB each, and never below the 4 MiB of both controllers. */ -}}
{{- define "llmaz.message" -}}
{{- max 4 (div (add (mul (int64 .Values.maxModels) 16) 1023) 1024) -}}
{{- end -}}

{{- /* MiB for Envoy Gateway. Measured with a route for each model: 206 at 300, 2,747 at 1,000; it grows with the square, since
every route's status lists all others. Packed routes need 308 at 2,500, and above 1,200 models routes are packed. */ -}}
{{- define "llmaz.memory" -}}
{{- $models := min (int64 .Values.maxModels) 1200 -}}
{{- max 1024 (add 700 (div (mul $models $models 35) 10000)) -}}
{{- end -}}

{{- /* The host name of the AI gateway's Service. */ -}}
{{- define "llmaz.controller" -}}
{{- $own := .components.envoyAIGateway -}}
{{- (include "llmaz.at" (list $own.values "controller" "fullnameOverride") | fromJson).found | default "ai-gateway-controller" }}.{{ $own.namespace }}.svc.{{ .root.Values.clusterDomain }}
{{- end -}}

{{- /* The Service before the proxies is called <namespace>-<name>, as RenderConfig's gateway.create and ours have it. */ -}}
{{- define "llmaz.values.open-webui" -}}
{{- $gateway := .root.Values.gateway -}}
ollama:
  enabled: false
pipelines:
  enabled: false
enableOpenaiApi: true
{{- $host := include "llmaz.host" .root }}
{{- if and (or $gateway.tls.secretName $gateway.tls.issuer) $host }}
openaiBaseApiUrl: https://{{ $host }}/v1
{{- else }}
openaiBaseApiUrl: http://{{ $gateway.namespace }}-{{ $gateway.name }}.{{ .components.envoyGateway.namespace }}.svc.{{ .root.Values.clusterDomain }}/v1
{{- end }}
# the chart's own is a literal
openaiApiKey: ""
websocket:
  manager: ""
  redis:
    enabled: false
extraEnvVars:
  # else what was there at the first start stays in its database, whatever git says
  - name: ENABLE_PERSISTENT_CONFIG
    value: "False"
{{- end -}}

{{- define "llmaz.values.prometheus" -}}
{{- if eq .root.Values.engine "argocd" -}}
crds:
  enabled: false
{{ end -}}
prometheus:
  prometheusSpec:
    # else only what carries the label of its own release is looked at
    podMonitorSelectorNilUsesHelmValues: false
    serviceMonitorSelectorNilUsesHelmValues: false
    ruleSelectorNilUsesHelmValues: false
grafana:
  admin:
    existingSecret: grafana-admin
    userKey: admin-user
    passwordKey: admin-password
  sidecar:
    dashboards:
      enabled: true
      searchNamespace: ALL
{{- end -}}

{{- define "llmaz.values.prometheus-adapter" -}}
prometheus:
  # the Service that the operator makes for every Prometheus
  url: http://prometheus-operated.{{ .components.prometheus.namespace }}.svc.{{ .root.Values.clusterDomain }}
  port: 9090
{{ .root.Files.Get "files/adapter-rules.yaml" | fromYaml | toYaml }}
{{- end -}}

{{- define "llmaz.values.keda" -}}
crds:
  install: {{ and (ne .root.Values.engine "argocd") .components.keda.crds.enabled }}
{{- end -}}

{{- define "llmaz.values.cert-manager" -}}
crds:
  enabled: {{ and (ne .root.Values.engine "argocd") .components.certManager.crds.enabled }}
{{- end -}}

{{- define "llmaz.values.inftyai-scheduler" -}}
scheduler:
  name: inftyai-scheduler
plugins:
  enabled:
    - name: ResourceFungibility
      weight: 10
{{- end -}}

{{- /*
llmaz.resolved $: the components as JSON, after upstream's names of them, its remaining keys and literal keys were dealt with:

  {"components": {"leaderWorkerSet": {…}, …}, "notes": ["said to the user", …]}

What is wrong fails here, all of it at once.
*/ -}}
{{- define "llmaz.resolved" -}}
{{- $components := dict }}
{{- range list "leaderWorkerSet" "envoyGateway" "envoyAIGateway" "inferenceExtension" "openWebUI" "prometheus" "prometheusAdapter" "keda" "karpenter" "inftyaiScheduler" "gpuOperator" "certManager" }}
{{- $_ := set $components . (deepCopy (index $.Values .)) }}
{{- end }}
{{- $wrong := list }}
{{- $notes := list }}

{{- /* upstream's names */}}
{{- $defaults := .Files.Get "files/defaults.yaml" | fromYaml }}
{{- range $alias, $name := dict "envoy-gateway" "envoyGateway" "envoy-ai-gateway" "envoyAIGateway" "open-webui" "openWebUI" "kube-scheduler" "inftyaiScheduler" }}
{{- if hasKey $.Values $alias }}
{{- $given := default dict (index $.Values $alias) }}
{{- $component := index $components $name }}
{{- if ne (toJson $component) (toJson (index $defaults $name)) }}
{{- $wrong = append $wrong (printf "%s and %s are both given, and are the same component: keep %s, and write the chart's own keys below %s.values" $alias $name $name $name) }}
{{- end }}
{{- if hasKey $given "enabled" }}
{{- $_ := set $component "enabled" $given.enabled }}
{{- end }}
{{- $_ := set $component "values" (omit $given "enabled") }}
{{- $notes = append $notes (printf "%s is read as %s." $alias $name) }}
{{- end }}
{{- end }}

{{- /* what else upstream's chart knows */}}
{{- $operator := "no llmaz operator runs in the cluster, models are rendered before; leave it out" }}
{{- range $key, $hint := dict
  "backendRuntime" "engines and their images are presets of the renderer (docs/presets.md), and nothing of them is installed; leave it out"
  "controllerManager" $operator
  "metricsService" $operator
  "webhookService" $operator
  "fullnameOverride" "objects are called after the release"
  "nameOverride" "objects are called after the release"
  "kubernetesClusterDomain" "write clusterDomain" }}
{{- if hasKey $.Values $key }}
{{- $wrong = append $wrong (printf "%s is a key of llmaz's own chart: %s" $key $hint) }}
{{- end }}
{{- end }}
{{- if hasKey $components.leaderWorkerSet "controller" }}
{{- $wrong = append $wrong "leaderWorkerSet.controller is a key of llmaz's own chart: write leaderWorkerSet.values.replicaCount" }}
{{- end }}

{{- /* literal keys, and the address of a proxy by a name that holds a hash */}}
{{- with $components.openWebUI.values }}
{{- $values := . }}
{{- range list "openaiApiKey" "openaiApiKeys" }}
{{- if get $values . }}
{{- $_ := unset $values . }}
{{- $notes = append $notes (printf "openWebUI: %s was dropped, since it is a literal key. Name a Secret: openWebUI.values.openaiApiKeyExistingSecret, openaiApiKeyExistingSecretKey." .) }}
{{- end }}
{{- end }}
{{- range $where := list "extraEnvVars" "commonEnvVars" }}
{{- $env := get $values $where }}
{{- if kindIs "map" $env }}
{{- $list := list }}
{{- range $name, $value := $env }}
{{- $list = append $list (ternary $value (dict "value" $value) (kindIs "map" $value) | merge (dict "name" $name)) }}
{{- end }}
{{- $env = $list }}
{{- end }}
{{- if $env }}
{{- $kept := list }}
{{- range $env }}
{{- if and (regexMatch "(_KEYS?|_TOKEN|_SECRET|_PASSWORD)$" (toString .name)) (hasKey . "value") }}
{{- $notes = append $notes (printf "openWebUI: %s was dropped from %s, since it is a literal key. Take it from a Secret by valueFrom.secretKeyRef." .name $where) }}
{{- else }}
{{- $kept = append $kept . }}
{{- end }}
{{- end }}
{{- $_ := set $values $where $kept }}
{{- end }}
{{- end }}
{{- if regexMatch "//envoy-.*-[0-9a-f]{8}[.:/]" (get $values "openaiBaseApiUrl" | toString) }}
{{- $_ := unset $values "openaiBaseApiUrl" }}
{{- $notes = append $notes "openWebUI: openaiBaseApiUrl was dropped, since its name holds a hash of Envoy Gateway's. The Gateway's own Service is asked." }}
{{- end }}
{{- if regexMatch "//envoy-.*-[0-9a-f]{8}[.:/]" (get $values "openaiBaseApiUrls" | toJson) }}
{{- $_ := unset $values "openaiBaseApiUrls" }}
{{- $notes = append $notes "openWebUI: openaiBaseApiUrls was dropped, since a name in it holds a hash of Envoy Gateway's. The Gateway's own Service is asked." }}
{{- end }}
{{- end }}
{{- $grafana := get $components.prometheus.values "grafana" }}
{{- if and (kindIs "map" $grafana) (get (default dict $grafana) "adminPassword") }}
{{- $_ := unset $grafana "adminPassword" }}
{{- $notes = append $notes "prometheus: grafana.adminPassword was dropped, since it is a literal key. The Secret grafana-admin has it." }}
{{- end }}

{{- /* what cannot work */}}
{{- if gt (len .Release.Name) 38 }}
{{- $wrong = append $wrong (printf "the release is called %s: at most 38 characters, since names of its parts become labels of 63 characters" .Release.Name) }}
{{- end }}
{{- if and $components.karpenter.enabled (not (dig "settings" "clusterName" "" $components.karpenter.values)) }}
{{- $wrong = append $wrong "karpenter needs the name of the cluster: karpenter.values.settings.clusterName" }}
{{- end }}
{{- if and $components.envoyAIGateway.enabled (not $components.envoyGateway.enabled) (ne .Values.engine "none") }}
{{- $notes = append $notes "envoyGateway is off: yours needs the values that this chart would give it (docs/platform.md), else every model answers 404." }}
{{- end }}
{{- if dig "config" "envoyGateway" "envoyProxy" "mergeBackends" "" $components.envoyGateway.values }}
{{- $wrong = append $wrong "envoyGateway.values.config.envoyGateway.envoyProxy.mergeBackends: with it requests pass the AI gateway by, unchanged and without a word; leave it out" }}
{{- end }}
{{- if and (eq .Values.engine "flux") (include "llmaz.own" .) (not .Values.flux.self.name) }}
{{- $wrong = append $wrong "flux.self.name is missing: a second HelmRelease of this chart has to make what gateway.create, redis.enabled, dashboards.enabled and nodePools ask for, since they need what the components bring; name the source that this chart lies in" }}
{{- end }}
{{- if and .Values.redis.enabled .Values.redis.from (ne .Values.redis.from $components.envoyGateway.namespace) }}
{{- $wrong = append $wrong (printf "redis.from is %s, and the rate limit service runs in Envoy Gateway's namespace: write %s" .Values.redis.from $components.envoyGateway.namespace) }}
{{- end }}
{{- $headers := list }}
{{- range .Values.gateway.auth.apiKeys.headers }}
{{- $headers = append $headers (lower .) }}
{{- end }}
{{- if and $components.openWebUI.enabled .Values.gateway.auth.apiKeys.secretName (not (has "authorization" $headers)) }}
{{- $wrong = append $wrong "gateway.auth.apiKeys.headers: Open WebUI sends its key as Authorization, so that name has to be among them" }}
{{- end }}
{{- with .Values.argocd.destination }}
{{- if and (eq $.Values.engine "argocd") (ne (default .server .name) "in-cluster") (or .name (ne .server "https://kubernetes.default.svc")) (include "llmaz.own" $) }}
{{- $wrong = append $wrong (printf "argocd.destination is another cluster (%s), and what gateway.create, redis.enabled, dashboards.enabled and nodePools make would be in Argo CD's own: make them there by an Application of this chart with engine: none" (default .server .name)) }}
{{- end }}
{{- end }}
{{- if $wrong }}
{{- fail (printf "\n  * %s\n" (join "\n  * " $wrong)) }}
{{- end }}
{{- dict "components" $components "notes" $notes | toJson }}
{{- end -}}

{{- /* "true" when the chart has objects of its own to make that need what components bring: see llmaz.late. */ -}}
{{- define "llmaz.own" -}}
{{- if or .Values.gateway.create .Values.redis.enabled .Values.dashboards.enabled .Values.nodePools -}}true{{- end -}}
{{- end -}}

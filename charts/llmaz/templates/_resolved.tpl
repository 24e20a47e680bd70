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
{{- $hash := "//envoy-[^/]*-[0-9a-f]{8}([.:/\"; ]|$)" }}
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
{{- $list = append $list (ternary $value (dict "value" (include "llmaz.own.amount" $value)) (kindIs "map" $value) | merge (dict "name" $name)) }}
{{- end }}
{{- $env = $list }}
{{- end }}
{{- if $env }}
{{- $kept := list }}
{{- $odd := ternary (list) (list $env) (kindIs "slice" $env) }}
{{- range ternary $env (list) (kindIs "slice" $env) }}
{{- if not (kindIs "map" .) }}
{{- $odd = append $odd . }}
{{- else if and (regexMatch "(_KEYS?|_TOKEN|_SECRET|_PASSWORD)$" (toString .name)) (hasKey . "value") }}
{{- $notes = append $notes (printf "openWebUI: %s was dropped from %s, since it is a literal key. Take it from a Secret by valueFrom.secretKeyRef." .name $where) }}
{{- else if regexMatch $hash (get . "value" | toString) }}
{{- $notes = append $notes (printf "openWebUI: %s was dropped from %s, since the address in it holds a hash of Envoy Gateway's. The Gateway's own Service is asked." .name $where) }}
{{- else }}
{{- $kept = append $kept . }}
{{- end }}
{{- end }}
{{- range $odd }}
{{- $wrong = append $wrong (printf "openWebUI.values.%s: %s is no {name, value}" $where (toJson .)) }}
{{- end }}
{{- $_ := set $values $where $kept }}
{{- end }}
{{- end }}
{{- if regexMatch $hash (get $values "openaiBaseApiUrl" | toString) }}
{{- $_ := unset $values "openaiBaseApiUrl" }}
{{- $notes = append $notes "openWebUI: openaiBaseApiUrl was dropped, since its name holds a hash of Envoy Gateway's. The Gateway's own Service is asked." }}
{{- end }}
{{- if regexMatch $hash (get $values "openaiBaseApiUrls" | toJson) }}
{{- $_ := unset $values "openaiBaseApiUrls" }}
{{- $notes = append $notes "openWebUI: openaiBaseApiUrls was dropped, since a name in it holds a hash of Envoy Gateway's. The Gateway's own Service is asked." }}
{{- end }}
{{- end }}
{{- $grafana := get $components.prometheus.values "grafana" }}
{{- if and (kindIs "map" $grafana) (get (default dict $grafana) "adminPassword") }}
{{- $_ := unset $grafana "adminPassword" }}
{{- $notes = append $notes "prometheus: grafana.adminPassword was dropped, since it is a literal key. The Secret grafana-admin has it." }}
{{- end }}

{{- range $name, $it := $components }}
{{- if $it.enabled }}
{{- range include "llmaz.literals" (list (printf "%s.values" $name) $it.values) | fromJsonArray }}
{{- $wrong = append $wrong (printf "%s is a secret in plain text, which git keeps for ever: keep it in a Secret, and name that by the keys that the component's chart has for it" .) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* what cannot work */}}
{{- if gt (len .Release.Name) 38 }}
{{- $wrong = append $wrong (printf "the release is called %s: at most 38 characters, since names of its parts become labels of 63 characters" .Release.Name) }}
{{- end }}
{{- if and $components.karpenter.enabled (not (include "llmaz.at" (list $components.karpenter.values "settings" "clusterName") | fromJson).found) }}
{{- $wrong = append $wrong "karpenter needs the name of the cluster: karpenter.values.settings.clusterName" }}
{{- end }}
{{- range $name := list "leaderWorkerSet" "envoyGateway" "envoyAIGateway" "keda" "karpenter" "certManager" }}
{{- $it := index $components $name }}
{{- /* with Flux and by hand the others' come with their chart */}}
{{- $apart := or (eq $.Values.engine "argocd") (has $name (list "envoyGateway" "envoyAIGateway" "karpenter")) }}
{{- if and $it.enabled $it.crds.enabled $apart (contains "." $it.version) (contains "." $it.crds.version) }}
{{- $new := semver (trimPrefix "v" $it.version) }}
{{- $old := semver (trimPrefix "v" $it.crds.version) }}
{{- if or (lt $old.Major $new.Major) (and (eq $old.Major $new.Major) (lt $old.Minor $new.Minor)) }}
{{- $wrong = append $wrong (printf "%s.crds.version is %s, and %s.version is %s, whose kinds and fields it does not know: raise it too" $name $it.crds.version $name $it.version) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and $components.envoyAIGateway.enabled (not $components.envoyGateway.enabled) (ne .Values.engine "none") }}
{{- $notes = append $notes "envoyGateway is off: yours needs the values that this chart would give it (docs/platform.md), else every model answers 404." }}
{{- end }}
{{- if $components.envoyAIGateway.enabled }}
{{- $at := $components.envoyGateway.values }}
{{- $path := "envoyGateway.values" }}
{{- range list "config" "envoyGateway" "extensionManager" }}
{{- if kindIs "map" $at }}
{{- $path = printf "%s.%s" $path . }}
{{- if and (hasKey $at .) (not (kindIs "map" (get $at .))) }}
{{- $wrong = append $wrong (printf "%s is not a map: without what stands there every model answers 404; leave it out, or write what differs" $path) }}
{{- end }}
{{- $at = get $at . }}
{{- end }}
{{- end }}
{{- end }}
{{- $proxy := (include "llmaz.at" (list $components.envoyGateway.values "config" "envoyGateway" "envoyProxy") | fromJson).found }}
{{- /* its mere presence switches it on: {} does */}}
{{- if and (kindIs "map" $proxy) (kindIs "map" (get (default dict $proxy) "mergeBackends")) }}
{{- $wrong = append $wrong "envoyGateway.values.config.envoyGateway.envoyProxy.mergeBackends: with it requests pass the AI gateway by, unchanged and without a word; leave it out" }}
{{- end }}
{{- if and (eq .Values.engine "flux") (include "llmaz.own" .) (not .Values.flux.self.name) }}
{{- $wrong = append $wrong "flux.self.name is missing: a second HelmRelease of this chart has to make what gateway.create, redis.enabled, dashboards.enabled and nodePools ask for, since they need what the components bring; name the source that this chart lies in" }}
{{- end }}
{{- if and (eq .Values.engine "flux") (include "llmaz.own" .) (eq .Values.flux.self.kind "HelmRepository") (contains "/" .Values.flux.self.chart) }}
{{- $wrong = append $wrong (printf "flux.self.chart is %s, and in a HelmRepository a chart has a name: write llmaz" .Values.flux.self.chart) }}
{{- end }}
{{- if and .Values.redis.enabled .Values.redis.from (ne .Values.redis.from $components.envoyGateway.namespace) }}
{{- $wrong = append $wrong (printf "redis.from is %s, and the rate limit service runs in Envoy Gateway's namespace: write %s" .Values.redis.from $components.envoyGateway.namespace) }}
{{- end }}
{{- if $components.leaderWorkerSet.enabled }}
{{- $notes = append $notes "leaderWorkerSet: up to 0.7.0 its chart had the CRD among its templates, and the upgrade from there deletes the CRD and with it every LeaderWorkerSet. Where Helm installed such a one, first: kubectl annotate crd leaderworkersets.leaderworkerset.x-k8s.io helm.sh/resource-policy=keep" }}
{{- end }}
{{- with include "llmaz.seed" (dict "root" $ "components" $components) }}
{{- $notes = append $notes (printf "envoyAIGateway: its controller needs the Secret %s in %s, a random text under the key seed, since its chart would make another one at every rendering. MCP sessions are encrypted with it." . $components.envoyAIGateway.namespace) }}
{{- end }}
{{- $headers := list }}
{{- range .Values.gateway.auth.apiKeys.headers }}
{{- $headers = append $headers (lower .) }}
{{- end }}
{{- if and $components.openWebUI.enabled .Values.gateway.auth.apiKeys.secretName (not (has "authorization" $headers)) }}
{{- $wrong = append $wrong "gateway.auth.apiKeys.headers: Open WebUI sends its key as Authorization, so that name has to be among them" }}
{{- end }}
{{- if and $components.openWebUI.enabled .Values.gateway.create (or .Values.gateway.tls.secretName .Values.gateway.tls.issuer) (not (include "llmaz.host" .)) (not (or $components.openWebUI.values.openaiBaseApiUrl $components.openWebUI.values.openaiBaseApiUrls)) }}
{{- $wrong = append $wrong "gateway.tls leaves the Gateway with HTTPS only, and no host name without * is among gateway.hostnames that Open WebUI could ask: name one, or set openWebUI.values.openaiBaseApiUrl" }}
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

{{- /* What stands at a path of a map, (list map "key" "key" ...), as JSON: {"found": ...}; null where nothing does, or a null on the way. */ -}}
{{- define "llmaz.at" -}}
{{- $here := first . -}}
{{- range rest . -}}
{{- if kindIs "map" $here -}}
{{- $here = index $here . -}}
{{- else -}}
{{- $here = "" -}}
{{- end -}}
{{- end -}}
{{- dict "found" $here | toJson -}}
{{- end -}}

{{- /*
Where values hold a secret, (list path value), as a JSON list of paths: a text under a key that is called like one, also of a
variable, or a URL with a password. What holds $, < or { is a reference of somebody's.
*/ -}}
{{- define "llmaz.literals" -}}
{{- $path := first . -}}
{{- $value := last . -}}
{{- $called := "(?i:client[_-]?secret|secret[_-]?access[_-]?key|access[_-]?token|api[_-]?(key|token)|bot[_-]?token|password|passwd)$|[. ][A-Z][A-Z0-9_]*_(KEYS?|TOKEN|SECRET)$" -}}
{{- $found := list -}}
{{- if kindIs "map" $value -}}
{{- range $key, $each := $value -}}
{{- $found = concat $found (include "llmaz.literals" (list (printf "%s.%s" $path $key) $each) | fromJsonArray) -}}
{{- end -}}
{{- if and (kindIs "string" (get $value "name")) (kindIs "string" (get $value "value")) -}}
{{- $found = concat $found (include "llmaz.literals" (list (printf "%s, of %s" $path $value.name) $value.value) | fromJsonArray) -}}
{{- end -}}
{{- else if kindIs "slice" $value -}}
{{- range $i, $each := $value -}}
{{- $found = concat $found (include "llmaz.literals" (list (printf "%s[%d]" $path $i) $each) | fromJsonArray) -}}
{{- end -}}
{{- else if and (kindIs "string" $value) $value (not (regexMatch "[$<{]" $value)) -}}
{{- if or (regexMatch $called $path) (regexMatch "://[^/@[:space:]]*:[^/@[:space:]]+@" $value) -}}
{{- $found = append $found $path -}}
{{- end -}}
{{- end -}}
{{- uniq $found | toJson -}}
{{- end -}}

{{- /* The first host name of the Gateway that can be asked, or nothing. */ -}}
{{- define "llmaz.host" -}}
{{- $hosts := list -}}
{{- range .Values.gateway.hostnames -}}
{{- if not (contains "*" .) -}}
{{- $hosts = append $hosts . -}}
{{- end -}}
{{- end -}}
{{- with $hosts -}}{{- first . -}}{{- end -}}
{{- end -}}

{{- /* "true" when the chart has objects of its own to make that need what components bring: see llmaz.late. */ -}}
{{- define "llmaz.own" -}}
{{- if or .Values.gateway.create .Values.redis.enabled .Values.dashboards.enabled .Values.nodePools -}}true{{- end -}}
{{- end -}}

{{- /*
llmaz.parts $: {"parts": […], "notes": […]} as JSON: the entries of files/parts.yaml that this engine needs and nobody switched
off, in their order, each with

  repoURL, version, chart or path    where it lies; a chart with a `path` is one in a git repository
  namespace, values, fullname        as they are to be
  after                              of the parts before it those that are there
  ignore                             what Argo CD is to ignore
*/ -}}
{{- define "llmaz.parts" -}}
{{- $resolved := include "llmaz.resolved" . | fromJson }}
{{- $components := $resolved.components }}
{{- $engine := .Values.engine }}
{{- $parts := list }}
{{- $names := list }}
{{- range .Files.Get "files/parts.yaml" | fromYamlArray }}
{{- $component := index $components .component }}
{{- $block := $component }}
{{- $on := $component.enabled }}
{{- range splitList "." (default "" .source) | compact }}
{{- $block = index $block . }}
{{- $on = and $on (dig "enabled" true $block) }}
{{- end }}
{{- if and $on (has $engine (default (list "argocd" "flux" "none") .engines)) }}
{{- $part := deepCopy . }}
{{- $_ := set $part "fullname" (printf "%s-%s" $.Release.Name .name) }}
{{- $_ := set $part "repoURL" (trimSuffix "/" $block.repoURL) }}
{{- $_ := set $part "version" $block.version }}
{{- if not $block.version }}
{{- $_ := set $part "version" $component.crds.version }}
{{- end }}
{{- if eq .name "gateway-api-crds" }}
{{- $_ := set $part "path" (ternary "config/crd" "config/crd/experimental" (eq $block.channel "standard")) }}
{{- else if $block.path }}
{{- $_ := set $part "path" $block.path }}
{{- else }}
{{- $_ := set $part "chart" $block.chart }}
{{- end }}
{{- if or (eq $part.kind "manifests") $part.path | and (hasPrefix "oci://" $part.repoURL) }}
{{- fail (printf "%s: %s is no git repository, and path is a folder of one" .component $part.repoURL) }}
{{- end }}
{{- if and $part.chart (hasPrefix "ssh://" $part.repoURL) }}
{{- fail (printf "%s: %s is a git repository: write path, the folder of the chart in it" .component $part.repoURL) }}
{{- end }}
{{- if and (eq $engine "flux") (hasPrefix "ssh://" $part.repoURL) }}
{{- fail (printf "%s: Flux reads %s with a Secret only, which this chart does not name: write its https:// address" .component $part.repoURL) }}
{{- end }}
{{- if and $part.chart (not (contains "." $part.version)) }}
{{- fail (printf "%s: %s is a commit, and %s of %s has versions" .component $part.version $part.chart $part.repoURL) }}
{{- end }}
{{- if eq $part.kind "chart" }}
{{- $_ := set $part "namespace" (default $component.namespace $part.namespace) }}
{{- $values := dict }}
{{- $template := printf "llmaz.values.%s" .name }}
{{- if has .name (list "lws" "envoy-gateway-crds" "envoy-gateway" "ai-gateway" "open-webui" "prometheus" "prometheus-adapter" "keda" "cert-manager" "inftyai-scheduler") }}
{{- $values = include $template (dict "root" $ "components" $components) | fromYaml }}
{{- if $values.Error }}
{{- fail (printf "%s: %s" .name $values.Error) }}
{{- end }}
{{- end }}
{{- if not .crds }}
{{- $own := deepCopy $component.values }}
{{- if and (eq .name "open-webui") (kindIs "slice" $own.extraEnvVars) }}
{{- $said := list }}
{{- range $own.extraEnvVars }}
{{- $said = append $said .name }}
{{- end }}
{{- range $values.extraEnvVars }}
{{- if not (has .name $said) }}
{{- $_ := set $own "extraEnvVars" (append $own.extraEnvVars .) }}
{{- end }}
{{- end }}
{{- end }}
{{- $values = mergeOverwrite $values $own }}
{{- end }}
{{- $_ := set $part "values" $values }}
{{- end }}
{{- $after := list }}
{{- range .after }}
{{- if has . $names }}
{{- $after = append $after . }}
{{- end }}
{{- end }}
{{- $_ := set $part "after" $after }}
{{- $ignore := list }}
{{- if and (eq .name "ai-gateway") (not (include "llmaz.at" (list $part.values "controller" "mutatingWebhook" "certManager" "enable") | fromJson).found) }}
{{- /* its chart makes a new certificate whenever it cannot look up the one that is there */}}
{{- $ignore = append $ignore (dict "kind" "Secret" "name" ((include "llmaz.at" (list $part.values "controller" "mutatingWebhook" "tlsCertSecretName") | fromJson).found | default "self-signed-cert-for-mutating-webhook") "namespace" $part.namespace "jsonPointers" (list "/data")) }}
{{- end }}
{{- range .filled }}
{{- if eq . "APIService" }}
{{- $ignore = append $ignore (dict "group" "apiregistration.k8s.io" "kind" . "jsonPointers" (list "/spec/caBundle")) }}
{{- else }}
{{- $ignore = append $ignore (dict "group" "admissionregistration.k8s.io" "kind" . "jqPathExpressions" (list ".webhooks[]?.clientConfig.caBundle")) }}
{{- end }}
{{- end }}
{{- $_ := set $part "ignore" $ignore }}
{{- $parts = append $parts $part }}
{{- $names = append $names .name }}
{{- end }}
{{- end }}
{{- dict "parts" $parts "notes" $resolved.notes | toJson }}
{{- end -}}

{{- define "llmaz.labels" -}}
app.kubernetes.io/name: {{ .part.name }}
app.kubernetes.io/component: {{ ternary "crds" "platform" (default false .part.crds) }}
app.kubernetes.io/part-of: llmaz
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end -}}

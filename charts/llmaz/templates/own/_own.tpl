{{- /* Labels of an own object: (list $ name component), map lines. */ -}}
{{- define "llmaz.own.labels" -}}
app.kubernetes.io/name: {{ toYaml (index . 1) }}
app.kubernetes.io/component: {{ index . 2 }}
app.kubernetes.io/part-of: llmaz
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
{{- end -}}

{{- /* metadata of an own object: (dict "root" $ "name" ... "component" ...), with "namespace" and "annotations" (map lines)
where it has any; "only" (map lines, or nothing) stands for all of its annotations. */ -}}
{{- define "llmaz.own.metadata" -}}
metadata:
  name: {{ toYaml .name }}
  {{- with .namespace }}
  namespace: {{ toYaml . }}
  {{- end }}
  labels:
    {{- include "llmaz.own.labels" (list .root .name .component) | nindent 4 }}
  {{- with ternary (list .only) (list (include "llmaz.annotations" .root) (default "" .annotations)) (hasKey . "only") | compact }}
  annotations:
    {{- join "\n" . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- /* The Gateway as a policy's target: (the values of gateway). */ -}}
{{- define "llmaz.own.target" -}}
- group: gateway.networking.k8s.io
  kind: Gateway
  name: {{ toYaml .name }}
{{- end -}}

{{- /* A value as text: a whole number comes as 1e+06 out of a values file. */ -}}
{{- define "llmaz.own.amount" -}}
{{- if kindIs "float64" . }}{{ ternary (printf "%.0f" .) (toString .) (eq . (floor .)) }}{{ else if not (kindIs "invalid" .) }}{{ . }}{{ end -}}
{{- end -}}

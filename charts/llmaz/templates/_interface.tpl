{{- /*
What templates/own/*.yaml ask of the rest of the chart. Each answers "true" or nothing.

  llmaz.on (list $ "karpenter")   the component is enabled, by its own key or by upstream's
  llmaz.late $                    objects that need what a component brings, a kind (Gateway, NodePool) or a namespace
                                  (Redis, dashboards), are made by this release. Not so with `engine: flux`: Helm looks up
                                  every kind before it makes anything, so a second HelmRelease of this chart, with
                                  `engine: none`, makes them.

llmaz.annotations $ are the annotations of an own object (map lines): its wave under Argo CD, nothing otherwise.
*/ -}}
{{- define "llmaz.on" -}}
{{- $resolved := include "llmaz.resolved" (index . 0) | fromJson -}}
{{- if get (get $resolved.components (index . 1)) "enabled" -}}true{{- end -}}
{{- end -}}

{{- define "llmaz.late" -}}
{{- if ne .Values.engine "flux" -}}true{{- end -}}
{{- end -}}

{{- define "llmaz.annotations" -}}
{{- if eq .Values.engine "argocd" -}}
argocd.argoproj.io/sync-wave: "1"
argocd.argoproj.io/sync-options: SkipDryRunOnMissingResource=true
{{- end -}}
{{- end -}}

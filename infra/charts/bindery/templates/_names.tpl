{{- define "bindery.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* Labels that select the pods of one service: (dict "root" $ "service" "gateway"). */}}
{{- define "bindery.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .service }}
{{- end }}

{{- define "bindery.labels" -}}
{{ include "bindery.selector" . }}
app.kubernetes.io/version: {{ include "bindery.version" .root | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{/* Reference of the image. A digest decides the image; a tag beside it is only its name. */}}
{{- define "bindery.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}{{ with .tag }}:{{ . }}{{ end }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* The version, shortened to a valid label. */}}
{{- define "bindery.version" -}}
{{ .Values.image.tag | default .Chart.AppVersion | trunc 63 | trimAll "._-" }}
{{- end }}

{{/*
Differences between the services: the secrets of each besides the password of its bus user, the services that it calls, and the servers that it needs
besides the bus and the object store.
*/}}
{{- define "bindery.services" -}}
gateway:
  secrets: [BINDERY_HASH_KEY, BINDERY_OPERATOR_TOKEN, {{ if (.Values.console).enabled }}BINDERY_PERSON_TOKEN_KEY, {{ end }}BINDERY_SITES_KEYS, BINDERY_TOKEN_GATEWAY_TO_ASSISTANT, BINDERY_TOKEN_GATEWAY_TO_HOUSEKEEPER, BINDERY_TOKEN_GATEWAY_TO_LINK_SIGNER, BINDERY_TOKEN_GATEWAY_TO_ORCHESTRATOR, BINDERY_TOKEN_GATEWAY_TO_PROJECTOR, BINDERY_TOKEN_GATEWAY_TO_PUBLISHER]
  calls: [publisher, assistant, link-signer, projector, orchestrator, housekeeper]
  servers: [redis]
publisher:
  secrets: [BINDERY_TOKEN_GATEWAY_TO_PUBLISHER, BINDERY_TOKEN_HOUSEKEEPER_TO_PUBLISHER]
indexer:
  servers: [search, model]
assistant:
  secrets: [BINDERY_HASH_KEY, BINDERY_TOKEN_GATEWAY_TO_ASSISTANT]
  servers: [search, model]
orchestrator:
  secrets: [BINDERY_TOKEN_GATEWAY_TO_ORCHESTRATOR]
page-renderer: {}
bundler: {}
link-signer:
  secrets: [BINDERY_TOKEN_GATEWAY_TO_LINK_SIGNER]
projector:
  secrets: [BINDERY_AUDIT_KEY, BINDERY_TOKEN_GATEWAY_TO_PROJECTOR]
housekeeper:
  secrets: [BINDERY_TOKEN_GATEWAY_TO_HOUSEKEEPER, BINDERY_TOKEN_HOUSEKEEPER_TO_PUBLISHER]
  calls: [publisher]
deployer: {}
{{- end }}

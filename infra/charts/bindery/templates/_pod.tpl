{{/*
Pod of a service or of a command: (dict "root" $ "service" "gateway" "args" (list "run" "gateway") "resources" …). "restartPolicy" is for jobs,
which have no ports and no probes.
*/}}
{{- define "bindery.pod" -}}
{{- $v := .root.Values }}
{{- $name := include "bindery.name" .root }}
{{- $special := index (include "bindery.services" .root | fromYaml) .service | default dict }}
{{- $serves := not .restartPolicy }}
{{- $isGateway := eq .service "gateway" }}
{{- with .restartPolicy }}
restartPolicy: {{ . }}
{{- end }}
{{ include "bindery.podSettings" .root }}
containers:
  - name: {{ .service }}
    image: {{ include "bindery.image" .root | quote }}
    imagePullPolicy: {{ $v.image.pullPolicy }}
    args: {{ toJson .args }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: { drop: [ALL] }
    env: {{- include "bindery.env" . | trim | nindent 6 }}
    {{- if $serves }}
    ports:
      - { name: http, containerPort: 8080 }
      {{- if $isGateway }}
      - { name: inside, containerPort: 9090 }
      {{- end }}
    {{- $health := ternary "inside" "http" $isGateway }}
    readinessProbe:
      httpGet: { path: /readyz, port: {{ $health }} }
      periodSeconds: 5
      timeoutSeconds: 4
    livenessProbe:
      httpGet: { path: /livez, port: {{ $health }} }
      periodSeconds: 10
      timeoutSeconds: 5
      failureThreshold: 6
    # A starting service waits for the bus.
    startupProbe:
      httpGet: { path: /livez, port: {{ $health }} }
      periodSeconds: 2
      timeoutSeconds: 2
      failureThreshold: 150
    {{- if or $isGateway (has .service (list "publisher" "assistant" "link-signer" "projector" "orchestrator" "housekeeper")) }}
    # The pod waits until callers know that it stops.
    lifecycle: { preStop: { sleep: { seconds: 5 } } }
    {{- end }}
    {{- end }}
    resources: {{- toYaml .resources | nindent 6 }}
    volumeMounts:
      - { name: secrets, mountPath: /run/secrets, readOnly: true }
      - { name: tmp, mountPath: /tmp }
      {{- if eq .service "publisher" }}
      - { name: uploads, mountPath: /data }
      {{- end }}
      {{- if $v.certificateAuthorities.existingConfigMap }}
      - { name: authorities, mountPath: /run/authorities, readOnly: true }
      {{- end }}
volumes:
  - name: tmp
    emptyDir: { medium: Memory, sizeLimit: 64Mi }
  - name: secrets
    projected:
      defaultMode: 0440
      sources:
        {{- $own := prepend ($special.secrets | default list) (printf "BINDERY_NATS_PASSWORD_%s" (.service | upper | replace "-" "_")) }}
        {{- include "bindery.secret" (dict "name" (printf "%s-%s" $v.secrets.prefix .service) "keys" $own) | nindent 8 }}
        {{- if $v.objectStore.accessKeyId }}
        {{- include "bindery.secret" (dict "name" $v.objectStore.existingSecret "keys" (list "BINDERY_S3_SECRET_ACCESS_KEY")) | nindent 8 }}
        {{- end }}
        {{- $servers := $special.servers | default list }}
        {{- if and (has "redis" $servers) $v.redis.url $v.redis.existingSecret }}
        {{- include "bindery.secret" (dict "name" $v.redis.existingSecret "keys" (list "BINDERY_REDIS_PASSWORD")) | nindent 8 }}
        {{- end }}
        {{- if and (has "search" $servers) $v.search.existingSecret }}
        {{- include "bindery.secret" (dict "name" $v.search.existingSecret "keys" (list (ternary "BINDERY_ELASTICSEARCH_PASSWORD" "BINDERY_ELASTICSEARCH_API_KEY" (ne $v.search.username "")))) | nindent 8 }}
        {{- end }}
        {{- if and (has "model" $servers) (eq $v.model.provider "mistral") }}
        {{- include "bindery.secret" (dict "name" $v.model.existingSecret "keys" (list "BINDERY_MISTRAL_API_KEY")) | nindent 8 }}
        {{- end }}
        {{- if and (eq .service "assistant") (eq $v.model.provider "openai-compatible") $v.model.existingSecret }}
        {{- include "bindery.secret" (dict "name" $v.model.existingSecret "keys" (list "BINDERY_OPENAI_API_KEY")) | nindent 8 }}
        {{- end }}
  {{- if eq .service "publisher" }}
  - name: uploads
    {{- if $v.publisherVolume.className }}
    ephemeral:
      volumeClaimTemplate:
        spec:
          accessModes: [ReadWriteOnce]
          storageClassName: {{ $v.publisherVolume.className | quote }}
          resources: { requests: { storage: {{ $v.publisherVolume.size }} } }
    {{- else }}
    emptyDir: { sizeLimit: {{ $v.publisherVolume.size }} }
    {{- end }}
  {{- end }}
  {{- if $v.certificateAuthorities.existingConfigMap }}
  - name: authorities
    configMap: { name: {{ $v.certificateAuthorities.existingConfigMap | quote }}, items: [{ key: {{ $v.certificateAuthorities.key | quote }}, path: ca.crt }] }
  {{- end }}
{{- if $serves }}
{{ include "bindery.podSpread" (dict "root" .root "service" .service "revision" "pod-template-hash") }}
{{- end }}
{{- include "bindery.podPlacement" .root }}
{{- end }}

{{/* Settings of every pod: its rights and its shutdown. */}}
{{- define "bindery.podSettings" -}}
{{- $v := .Values -}}
automountServiceAccountToken: false
serviceAccountName: {{ $v.serviceAccountName | quote }}
# Kubernetes would set variables such as BINDERY_GATEWAY_PORT for each service of the namespace.
enableServiceLinks: false
# A service finishes or returns its work in flight within 15 seconds.
terminationGracePeriodSeconds: 30
{{- with $v.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with $v.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Spreads the pods of one service over nodes and zones. "revision": the label that tells the pods of one version apart. */}}
{{- define "bindery.podSpread" -}}
topologySpreadConstraints:
  {{- range $place := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ $place }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: {{ include "bindery.selector" (dict "root" $.root "service" $.service) | fromYaml | toJson }} }
    matchLabelKeys: [{{ $.revision }}]
  {{- end }}
{{- end }}

{{/* The nodes on which pods may run. */}}
{{- define "bindery.podPlacement" -}}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Files of a Secret in a pod. A missing file is reported in an event of the pod. */}}
{{- define "bindery.secret" -}}
- secret:
    name: {{ .name | quote }}
    items:
      {{- range .keys }}
      - { key: {{ . }}, path: {{ . }} }
      {{- end }}
{{- end }}

{{- define "bindery.env" -}}
{{- $v := .root.Values }}
{{- $name := include "bindery.name" .root }}
{{- $special := index (include "bindery.services" .root | fromYaml) .service | default dict }}
{{- $servers := $special.servers | default list }}
{{- $env := dict
  "BINDERY_SECRETS" "/run/secrets"
  "BINDERY_NATS_URL" $v.nats.url
  "BINDERY_OBJECT_STORE" "s3"
  "BINDERY_S3_REGION" $v.objectStore.region
  "BINDERY_S3_BUCKET" $v.objectStore.bucket
  "BINDERY_S3_FORCE_PATH_STYLE" (ternary "1" "0" $v.objectStore.forcePathStyle)
  "BINDERY_S3_ENDPOINT" $v.objectStore.endpoint
  "BINDERY_S3_PUBLIC_ENDPOINT" $v.objectStore.publicEndpoint
  "BINDERY_S3_ACCESS_KEY_ID" $v.objectStore.accessKeyId
  "BINDERY_PUBLIC_URL" (trimSuffix "/" $v.publicUrl)
}}
{{- if $v.certificateAuthorities.existingConfigMap }}{{ $_ := set $env "NODE_EXTRA_CA_CERTS" "/run/authorities/ca.crt" }}{{ end }}
{{- if eq .service "provisioner" }}
{{- $_ := set $env "BINDERY_NATS_REPLICAS" (toString $v.nats.replicas) }}
{{- else }}
{{- $_ := set $env "BINDERY_LOG_LEVEL" $v.logLevel }}
{{- $_ := set $env "OTEL_EXPORTER_OTLP_ENDPOINT" (($v.traces).endpoint | default "") }}
{{- end }}
{{- range $called := $special.calls | default list }}
{{- $_ := set $env (printf "BINDERY_%s_URL" ($called | upper | replace "-" "_")) (printf "http://%s-%s:8080" $name $called) }}
{{- end }}
{{- if eq .service "gateway" }}
{{- $_ := set $env "BINDERY_PORT" "8080" }}
{{- $_ := set $env "BINDERY_GATEWAY_PORT" "9090" }}
{{- /* After preStop, new requests arrive only on connections that are kept alive. */}}
{{- $_ := set $env "BINDERY_LINGER_SECONDS" "5" }}
{{- $_ := set $env "BINDERY_TRUST_PROXY" $v.trustProxy }}
{{- if ($v.sites).enabled }}{{ $_ := set $env "BINDERY_SITES_BASE" $v.sites.base }}{{ end }}
{{- if ($v.console).enabled }}{{ $_ := set $env "BINDERY_CONSOLE_URL" $v.console.url }}{{ end }}
{{- else if ne .service "provisioner" }}
{{- $_ := set $env (printf "BINDERY_%s_PORT" (.service | upper | replace "-" "_")) "8080" }}
{{- end }}
{{- if has "redis" $servers }}
{{- $_ := set $env "BINDERY_REDIS_URL" $v.redis.url }}
{{- $_ := set $env "BINDERY_REDIS_USERNAME" $v.redis.username }}
{{- end }}
{{- if has "search" $servers }}
{{- $_ := set $env "BINDERY_SEARCH_ENGINE" $v.search.engine }}
{{- $_ := set $env "BINDERY_ELASTICSEARCH_URL" $v.search.url }}
{{- $_ := set $env "BINDERY_ELASTICSEARCH_USERNAME" $v.search.username }}
{{- $_ := set $env "BINDERY_ELASTICSEARCH_INDEX_PREFIX" $v.search.indexPrefix }}
{{- $_ := set $env "BINDERY_ELASTICSEARCH_SHARDS" (toString $v.search.shards) }}
{{- $_ := set $env "BINDERY_ELASTICSEARCH_REPLICAS" (toString $v.search.replicas) }}
{{- end }}
{{- if has "model" $servers }}
{{- if ne $v.model.provider "openai-compatible" }}
{{- $_ := set $env "BINDERY_MISTRAL_BASE_URL" $v.model.baseUrl }}
{{- end }}
{{- $_ := set $env "BINDERY_EMBEDDING_MODEL" ($v.model.embeddings | default "") }}
{{- if eq .service "assistant" }}
{{- $_ := set $env "BINDERY_LANGUAGE_MODEL" $v.model.provider }}
{{- if eq $v.model.provider "openai-compatible" }}
{{- $_ := set $env "BINDERY_OPENAI_BASE_URL" $v.model.baseUrl }}
{{- $_ := set $env "BINDERY_OPENAI_MODEL" $v.model.name }}
{{- else }}
{{- $_ := set $env "BINDERY_MISTRAL_MODEL" $v.model.name }}
{{- end }}
{{- end }}
{{- end }}
{{- range $variable, $value := mergeOverwrite $env $v.env (dig .service "env" dict $v.services) }}
{{- if ne (toString $value) "" }}
- { name: {{ $variable }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}
{{- end }}

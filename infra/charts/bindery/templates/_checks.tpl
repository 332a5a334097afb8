{{/* Checks that a schema cannot express. All problems are reported at once. */}}
{{- define "bindery.check" -}}
{{- $v := .Values -}}
{{- $problems := list -}}
{{- if not (regexMatch "^https?://[^@\\s/]+(/[^@\\s]*)?$" $v.publicUrl) }}{{ $problems = append $problems (printf "publicUrl is %q: set it to the address under which clients reach the gateway, such as https://bindery.example.com." $v.publicUrl) }}{{ end -}}
{{- if not (regexMatch "^(nats|tls)://[^@\\s,]+(,(nats|tls)://[^@\\s,]+)*$" $v.nats.url) }}{{ $problems = append $problems "nats.url must be the addresses of the NATS servers, comma-separated and without user and password, such as nats://nats:4222." }}{{ end -}}
{{- if not (regexMatch "^https?://[^@\\s,]+(,https?://[^@\\s,]+)*$" $v.search.url) }}{{ $problems = append $problems "search.url must be the addresses of Elasticsearch or OpenSearch, comma-separated and without user and password, such as https://elasticsearch:9200." }}{{ end -}}
{{- if and $v.redis.url (not (regexMatch "^rediss?://[^@\\s]+$" $v.redis.url)) }}{{ $problems = append $problems "redis.url must be redis://<host>:<port>, or rediss:// for TLS, without user and password." }}{{ end -}}
{{- range $name := list "endpoint" "publicEndpoint" -}}
{{- $url := index $v.objectStore $name -}}
{{- if and $url (not (regexMatch "^https?://[^@\\s]+$" $url)) }}{{ $problems = append $problems (printf "objectStore.%s must be the address of an S3 API, without keys, such as https://s3.example.com." $name) }}{{ end -}}
{{- end -}}
{{- if and ($v.traces).endpoint (not (regexMatch "^https?://[^@\\s]+$" ($v.traces).endpoint)) }}{{ $problems = append $problems "traces.endpoint must be the address of a collector, without keys, such as http://otel-collector:4318." }}{{ end -}}
{{- if and (not $v.redis.url) (gt (int $v.services.gateway.replicas) 1) }}{{ $problems = append $problems "redis.url is not set, but there is more than one gateway: without Redis each counts requests alone. Set redis.url, or services.gateway.replicas=1." }}{{ end -}}
{{- if and $v.objectStore.accessKeyId (not $v.objectStore.existingSecret) }}{{ $problems = append $problems "objectStore.accessKeyId needs objectStore.existingSecret: the secret with the key BINDERY_S3_SECRET_ACCESS_KEY." }}{{ end -}}
{{- if and $v.search.username (not $v.search.existingSecret) }}{{ $problems = append $problems "search.username needs search.existingSecret: the secret with the key BINDERY_ELASTICSEARCH_PASSWORD." }}{{ end -}}
{{- if and (eq $v.model.provider "mistral") (not $v.model.existingSecret) }}{{ $problems = append $problems "model.provider is mistral, which needs model.existingSecret: the secret with the key BINDERY_MISTRAL_API_KEY." }}{{ end -}}
{{- if and (eq $v.model.provider "openai-compatible") (not (and $v.model.baseUrl $v.model.name)) }}{{ $problems = append $problems "model.provider is openai-compatible, which needs model.baseUrl and model.name." }}{{ end -}}
{{- if and $v.ingress.enabled (not $v.ingress.host) }}{{ $problems = append $problems "ingress.enabled needs ingress.host." }}{{ end -}}
{{- if ($v.sites).enabled -}}
{{- if not (regexMatch "^https?://[a-z0-9][a-z0-9-]*(\\.[a-z0-9][a-z0-9-]*)+(:[0-9]{1,5})?$" $v.sites.base) }}{{ $problems = append $problems (printf "sites.base is %q: set it to the address under which readers reach the sites, such as https://docs.example.com." $v.sites.base) }}{{ end -}}
{{- with $v.sites.login -}}
{{- if ne (empty .issuer) (empty .existingSecret) }}{{ $problems = append $problems "sites.login needs both: issuer, and existingSecret, the secret with BINDERY_LOGIN_SESSION_SECRET and BINDERY_OIDC_CLIENT_SECRET." }}{{ end -}}
{{- if and .issuer (not .clientId) }}{{ $problems = append $problems "sites.login.clientId is empty: it is the client that you registered at the provider." }}{{ end -}}
{{- if and .issuer $v.networkPolicy.enabled (not ($v.networkPolicy.login).to) }}{{ $problems = append $problems "networkPolicy.login.to is empty, but hosts of sites ask the provider of sites.login.issuer: say where it is, such as [{ipBlock: {cidr: 203.0.113.9/32}}]." }}{{ end -}}
{{- end -}}
{{- if and $v.networkPolicy.enabled $v.objectStore.publicEndpoint (ne $v.objectStore.publicEndpoint $v.objectStore.endpoint) (not ($v.networkPolicy.bundles).to) }}{{ $problems = append $problems "networkPolicy.bundles.to is empty, but links to bundles lead to objectStore.publicEndpoint, from which hosts of sites download them: say where it is, such as [{ipBlock: {cidr: 198.51.100.7/32}}]." }}{{ end -}}
{{- end -}}
{{- with $v.console -}}
{{- if .enabled -}}
{{- if not (regexMatch "^https?://[^@\\s/]+$" (.url | default "")) }}{{ $problems = append $problems (printf "console.url is %q: set it to the address under which people reach the console, such as https://console.example.com." (.url | default "")) }}{{ end -}}
{{- if not $v.redis.url }}{{ $problems = append $problems "console.enabled needs redis.url: all copies of the console look there for sessions that have ended." }}{{ end -}}
{{- with .login -}}
{{- if and .issuer (not .clientId) }}{{ $problems = append $problems "console.login.clientId is empty: it is the client that you registered at the provider." }}{{ end -}}
{{- if and .issuer (not .grants) }}{{ $problems = append $problems "console.login.grants is empty, so no account may use the console: list rights such as docs-team=acme:editor." }}{{ end -}}
{{- if and .issuer (not .publicClient) (not .existingSecret) }}{{ $problems = append $problems "console.login needs existingSecret, the secret with BINDERY_OIDC_CLIENT_SECRET, or publicClient=true." }}{{ end -}}
{{- if and .issuer $v.networkPolicy.enabled (not ($v.networkPolicy.login).to) }}{{ $problems = append $problems "networkPolicy.login.to is empty, but the console asks the provider of console.login.issuer: say where it is, such as [{ipBlock: {cidr: 203.0.113.9/32}}]." }}{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if gt (int $v.rendererScaling.minReplicas) (int $v.rendererScaling.maxReplicas) }}{{ $problems = append $problems "rendererScaling.minReplicas is greater than rendererScaling.maxReplicas." }}{{ end -}}
{{- if and (eq $v.rendererScaling.by "backlog") (eq $v.rendererScaling.backlog.scaler "prometheus") (not $v.rendererScaling.backlog.prometheusUrl) }}{{ $problems = append $problems "rendererScaling.backlog.scaler is prometheus, which needs rendererScaling.backlog.prometheusUrl." }}{{ end -}}
{{- if and (eq $v.rendererScaling.by "cpu") (not (dig "requests" "cpu" "" (index $v.services "page-renderer" "resources"))) }}{{ $problems = append $problems "rendererScaling.by is cpu, which needs services.page-renderer.resources.requests.cpu." }}{{ end -}}
{{- if $v.networkPolicy.enabled -}}
{{- $needed := list "nats" "objectStore" "search" -}}
{{- if $v.redis.url }}{{ $needed = append $needed "redis" }}{{ end -}}
{{- if ($v.traces).endpoint }}{{ $needed = append $needed "traces" }}{{ end -}}
{{- range $server := $needed -}}
{{- if not (index $v.networkPolicy $server).to }}{{ $problems = append $problems (printf "networkPolicy.%s.to is empty: say where it is, such as [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}}] or [{ipBlock: {cidr: 10.1.2.0/24}}]. Or set networkPolicy.enabled=false, and nothing keeps renderers from other addresses." $server (lower $server)) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- range $where, $env := merge (dict "env" $v.env) (include "bindery.environments" . | fromYaml) -}}
{{- range $variable, $value := $env -}}
{{- if regexMatch "PASSWORD|_(KEY|TOKEN|SECRET|KEY_ID)$|^BINDERY_TOKEN_" $variable }}{{ $problems = append $problems (printf "%s has %s, which is a secret: manifests are no place for it. Put it into the secret that the chart reads." $where $variable) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if $problems }}{{ fail (printf "%s" (join "\n" (prepend $problems "The values do not go together yet."))) }}{{ end -}}
{{- end }}

{{- define "bindery.environments" -}}
{{- with .Values.sites }}
sites.env: {{ .env | default dict | toJson }}
{{- end }}
{{- with .Values.console }}
console.env: {{ .env | default dict | toJson }}
{{- end }}
{{- range $service, $values := .Values.services }}
services.{{ $service }}.env: {{ $values.env | default dict | toJson }}
{{- end }}
{{- end }}

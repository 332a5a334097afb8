{{- define "docs-site.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "docs-site.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Checks that a schema cannot express, such as that a site has one source. */}}
{{- define "docs-site.check" -}}
{{- $link := or .Values.staticExport.bundleUrl .Values.staticExport.existingSecret -}}
{{- $places := 0 -}}
{{- if $link }}{{ $places = add1 $places }}{{ end -}}
{{- if .Values.bundle.path }}{{ $places = add1 $places }}{{ end -}}
{{- if .Values.platform.followExports }}{{ $places = add1 $places }}{{ end -}}
{{- if and .Values.staticExport.bundleUrl .Values.staticExport.existingSecret }}{{ fail "staticExport.bundleUrl and staticExport.existingSecret are both set: leave one." }}{{ end -}}
{{- if .Values.staticExport.enabled -}}
{{- if eq (int $places) 0 }}{{ fail "staticExport.enabled is true, but there is no bundle: set staticExport.bundleUrl (the link that the platform gave), staticExport.existingSecret, bundle.path, or platform.followExports. With staticExport.enabled=false the version on the volume is served." }}{{ end -}}
{{- if gt (int $places) 1 }}{{ fail "A site gets its bundle from one place: leave one of staticExport.bundleUrl, bundle.path and platform.followExports." }}{{ end -}}
{{- else if .Values.storage.ephemeral }}{{ fail "staticExport.enabled is false and storage.ephemeral is true: there would never be anything to serve." }}{{ end -}}
{{- if and .Values.bundle.path (not .Values.bundle.volume) }}{{ fail "bundle.path needs bundle.volume: the volume that has it." }}{{ end -}}
{{- if or .Values.platform.followExports .Values.platform.answerReaders -}}
{{- if not (and .Values.platform.url .Values.platform.domain .Values.platform.existingSecret) }}{{ fail "platform.followExports and platform.answerReaders need platform.url, platform.domain and platform.existingSecret." }}{{ end -}}
{{- end -}}
{{- if and .Values.platform.answerReaders (eq .Values.site.deployment "air-gapped") }}{{ fail "platform.answerReaders is true, but site.deployment is air-gapped: such a site calls no server." }}{{ end -}}
{{- if ne ((.Values.login).type | default "none") "none" -}}
{{- if not (.Values.login).existingSecret }}{{ fail (printf "login.type is %s, which needs login.existingSecret: the secret with %s." (.Values.login).type (ternary "users" "sessionSecret and clientSecret" (eq ((.Values.login).type | default "none") "basic"))) }}{{ end -}}
{{- if and (eq ((.Values.login).type | default "none") "oidc") (not (and ((.Values.login).oidc).issuer ((.Values.login).oidc).clientId .Values.site.url)) }}{{ fail "login.type is oidc, which needs login.oidc.issuer, login.oidc.clientId and site.url." }}{{ end -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}{{ fail "ingress.enabled needs ingress.host." }}{{ end -}}
{{- end }}

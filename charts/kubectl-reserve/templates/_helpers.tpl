{{/* All objects come from files/, links to manifests/; the templates put the values in. A release in another namespace has that
     name wherever the manifests say kube-reserve. */}}

{{- define "reserve.file" -}}
{{ .root.Files.Get .path | required (printf "the chart has no %s" .path) | replace "kube-reserve" .root.Release.Namespace }}
{{- end }}

{{/* The files whose objects are rendered, as JSON. */}}
{{- define "reserve.files" -}}
{{- $files := list "daemon/namespace" "daemon/rbac" "daemon/account" "policies/writers" "policies/values" "daemon/policies" "daemon/fence" "daemon/flow" "daemon/deployment" "daemon/network" }}
{{- if .Values.extender.enabled }}{{ $files = append $files "extender/service" }}{{ end }}
{{- if .Values.schedulerNameByNamespace.enabled }}{{ $files = append $files "scheduler-name/policy" }}{{ end }}
{{- toJson $files }}
{{- end }}

{{/* "yes" if this Kubernetes has ValidatingAdmissionPolicies and they are not switched off. */}}
{{- define "reserve.policies" -}}
{{- $enabled := toString .Values.policies.enabled }}
{{- if or (eq $enabled "true") (and (eq $enabled "auto") (semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version)) }}yes{{ end }}
{{- end }}

{{/* "yes" if the object is part of the release. */}}
{{- define "reserve.wanted" -}}
{{- $values := .root.Values }}{{ $kind := .object.kind }}
{{- $is := dict
      "Namespace" $values.namespace.create
      "ResourceQuota" (hasPrefix "system-" $values.priorityClassName)
      "ValidatingAdmissionPolicy" (include "reserve.policies" .root)
      "ValidatingAdmissionPolicyBinding" (include "reserve.policies" .root)
      "FlowSchema" $values.flowControl.enabled
      "PriorityLevelConfiguration" $values.flowControl.enabled
      "NetworkPolicy" $values.networkPolicy.enabled
      "PodDisruptionBudget" (and $values.podDisruptionBudget.enabled (gt (int $values.replicas) 1)) }}
{{- if or (not (hasKey $is $kind)) (get $is $kind) }}yes{{ end }}
{{- end }}

{{/* The label by which all objects are found; kustomize adds it in manifests/. */}}
{{- define "reserve.labelled" -}}
{{- $labels := merge (dict "app.kubernetes.io/part-of" "kubectl-reserve") (.metadata.labels | default dict) }}
{{- $_ := set .metadata "labels" $labels }}
{{- toYaml . }}
{{- end }}

{{- define "reserve.configuration" -}}
{{- if .Values.configuration }}
{{- .Values.configuration }}
{{- else }}
{{- $profiles := list }}
{{- range .Values.schedulerNames }}{{ $profiles = append $profiles (printf "  - schedulerName: %s\n" .) }}{{ end }}
{{- include "reserve.file" (dict "root" . "path" "files/daemon/config.yaml") | replace "  - schedulerName: reserve-scheduler\n" (join "" $profiles) }}
{{- end }}
{{- end }}

{{/* Follows from the content, computed as kustomize does, so that another configuration rolls the daemon. */}}
{{- define "reserve.configMapName" -}}
{{- $data := dict "config.yaml" (include "reserve.configuration" .) }}
{{- $hash := dict "data" $data "kind" "ConfigMap" "name" "" | toJson | sha256sum | trunc 10 }}
{{- printf "reserve-daemon-%s" ($hash | replace "0" "g" | replace "1" "h" | replace "3" "k" | replace "a" "m" | replace "e" "t") }}
{{- end }}

{{- define "reserve.image" -}}
{{- $image := .Values.image }}
{{- if $image.digest }}{{ $image.repository }}@{{ $image.digest }}{{ else }}{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* What the values change of an object of the manifests. Each takes the root and the object, changes the object, and prints nothing. */}}

{{- define "reserve.change.ResourceQuota" -}}
{{- $selector := index .object.spec.scopeSelector.matchExpressions 0 }}
{{- $_ := set $selector "values" (list .root.Values.priorityClassName) }}
{{- end }}

{{- define "reserve.change.PodDisruptionBudget" -}}
{{- $_ := set .object.spec "minAvailable" .root.Values.podDisruptionBudget.minAvailable }}
{{- end }}

{{- define "reserve.change.MutatingAdmissionPolicy" -}}
{{- $mutation := (index .object.spec.mutations 0).applyConfiguration }}
{{- $name := index .root.Values.schedulerNames 0 | squote }}
{{- $_ := set $mutation "expression" ($mutation.expression | replace "'reserve-scheduler'" $name) }}
{{- end }}

{{- define "reserve.change.NetworkPolicy" -}}
{{- if .root.Values.extender.enabled }}
{{- $patch := include "reserve.file" (dict "root" .root "path" "files/extender/network.yaml") | fromYaml }}
{{- $_ := set .object.spec "ingress" $patch.spec.ingress }}
{{- end }}
{{- end }}

{{- define "reserve.change.Deployment" -}}
{{- $values := .root.Values }}
{{- $_ := set .object.spec "replicas" $values.replicas }}
{{- $template := .object.spec.template }}
{{- $_ := set $template.metadata "labels" (merge $template.metadata.labels $values.podLabels) }}
{{- with $values.podAnnotations }}{{ $_ := set $template.metadata "annotations" . }}{{ end }}
{{- $spec := $template.spec }}
{{- $_ := set $spec "priorityClassName" $values.priorityClassName }}
{{- $_ := set $spec "nodeSelector" $values.nodeSelector }}
{{- $_ := set $spec "tolerations" $values.tolerations }}
{{- with $values.affinity }}{{ $_ := set $spec "affinity" . }}{{ end }}
{{- with $values.imagePullSecrets }}{{ $_ := set $spec "imagePullSecrets" . }}{{ end }}
{{- $container := index $spec.containers 0 }}
{{- $_ := set $container "image" (include "reserve.image" .root) }}
{{- $_ := set $container "imagePullPolicy" $values.image.pullPolicy }}
{{- $_ := set $container "resources" $values.resources }}
{{- range $spec.volumes }}
{{- if eq .name "config" }}{{ $_ := set .configMap "name" (include "reserve.configMapName" $.root) }}{{ end }}
{{- end }}
{{- if $values.extender.enabled }}{{ include "reserve.change.extender" (dict "root" .root "spec" $spec) }}{{ end }}
{{- $arguments := list }}
{{- range $container.args }}
{{- $arguments = append $arguments (ternary (printf "--v=%d" (int $values.logVerbosity)) . (hasPrefix "--v=" .)) }}
{{- end }}
{{- $_ := set $container "args" (concat $arguments $values.extraArgs) }}
{{- end }}

{{/* The patch of manifests/extender: other arguments, one more port, and the certificates. */}}
{{- define "reserve.change.extender" -}}
{{- $patch := include "reserve.file" (dict "root" .root "path" "files/extender/deployment.yaml") | fromYaml }}
{{- $container := index .spec.containers 0 }}
{{- $added := index $patch.spec.template.spec.containers 0 }}
{{- $_ := set $container "args" $added.args }}
{{- $_ := set $container "ports" (concat $added.ports $container.ports) }}
{{- $_ := set $container "volumeMounts" (concat $added.volumeMounts $container.volumeMounts) }}
{{- $volumes := $patch.spec.template.spec.volumes }}
{{- $_ := set (index $volumes 0).secret "secretName" .root.Values.extender.certificates.secretName }}
{{- $_ := set .spec "volumes" (concat $volumes .spec.volumes) }}
{{- end }}

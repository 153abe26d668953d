//go:build tools

// Package tools names the program that this module exists to build.
package tools

import _ "helm.sh/helm/v4/cmd/helm"

module sigs.k8s.io/controller-runtime

go 1.26.0

require (
	github.com/go-logr/logr v1.4.3
	k8s.io/apimachinery v0.36.3
)

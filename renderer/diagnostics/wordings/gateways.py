"""Wordings about Gateways, routes, pools, public names, providers and budgets, as the inputs ask for them."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

GATEWAYS: Final[dict[str, Wording]] = {
    "W240": Wording(
        "the Gateway {name} has {count} routes; above {most} its memory grows with their square",
        "set gateway.routeLayout: packed, or give namespaces Gateways of their own (gateway.perNamespace)",
    ),
    "W241": Wording(
        "the Gateway {name} has {count} models beside API keys, which stand in every route of one message of 4 MiB",
        "use JWT for many tenants, or give namespaces Gateways of their own (gateway.perNamespace)",
    ),
    "W242": Wording(
        "only providers have the first priority, so all requests leave the cluster", "give an app of yours priority 0"
    ),
    "W243": Wording(
        "requests are sent again to the one replica of '{name}' that failed", "give it replicas, or another backend"
    ),
    "W244": Wording(
        "criticality acts in pool mode only, and this pool is a workload in backend mode",
        "write spec.gateway.mode: pool there, or leave criticality out",
    ),
    "W245": Wording(
        "'{name}' has timeouts of its own, which count for nothing since this route leads to it",
        "write spec.timeouts here",
    ),
    "W246": Wording("an API of {schema} takes {usual} as a rule, not {kind}", "write auth.type: {usual}"),
    "W247": Wording(
        "streamed requests for '{model}' do not reach this target: since the ModelRoute '{route}' in {file}:{line} "
        "counts tokens, the AI gateway sends its own copy of every stream on this Gateway, under the public name, "
        "after the picker has chosen",
        "give the budget or the pool a Gateway of its own, or split over Playgrounds in backend mode",
    ),
    "W248": Wording(
        "a pool's picker is asked once a request, so it is sent again to the pod of '{name}' that failed",
        "leave retries out, or write spec.gateway.mode: backend in it",
    ),
    "W270": Wording(
        "the experimental channel of Gateway API refuses a route for the name '{name}', and requests for it meet 404",
        "write a name of printable ASCII, with single blanks between words at most; or say targets.gatewayAPIChannel: "
        "standard",
    ),
    "W271": Wording(
        "{value} of silence end every answer that is not streamed within that time, and every stream whose first token "
        "takes longer",
        "write 60s or more",
    ),
    "W272": Wording(
        "an API of {schema} answers {path} only: the AI gateway answers 500 for it on /v1/chat/completions",
        "let clients ask there; or write schema: OpenAI, where the provider has such an API too",
    ),
    "E394": Wording(
        "the {kind} in {file}:{line} makes an InferenceModelRewrite of the name '{name}' too",
        "give one of them another name",
    ),
    "E395": Wording(
        "the {kind} '{name}' in {file}:{line} tells the picker of '{pool}' something else about '{model}'", "{hint}"
    ),
    "E620": Wording(
        "the Gateway '{name}' is given two values of {key}", "say it once, or give '{namespace}' a Gateway of its own"
    ),
    "E621": Wording("auth names neither apiKeys nor jwt", "write auth.apiKeys.secretName, or a provider in auth.jwt"),
    "E622": Wording(
        "no claim of this provider becomes the header '{header}'", "name it in claimToHeaders, or as auth.tenantHeader"
    ),
    "E623": Wording("the served name has {length:,} bytes, a header's value may have {most:,}", "shorten it"),
    "E624": Wording(
        "nobody asks who calls on the Gateway {name}, so nobody can be allowed",
        "write gateway.auth in RenderConfig, or leave allow out",
    ),
    "E625": Wording(
        "the name '{model}' on the Gateway {gateway} belongs to the {kind} {other}, in {file}:{line}", "{hint}"
    ),
    "E626": Wording(
        "the Gateway {name} has {count:,} models, at most {most:,} fit into the 4 MiB of one message",
        "give namespaces Gateways of their own (gateway.perNamespace); or raise maxRecvMsgSize of the AI gateway and "
        "extensionManager.maxMessageSize of Envoy Gateway, and say so with gateway.maxModels",
    ),
    "E627": Wording(
        "with {parts} this and '{other}' in {file}:{line} both need the name '{name}'", "rename one of them"
    ),
    "E628": Wording(
        "the route {name} of '{namespace}' would hold {count} models, at most {most} fit",
        "set gateway.routeBuckets: {fits}",
    ),
    "E629": Wording(
        "the Gateway {name} has no hostnames, so cert-manager makes no certificate for it",
        "write gateway.hostnames, or tls.secretName",
    ),
    "E630": Wording("tls names neither secretName nor issuer", "write one of them, or leave tls out"),
    "E631": Wording(
        "the Gateway in this namespace is called '{name}' too, and both would have a SecurityPolicy of that name",
        "rename the app or the Gateway",
    ),
    "E632": Wording(
        "the header '{header}' cannot be used: it is removed from requests, or means something else",
        "name another, such as {other}",
    ),
    "E633": Wording("'{name}' is also the name of a packed route", "give it another name"),
    "E634": Wording(
        "the proxies of the Gateway {name} would have a Service '{proxy}': over 63 characters, a digit first, or taken",
        "give the Gateway another name",
    ),
    "E635": Wording("apiKeys and jwt together would ask for both in every request", "keep one of them"),
    "E636": Wording(
        "the model's policy repeats the Gateway's jwt, whose {what} lies in another namespace",
        "use remoteJWKS.uri or localJWKS.inline",
    ),
    "E637": Wording("'{name}' cannot stand behind a pool: {why}", "write spec.gateway.mode: backend"),
    "E638": Wording(
        "'{name}' cannot stand behind a pool, which has one workload: flavorPolicy variants makes several",
        "write spec.gateway.mode: backend",
    ),
    "E639": Wording(
        "'{app}' cannot stand behind a pool: {name} {what}",
        "leave {name} out, or write spec.gateway.mode: backend",
    ),
    "E640": Wording("no {kind} is named '{name}' in namespace '{namespace}'", "{hint}"),
    "E641": Wording("no picker is named '{name}'", "{hint}"),
    "E642": Wording(
        "the {kind} in {file}:{line} has a route of the name '{name}' too", "give one of them another name"
    ),
    "E643": Wording("'{name}' has gateway.mode: off, so nothing leads to it", "write spec.gateway.mode: backend in it"),
    "E644": Wording(
        "'{name}' is a pool, which takes all requests of its rule: no other backend or priority can stand beside it",
        "write spec.gateway.mode: backend in '{name}'",
    ),
    "E645": Wording("all weights of priority {priority} are 0, so nobody answers there", "give one of them a weight"),
    "E646": Wording("'{name}' stands in this priority already", "add the weights up in one of them"),
    "E647": Wording(
        "the pool '{name}' would be asked for '{model}', and its engine serves '{served}'",
        "write modelName: {served}, set spec.servedModelName: {model} in '{name}', or write an InferenceModel of this "
        "name",
    ),
    "E648": Wording(
        "'{host}' is none of the hosts of the Gateway {name}: {served}",
        "name it in RenderConfig gateway.hostnames too; a ModelRoute can only narrow them",
    ),
    "E649": Wording("{count} priorities need at least {least} retries, not {attempts}", "write attempts: {least}"),
    "E650": Wording(
        "clients can set the header '{header}' themselves, and so choose whose budget they use",
        "write per: tenant, or a header of claimToHeaders",
    ),
    "E651": Wording(
        "the Gateway {name} does not ask who calls, so it knows no tenants", "write RenderConfig gateway.auth"
    ),
    "E652": Wording("this budget is said already: same header, interval and count", "keep one of them"),
    "E653": Wording("{type} {what}", "{hint}"),
    "E654": Wording(
        "'{name}' is not a name that a request can have", "write one in one line, not only blanks, as clients write it"
    ),
    "E655": Wording("this target has no weight, and others have one", "give weights to all targets, or to none"),
    "E656": Wording(
        "in v1alpha2 a weight is at least 1", "leave the target out; v1alpha1 keeps a name by weights of 0"
    ),
    "E657": Wording("the target '{name}' stands here twice", "add the weights up in one of them"),
    "E658": Wording("no Playground, Service or InferencePool is named '{name}' in namespace '{namespace}'", "{hint}"),
    "E659": Wording("poolRef.{key} '{value}' is nothing that a route can name", "write {allowed}, or leave it out"),
    "E660": Wording("nobody serves '{name}' {where}", "{hint}"),
    "E661": Wording(
        "the InferencePool '{name}' is of the group that is gone, and no route can name it",
        "make it apiVersion: inference.networking.k8s.io/v1, with spec.selector.matchLabels, targetPorts and "
        "endpointPickerRef; or let poolRef name the Playground, in pool mode",
    ),
    "E662": Wording(
        "'{name}' cannot be the name of a route", "use small letters, digits and '-', at most 63 characters"
    ),
    "E663": Wording(
        "the provider's objects would be called '{name}', {why}",
        "give the ModelRoute another name",
    ),
    "E664": Wording("only some may call '{name}' (its spec.gateway.allow), and this name opens it to others", "{hint}"),
    "E665": Wording(
        "'{host}' stands for '{nearer}' too, but there the other names of the Gateway answer, and this one is unknown",
        "name '{nearer}' too, or leave hostnames out",
    ),
    "E666": Wording("an API of {schema} {what}", "{hint}"),
    "E667": Wording("'{name}' may be {these}", "write a ModelRoute, which names apps"),
    "E668": Wording(
        "the experimental channel of Gateway API, which targets.gatewayAPIChannel names, refuses a route for the name "
        "'{name}'",
        "write a name of printable ASCII, with single blanks between words at most",
    ),
    "E669": Wording(
        "authorization asks for the header '{header}', and nothing sets it here: whoever sends it himself passes",
        "name a header that authentication sets, of which there are: {known}",
    ),
    "E670": Wording(
        "the {kind} '{name}' selects no pod of the LeaderWorkerSet '{workload}' by {label}: {why}",
        "leave this label out, or mend its value",
    ),
    "E671": Wording(
        "'{host}' is asked on port 443 without TLS: it refuses requests, whose key is readable on the way",
        "write spec.tls: {{wellKnownCACertificates: System, sni: {host}}}",
    ),
    "E672": Wording(
        "only some may call '{name}' ({rule}), and this {kind} leads others to its pods",
        "delete it and write a ModelRoute with spec.gateway.allow, or give it a SecurityPolicy whose authorization "
        "allows nobody else",
    ),
    "W672": Wording(
        "only some may call '{name}' ({rule}), and this {kind} leads others to its pods",
        "delete it and write a ModelRoute with spec.gateway.allow, or give it a SecurityPolicy whose authorization "
        "allows nobody else",
    ),
    "E673": Wording(
        "only some may call '{name}' ({rule}), and by this Service clients outside of the cluster reach its pods "
        "past the Gateway",
        "leave it a ClusterIP, without externalIPs, and let clients come through the Gateway",
    ),
    "W673": Wording(
        "only some may call '{name}' ({rule}), and by this Service clients outside of the cluster reach its pods "
        "past the Gateway",
        "leave it a ClusterIP, without externalIPs, and let clients come through the Gateway",
    ),
    "E674": Wording(
        "only some may call '{name}' ({rule}), and by this grant routes of namespace '{namespace}' may lead to "
        "its {kind}",
        "name what they need under spec.to, or write the route in the namespace of the model",
    ),
    "N676": Wording(
        "no request for '{name}', the servedModelName of '{app}', is answered: this route takes the place of its own",
        "write a ModelRoute with modelName: {name}, or leave servedModelName out",
    ),
    "W674": Wording(
        "only some may call '{name}' ({rule}), and by this grant routes of namespace '{namespace}' may lead to "
        "its {kind}",
        "name what they need under spec.to, or write the route in the namespace of the model",
    ),
    "W675": Wording(
        "this regular expression also matches {names}{more}, which other routes of the Gateway {gateway} serve, so "
        "one of the two gets no request",
        "match exact names, with type: Exact",
    ),
}

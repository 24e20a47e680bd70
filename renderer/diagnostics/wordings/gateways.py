"""Wordings about Gateways, routes, pools, public names, providers and budgets, as the inputs ask for them."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

_BYPASS: Final = Wording(
    "this {kind} leads to the pods of '{name}' and bypasses {rule}",
    "replace it with a ModelRoute that sets spec.gateway.allow, or give it a SecurityPolicy that allows the same "
    "clients only",
)
_OPEN_SERVICE: Final = Wording(
    "only some clients may call '{name}' ({rule}), and through this Service clients outside the cluster reach "
    "its pods past the Gateway",
    "keep it a ClusterIP, without externalIPs, and let clients use the Gateway",
)
_WIDE_GRANT: Final = Wording(
    "only some clients may call '{name}' ({rule}), and with this grant routes of namespace '{namespace}' may "
    "lead to its {kind}",
    "name what they need under spec.to, or write the route in the namespace of the model",
)
GATEWAYS: Final[dict[str, Wording]] = {
    "W240": Wording(
        "the Gateway {name} has {count} routes; above {most} its memory grows with the square of their number",
        "set gateway.routeLayout: packed, with the routeBuckets that llmaz then names, or give namespaces their own "
        "Gateways (gateway.perNamespace)",
    ),
    "W241": Wording(
        "the Gateway {name} has {count} models and API keys, which are repeated in every route of one message of 4 MiB",
        "use JWT for many tenants, or give namespaces their own Gateways (gateway.perNamespace)",
    ),
    "W242": Wording(
        "only providers have the first priority, so all requests leave the cluster", "give an app of yours priority 0"
    ),
    "W243": Wording(
        "retries go to the same single replica of '{name}' that failed", "give it more replicas, or add another backend"
    ),
    "W244": Wording(
        "criticality has an effect only in pool mode, and this pool is a workload in backend mode",
        "write spec.gateway.mode: pool there, or leave criticality out",
    ),
    "W245": Wording(
        "the timeouts set in '{name}' have no effect, since this route leads to it",
        "write spec.timeouts here",
    ),
    "W246": Wording("an API of {schema} usually takes {usual}, not {kind}", "write auth.type: {usual}{more}"),
    "W247": Wording(
        "streamed requests for '{model}' do not reach this target: the ModelRoute '{route}' in {file}:{line} counts "
        "tokens, so the AI gateway sends its own copy of every stream on this Gateway under the public name, after "
        "the picker has chosen",
        "give the budget or the pool its own Gateway, or split over Playgrounds in backend mode",
    ),
    "W248": Wording(
        "a pool's picker chooses once per request, so a retry goes to the same pod of '{name}' that failed",
        "leave retries out, or write spec.gateway.mode: backend in it",
    ),
    "W270": Wording(
        "the experimental channel of Gateway API refuses a route for the name '{name}', and requests for it get 404",
        "write a name of printable ASCII, with single spaces between words at most; or set targets.gatewayAPIChannel: "
        "standard",
    ),
    "W271": Wording(
        "after {value} without data, answers that are not streamed are cut off, and so are streams that are still "
        "waiting for their first token",
        "write 60s or more",
    ),
    "W272": Wording(
        "the AI gateway asks no API of {schema} on {path}, and answers 500 there",
        "{hint}if the provider has such an API too, write schema: OpenAI with auth.type: APIKey, and no version",
    ),
    "E394": Wording(
        "the {kind} in {file}:{line} also makes an InferenceModelRewrite called '{name}'",
        "give one of them another name",
    ),
    "E395": Wording(
        "the {kind} '{name}' in {file}:{line} gives the picker of '{pool}' other targets for '{model}'", "{hint}"
    ),
    "E620": Wording(
        "the Gateway '{name}' gets two values for {key}",
        "write the same value for each namespace of this Gateway, or give '{namespace}' its own",
    ),
    "E621": Wording("auth names neither apiKeys nor jwt", "write auth.apiKeys.secretName, or a provider in auth.jwt"),
    "E622": Wording(
        "no claim of this provider sets the header '{header}'", "name it in claimToHeaders, or as auth.tenantHeader"
    ),
    "E623": Wording("the served name has {length:,} bytes, but a header value may have at most {most:,}", "shorten it"),
    "E624": Wording(
        "the Gateway {name} does not authenticate clients, so allow cannot work",
        "write gateway.auth in RenderConfig, or leave allow out",
    ),
    "E625": Wording(
        "the name '{model}' on the Gateway {gateway} belongs to the {kind} {other}, in {file}:{line}", "{hint}"
    ),
    "E626": Wording(
        "the Gateway {name} has {count:,} models, at most {most:,} fit into the 4 MiB of one message",
        "give namespaces their own Gateways (gateway.perNamespace); or raise maxRecvMsgSize of the AI gateway and "
        "extensionManager.maxMessageSize of Envoy Gateway, and set gateway.maxModels",
    ),
    "E627": Wording(
        "because of {parts}, this and '{other}' in {file}:{line} both need the name '{name}'", "rename one of them"
    ),
    "E628": Wording(
        "the route {name} of '{namespace}' would hold {count} models, at most {most} fit",
        "set gateway.routeBuckets: {fits}",
        replaces=("", "fits"),
    ),
    "E629": Wording(
        "the Gateway {name} has no hostnames, so cert-manager makes no certificate for it",
        "write gateway.hostnames; or leave issuer out, and name a Secret with a certificate in tls.secretName",
    ),
    "E630": Wording("tls names neither secretName nor issuer", "write one of them, or leave tls out"),
    "E631": Wording(
        "the Gateway in this namespace is also called '{name}', and both would have a SecurityPolicy of that name",
        "rename the app or the Gateway",
    ),
    "E632": Wording(
        "the header '{header}' cannot be used: it is removed from requests, or means something else",
        "name another, such as {other}",
    ),
    "E633": Wording("'{name}' is also the name of a packed route", "give it another name"),
    "E634": Wording(
        "the proxies of the Gateway {name} need a Service '{proxy}': over 63 characters, a digit first, or taken",
        "give the Gateway another name",
    ),
    "E635": Wording("with both apiKeys and jwt, every request would need both", "keep one of them"),
    "E636": Wording(
        "the model's policy repeats the Gateway's jwt, whose {what} is in another namespace",
        "use remoteJWKS.uri or localJWKS.inline",
    ),
    "E637": Wording("'{name}' cannot be a pool: {why}", "write spec.gateway.mode: backend"),
    "E638": Wording(
        "'{name}' cannot be a pool, which has one workload: flavorPolicy variants makes several",
        "write spec.gateway.mode: backend",
    ),
    "E639": Wording(
        "'{app}' cannot be a pool: {name} {what}",
        "leave {name} out, or write spec.gateway.mode: backend",
    ),
    "E640": Wording("no {kind} is named '{name}' in namespace '{namespace}'", "{hint}"),
    "E641": Wording("no picker is named '{name}'", "{hint}"),
    "E642": Wording("the {kind} in {file}:{line} also has a route called '{name}'", "give one of them another name"),
    "E643": Wording(
        "'{name}' has gateway.mode: off, so no route can lead to it", "write spec.gateway.mode: backend in it"
    ),
    "E644": Wording(
        "'{name}' is a pool, which takes all requests of its rule, so no other backend or priority is possible",
        "write spec.gateway.mode: backend in '{name}'",
    ),
    "E645": Wording(
        "all weights of priority {priority} are 0, so no backend answers there", "give one of them a weight"
    ),
    "E646": Wording("'{name}' is already in this priority", "keep one of them, with the sum of the weights"),
    "E647": Wording(
        "the pool '{name}' would get requests for '{model}', but its engine serves '{served}'",
        "write modelName: {served}, set spec.servedModelName: {model} in '{name}', or write an InferenceModel of this "
        "name",
    ),
    "E648": Wording(
        "'{host}' is not a host of the Gateway {name}, which has {served}",
        "add it to gateway.hostnames of RenderConfig; a ModelRoute can only narrow them",
    ),
    "E649": Wording("{count} priorities need at least {least} retries, not {attempts}", "write attempts: {least}"),
    "E650": Wording(
        "clients can set the header '{header}' themselves, and so choose whose budget they use",
        "write per: tenant, or a header of claimToHeaders",
    ),
    "E651": Wording(
        "the Gateway {name} does not authenticate clients, so it knows no tenants",
        "write auth: {{apiKeys: {{secretName: api-keys}}}} where RenderConfig describes that Gateway (gateway, or "
        "gateway.perNamespace); a Secret of that name has a key for each tenant",
    ),
    "E652": Wording("this budget is already defined: same header, interval and count", "keep one of them"),
    "E653": Wording("{type} {what}", "{hint}"),
    "E654": Wording(
        "'{name}' cannot be the model name of a request", "write the name as clients do: one line, not only spaces"
    ),
    "E655": Wording("this target has no weight, but others have one", "give weights to all targets, or to none"),
    "E656": Wording(
        "in v1alpha2 a weight is at least 1", "leave the target out; v1alpha1 keeps a name with weights of 0"
    ),
    "E657": Wording("the target '{name}' is listed twice", "keep one of them, with the sum of the weights"),
    "E658": Wording("no Playground, Service or InferencePool is named '{name}' in namespace '{namespace}'", "{hint}"),
    "E659": Wording("a route cannot use poolRef.{key} '{value}'", "write {allowed}, or leave it out"),
    "E660": Wording("nothing serves '{name}' {where}", "{hint}"),
    "E661": Wording(
        "the InferencePool '{name}' is of an API group that no longer exists, so no route can use it",
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
    "E664": Wording(
        "only some clients may call '{name}' (its spec.gateway.allow), and this name opens it to others", "{hint}"
    ),
    "E665": Wording(
        "'{host}' also covers '{nearer}', where the other names of the Gateway answer and this one is unknown",
        "add '{nearer}' too, or leave hostnames out",
    ),
    "E666": Wording("an API of {schema} {what}", "{hint}"),
    "E667": Wording("'{name}' is ambiguous: {these}", "write a ModelRoute, which names apps"),
    "E668": Wording(
        "the experimental channel of Gateway API, which targets.gatewayAPIChannel names, refuses a route for the name "
        "'{name}'",
        "write a name of printable ASCII, with single spaces between words at most",
    ),
    "E669": Wording(
        "authorization checks the header '{header}', which nothing sets here: any client that sends it passes",
        "name a header that authentication sets (there are: {known})",
    ),
    "E670": Wording(
        "the {kind} '{name}' selects no pod of the LeaderWorkerSet '{workload}' by {label}: {why}",
        "leave this label out, or fix its value",
    ),
    "E671": Wording(
        "'{host}' is called on port 443 without TLS: it refuses requests, and their key can be read on the way",
        "write spec.tls: {{wellKnownCACertificates: System, sni: {host}}}",
    ),
    "E672": _BYPASS,
    "W672": _BYPASS,
    "E673": _OPEN_SERVICE,
    "W673": _OPEN_SERVICE,
    "E674": _WIDE_GRANT,
    "N676": Wording(
        "this ModelRoute replaces the route of the {kind} '{app}', so no route leads to its servedModelName '{name}'",
        "to keep that name, add another ModelRoute with modelName: {name}; else remove servedModelName from the {kind}",
    ),
    "W674": _WIDE_GRANT,
    "W675": Wording(
        "this regular expression also matches {names}{more}, which other routes of the Gateway {gateway} serve, so "
        "one of the two gets no request",
        "match exact names, with type: Exact",
    ),
    "N677": Wording(
        "no route leads to {models}: the AI gateway has no path to what their engines answer ({tasks})",
        "clients reach them at their Services: {services}; write gateway: {{mode: off}} where that is meant",
    ),
    "E678": Wording(
        "the AI gateway has no path that leads to '{name}': the task of its model is {task}",
        "leave it out; clients reach it at its Service {service}",
    ),
    "E679": Wording(
        "no path of the AI gateway leads both to '{name}' ({task}) and to '{other}' ({other_task})",
        "{hint}",
    ),
    "W680": Wording(
        "no tokens are counted for '{name}': the AI gateway reads {what}, so this budget is never spent", "{hint}"
    ),
    "W685": Wording(
        "each request for {names} gets 500: {file} gives Envoy Gateway no rate limit service that counts tokens",
        "{hint}",
    ),
    "E681": Wording(
        "no request for '{model}' could pass a pool: there the AI gateway speaks OpenAI's API alone, and the task of "
        "the model is {task}",
        "write gateway: {{mode: backend}} in the Playground",
    ),
    "W682": Wording(
        "without a version the AI gateway asks {host} for /rerank, and its path is /v2/rerank",
        "write version: v2",
    ),
    "W686": Wording(
        "the engine of '{name}' leaves {what} in the text of its answers, and that of '{other}', behind the same name, "
        "gives them a field of their own: clients get one or the other",
        "give the engine of '{name}' the {option} of its model, or leave that of '{other}' out",
    ),
    "W687": Wording("the AI gateway asks {host} for /v1/chat/completions, and its path is {path}", "{hint}"),
    "W688": Wording(
        "vectors of '{other}' cannot be compared with those of '{model}' behind the same name: an index that holds "
        "both finds the wrong texts",
        "give each of them a name of its own",
    ),
    "W921": Wording(
        "{key}: requests need this key of the engine, in Authorization, beside that of the Gateway {gateway}: with the "
        "Gateway's alone they get 401",
        "leave it out: who may call is decided at the Gateway",
    ),
    "W922": Wording(
        "no route leads to the adapter '{name}': the Gateway answers its name with 404",
        "claim it as an OpenModel with role: lora in modelClaims, or write a ModelRoute whose backend is "
        "{{{kind}: {app}, adapter: {name}}}",
    ),
    "W923": Wording(
        "the engine of '{name}' takes requests of {shortest} tokens, and that of '{other}', behind the same name, of "
        "{longest}: longer ones fail by chance",
        "give both the same context, or each of them a name of its own",
    ),
    "W689": Wording(
        "requests go to '{name}' ({share}), which has 0 replicas and nothing that starts one: they fail",
        "write replicas: 1 in '{name}', or leave it out here",
    ),
    "W683": Wording(
        "{share} leave the cluster: this provider has neither weight nor priority, so it shares them with "
        "'{other}' by weight 1",
        "write priority: 1 for requests that nobody else answers, or weight: 1 if the share is meant",
    ),
    "W684": Wording(
        "requests above 32 KiB to the models behind Gateway '{name}' are refused with 413: nothing raises the buffer "
        "of its connections",
        "{hint}",
    ),
}

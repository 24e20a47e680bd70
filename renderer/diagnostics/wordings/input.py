"""Wordings about what is read: YAML, files, the command line, fields and values of a schema, names given twice."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

FOREIGN_HINT: Final = "delete it, keep it elsewhere, or name it under output.foreign of RenderConfig"

INPUT: Final[dict[str, Wording]] = {
    "E101": Wording("{what}", "{fix}", about="this is not valid YAML: {what}"),
    "E102": Wording("the key '{key}' is given twice, first in line {line}", "keep one of them"),
    "E103": Wording("the key {key} is {kind}, not a string", "{fix}"),
    "E104": Wording(
        "the aliases of this file expand to more than {limit:,} values",
        "write the values out instead of anchors that contain aliases",
    ),
    "E105": Wording("more than {limit} levels of nesting"),
    "E106": Wording(
        "the file has {size:,} bytes, at most {limit:,} are read", "split the file, or name it under ignore"
    ),
    "E107": Wording("the tag {tag} is not allowed", "write plain YAML without tags"),
    "E108": Wording("not valid UTF-8: byte {byte}", "save the file as UTF-8"),
    "E109": Wording("the character {char} is not allowed in YAML", "delete it"),
    "E110": Wording("{value} is not a valid JSON number", "write a finite number, or the text in quotes"),
    "E111": Wording(
        "the line has {length:,} bytes, at most {limit:,} are read", "write the text over several lines, as with '>-'"
    ),
    "E112": Wording("the file holds more than {limit:,} values", "split the file, or name it under ignore"),
    "E113": Wording("the key has {length:,} characters, at most {limit:,} are read", "give it a shorter name"),
    "E114": Wording(
        "the aliases of this file expand to more than {limit:,} characters",
        "write the texts out, or keep them in a ConfigMap of their own",
    ),
    "E115": Wording("too many problems ({limit}): the rest of the file is not read", "fix these first"),
    "E116": Wording("too many problems ({limit}): the rest of this object is not checked", "fix these first"),
    "W117": Wording(
        "more than {limit} warnings and notes about this object: the others are not shown", "fix these first"
    ),
    "E120": Wording("cannot be read: {what}"),
    "E121": Wording(
        "this symbolic link points outside the tree, to {target}",
        "copy the file, or list the link under ignore of RenderConfig",
    ),
    "E122": Wording("no such file or folder", "{hint}"),
    "E123": Wording(
        "nothing to render: no Playground, Service, ModelRoute, InferenceModel, OpenModel or BackendRuntime in {files}",
        "{hint}",
    ),
    "E124": Wording("this name contains control characters, or is not UTF-8", "rename the file"),
    "E125": Wording("nothing to check: no Kubernetes object in {files}", "name another path"),
    "E126": Wording("stale: llmaz render would change this file", "run llmaz render"),
    "E127": Wording("missing: llmaz render would write this file", "run llmaz render"),
    "E128": Wording("to be deleted: no input makes this file any more", "run llmaz render"),
    "E129": Wording(
        "{what}, and Argo CD or Flux would sync it",
        "{hint}",
        about="not written by llmaz, and Argo CD or Flux would sync it",
    ),
    "W129": Wording("not written by llmaz, and Argo CD or Flux would sync it", FOREIGN_HINT),
    "E130": Wording("'{text}' is not a KEY=VALUE", "write it as KEY=VALUE, such as gateway.mode=off"),
    "E131": Wording("the value is not YAML: {what}", "quote the whole KEY=VALUE in the shell"),
    "E132": Wording("'{parent}' is not a map, so '{key}' cannot be set"),
    "E133": Wording(
        "Kubernetes {value} is below 1.30, the oldest that the manifests run on",
        "set targets.kubernetes to 1.30 or above",
    ),
    "E140": Wording("cannot be written: {what}", "no file is half written; fix the cause and run again"),
    "E141": Wording(
        "already exists, and was not written by llmaz", "move it away, or render to another folder with -o"
    ),
    "E142": Wording("passThrough takes YAML text only: {what}", "leave the file out of passThrough"),
    "W142": Wording(
        "no file matches '{glob}', so nothing is copied",
        "fix the path, which starts at the folder of this file, or leave it out (files that match ignore do not count)",
    ),
    "E143": Wording("the output folder contains the input", "name another folder, with -o or output.dir"),
    "E144": Wording(
        "this is a link, and nothing is written through links", "put a folder or file in its place, or delete it"
    ),
    "E145": Wording(
        "'{value}' is not a folder inside of the tree",
        "write a relative path without '..', such as rendered; for a folder elsewhere leave it out, and write -o",
    ),
    "E146": Wording("'{word}' is not an error code", "{hint}"),
    "E150": Wording("cannot be written: {what}"),
    "E151": Wording("the system says: {what}", "no file is half written; fix the cause and run again"),
    "E160": Wording(
        "RenderConfig has {count:,} environments, at most {limit} are rendered",
        "move the others to another repository, or to a folder with its own llmaz.yaml",
    ),
    "E161": Wording("the Python package {package} cannot be loaded: {what}", "{hint}"),
    "E180": Wording(
        "a worker process was killed by {signal}",
        "no file is half written; memory may have run out: give the run more memory, and run again",
    ),
    "E181": Wording("memory ran out", "no file is half written; give the run more memory, and run again"),
    "E201": Wording("{kind} '{name}' is already in {file}:{line}", "give one of them another name"),
    "E202": Wording(
        "{other} in {file}:{line} is also called '{name}', and both would make {what} of that name",
        "give one of them another name",
    ),
    "E204": Wording("a RenderConfig is already in {name}", "keep one, in the file llmaz.yaml at the top of the tree"),
    "E210": Wording(
        "passThrough ('{pattern}') also matches this file, so this {kind} itself would be applied to the "
        "cluster: {reader}",
        "{hint}",
    ),
    "E211": Wording(
        "passThrough copies this {kind} into the output, and {owner} also renders it",
        "leave one of the two out, or rename it: if both are applied, each overwrites the other",
    ),
    "E212": Wording(
        "the apiVersion of {kind} is {right}, not '{version}'", "write apiVersion: {right}", replaces=("", "right")
    ),
    "E213": Wording("there is no kind '{kind}' in {version}", "{hint}"),
    "W216": Wording("nothing reads the annotation '{name}'", "{hint}"),
    "E217": Wording("a RenderConfig is read from llmaz.yaml only", "move it there, to the top of the tree"),
    "W217": Wording("'{value}' counts as \"false\" for {name}", 'write "true" or "false"'),
    "E218": Wording("a list of objects is not read", "write each object as a separate document, with --- between them"),
    "W223": Wording(
        "this file is stale: the answer is about what is rendered now", "run llmaz render, and look for the line again"
    ),
    "E228": Wording("{what}", "{hint}", about="a file that llmaz did not render, or that holds no object: {what}"),
    "E229": Wording(
        "{what}", "{hint}", about="a line, field or object that the file or the render does not have: {what}"
    ),
    "E301": Wording("there is no field '{word}'", "{hint}"),
    "E302": Wording("the field '{word}' is missing", "{hint}"),
    "E303": Wording("{wanted} is needed, this is {found}", "{hint}"),
    "E304": Wording("'{value}' is not allowed, only {allowed}", "{hint}"),
    "E305": Wording("'{value}' is not a valid quantity", "{hint}"),
    "E306": Wording("'{value}' is not a valid {noun}", "write {means}"),
    "E307": Wording("{what}", about="a value is out of the bounds of its field: {what}"),
}

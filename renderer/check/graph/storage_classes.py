"""StorageClasses whose volumes one node mounts at a time, beside claims that several nodes are to mount."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.graph.rules import side_rules
from renderer.check.graph.view import ObjectView, kind_in
from renderer.diagnostics import Finding
from renderer.kubernetes.json_values import map_at, text_at, texts_at

STORAGE_CLASS = kind_in("storage.k8s.io", "StorageClass")
_CLAIM = kind_in("", "PersistentVolumeClaim")
# Of disks: by the documentation of each driver, none provisions a file system for ReadWriteMany. Names of Rook begin
# with a namespace.
_DISKS = frozenset(
    (
        *("ebs.csi.aws.com", "ebs.csi.eks.amazonaws.com", "kubernetes.io/aws-ebs"),
        *("disk.csi.azure.com", "kubernetes.io/azure-disk"),
        *("pd.csi.storage.gke.io", "kubernetes.io/gce-pd"),
        *("cinder.csi.openstack.org", "csi.hetzner.cloud", "dobs.csi.digitalocean.com", "linodebs.csi.linode.com"),
        *("blockvolume.csi.oraclecloud.com", "diskplugin.csi.alibabacloud.com", "topolvm.io", "rbd.csi.ceph.com"),
    )
)
_DEFAULT = "storageclass.kubernetes.io/is-default-class"  # an annotation
_OF_ROOK = ".rbd.csi.ceph.com"


@side_rules.about(STORAGE_CLASS)
def validate_storage_class(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for a class of disks of which a claim asks for a file system that several nodes write."""
    provisioner = text_at(body, "provisioner")
    if provisioner not in _DISKS and not provisioner.endswith(_OF_ROOK):
        return
    default = name if map_at(body, "metadata", "annotations").get(_DEFAULT) == "true" else ""
    for _, claim, claim_body in view.all(_CLAIM):
        is_of_class = map_at(claim_body, "spec").get("storageClassName", default) == name
        is_block = text_at(claim_body, "spec", "volumeMode") == "Block"
        if is_of_class and not is_block and "ReadWriteMany" in texts_at(claim_body, "spec", "accessModes"):
            yield Finding("E880", ("provisioner",), {"name": name, "provisioner": provisioner, "claim": claim})
            return

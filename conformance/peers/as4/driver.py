"""Reads orders from stdin, one JSON object a line, and writes what the package as4 makes of the answer to stdout in the same way.

Usage: driver.py CERTS
"""

import json
import pathlib
import sys

import urllib3
from as4 import AS4LocalPrivateKey, AS4References
from as4.peppol import (
    BusdoxDocidQnsDocumentIdentifier,
    PeppolAS4MessageBuilderArgs,
    PeppolAS4Profile,
    PeppolSendingExchange,
    create_peppol_external_party,
    create_peppol_internal_party,
)
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

CERTS = pathlib.Path(sys.argv[1])
HTTP = urllib3.PoolManager(retries=False, timeout=urllib3.Timeout(total=120))


def certificate(name):
    return x509.load_pem_x509_certificate((CERTS / f"{name}.crt").read_bytes())


def sender(name):
    key = load_pem_private_key((CERTS / f"{name}.key").read_bytes(), password=None)
    return create_peppol_internal_party(
        party_id="POP000001", certificate=certificate(name), private_key=AS4LocalPrivateKey(key)
    )


def build(order):
    """The exchange, and the message as it goes over the wire."""
    exchange = PeppolSendingExchange(
        profile=PeppolAS4Profile,
        local_party=sender(order.get("as", "sender")),
        remote_party=create_peppol_external_party(party_id="POP000002", certificate=certificate("receiver")),
        identifiers=AS4References(message_id=order["messageId"]),
    )
    arguments = PeppolAS4MessageBuilderArgs(
        sender=order["from"],
        recipient=order["to"],
        document_type_identifier=BusdoxDocidQnsDocumentIdentifier.from_identifier_value(order["documentType"]),
        document_identification_instance_identifier=order["instanceId"],
        process_identifier=order["process"],
        c1_country_id="BE",
    )
    headers, body = exchange.build(pathlib.Path(order["document"]).read_bytes(), arguments)
    return exchange, headers, body


def post(url, built):
    exchange, headers, body = built
    try:
        answer = HTTP.request("POST", url, headers=headers, body=body)
    except urllib3.exceptions.HTTPError as broken:
        return {"accepted": False, "verdict": f"no answer: {type(broken).__name__}", "checks": {}}
    exchange.mark_sent()
    if answer.status != 200:
        return {"accepted": False, "verdict": f"HTTP {answer.status}", "checks": {}}
    try:
        exchange.receive_signal(answer.data)
    except Exception as refusal:  # whatever it raises is its verdict
        return {"accepted": False, "verdict": f"{type(refusal).__name__}: {refusal}", "checks": {}}
    judgement = {"accepted": exchange.successful, "verdict": exchange.state.value, "checks": {}}
    if exchange.error is not None:
        error = exchange.error
        judgement["error"] = {"code": error.error_code}
        if error.description is not None:
            judgement["error"]["description"] = error.description.value
        if error.error_detail is not None:
            judgement["error"]["detail"] = error.error_detail.value
    else:
        judgement["checks"]["three references"] = len(exchange.signed_references) == 3
    return judgement


def main():
    built = None
    for line in sys.stdin:
        try:
            order = json.loads(line)
            if order.get("repeat") is None:
                built = build(order)
            judgement = post(order["url"], built)
        except Exception as broken:
            judgement = {"accepted": False, "verdict": f"driver: {broken!r}", "checks": {}}
        print(json.dumps(judgement), flush=True)


main()

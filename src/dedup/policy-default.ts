/**
 * The rules that ship with the program, as the commented file that `quittance policy show` prints. It is a text of the code so that
 * it is where the code is; own rules begin as a copy of it.
 */
export const DEFAULT_POLICY = `# Rules of duplicate detection. The first rule of which every condition holds gives the values; what it leaves
# out comes from [duplicates] of the configuration (afterPowerLoss from [delivery]).
#
# To have rules of your own: write a copy of this file ("quittance policy show > policy.toml"), name it in duplicates.policy, change it.
# It is read again when it changes; a file with a mistake leaves the last good one in force, and health says so.
# "quittance policy explain" tells which rule applies to a message and why, "quittance policy test" tries a table of cases.
#
# Conditions; each a pattern or a list of patterns, * stands for any characters:
#   senderAp         seat id of the sending access point, the CN of its certificate, such as "POP000123"
#   originalSender   participant, as "iso6523-actorid-upis::0088:123*" or as "0088:123*"; upper and lower case are the same
#   finalRecipient   participant
#   process          such as "cenbii-procid-ubl::urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"
#   documentType     such as "busdox-docid-qns::urn:oasis:…:Invoice-2::Invoice##…::2.1", or without the scheme
#   payloadKind      "xml", "edifact", "x12", "pdf", "binary" or "text": what the document is by its own first characters
# Values:
#   window                 how long MessageIds and interchange keys are remembered: "90d". AS4's spelling "checkwindow=90D" is
#                          understood, too. Less than 30 days needs allowShortWindow = true in the same rule.
#   outsideWindow          a key whose window has passed, in a fresh message: "deliver" (with a warning) or "review"
#   staleTimestamp         a new message with a signed timestamp older than its window, perhaps a replay: "review", "deliver", "refuse"
#   onConflict             a known MessageId with another content: "reject" (the sender gets an error) or "hold" (receipt, review)
#   interchangeKey         what names an interchange: "reference", "reference+sender" or "reference+sender+content"
#   onInterchangeConflict  a known interchange with another content: "review", "allow" or "suppress"
#   replacePending         whether such an interchange replaces the earlier one while that has not been handed over: true or false
#   afterPowerLoss         a hand-over whose fate a power loss hides: "deliver" again (marked) or "review"

[[rule]]
name = "orders"
documentType = [
  "*:Order-2::Order##*",
  "*:OrderChange-2::OrderChange##*",
  "*:OrderCancellation-2::OrderCancellation##*",
  "*:CrossIndustryOrder*",
]
window = "90d"

[[rule]]
name = "despatch advices"
documentType = ["*:DespatchAdvice-2::DespatchAdvice##*", "*:CrossIndustryDespatchAdvice*"]
window = "90d"

# Self-billing has the document types of invoice and credit note.
[[rule]]
name = "invoices and credit notes"
documentType = [
  "*:Invoice-2::Invoice##*",
  "*:CreditNote-2::CreditNote##*",
  "*:SelfBilledInvoice-2::SelfBilledInvoice##*",
  "*:SelfBilledCreditNote-2::SelfBilledCreditNote##*",
  "*:CrossIndustryInvoice*",
]
window = "365d"

[[rule]]
name = "payments"
documentType = ["*:RemittanceAdvice-2::RemittanceAdvice##*", "*:pain.00*", "*:camt.05*"]
window = "365d"

# EDIFACT and X12, where the document type names the kind of message.
[[rule]]
name = "EDIFACT orders and despatch advices"
payloadKind = "edifact"
documentType = ["*ORDERS*", "*ORDCHG*", "*DESADV*"]
window = "90d"

[[rule]]
name = "EDIFACT invoices and payments"
payloadKind = "edifact"
documentType = ["*INVOIC*", "*REMADV*", "*PAYORD*", "*PAYMUL*"]
window = "365d"

[[rule]]
name = "X12 orders and despatch advices"
payloadKind = "x12"
documentType = ["*850*", "*860*", "*856*"]
window = "90d"

[[rule]]
name = "X12 invoices and payments"
payloadKind = "x12"
documentType = ["*810*", "*880*", "*820*"]
window = "365d"

[[rule]]
name = "the rest"
window = "180d"
`;

/** The BIS Billing invoice that `quittance send` posts when it is given no document: small, complete, about nobody. */
export function sampleInvoice(o: { readonly number: string; readonly issueDate: string }): string {
  const cac = 'urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2';
  const cbc = 'urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2';
  const party = (role: string, scheme: string, id: string, name: string, country: string) =>
    `<cac:${role}><cac:Party><cbc:EndpointID schemeID="${scheme}">${id}</cbc:EndpointID>` +
    `<cac:PostalAddress><cac:Country><cbc:IdentificationCode>${country}</cbc:IdentificationCode></cac:Country></cac:PostalAddress>` +
    `<cac:PartyLegalEntity><cbc:RegistrationName>${name}</cbc:RegistrationName></cac:PartyLegalEntity></cac:Party></cac:${role}>`;
  const amount = (element: string, value: string) => `<cbc:${element} currencyID="EUR">${value}</cbc:${element}>`;
  return (
    `<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2" xmlns:cac="${cac}" xmlns:cbc="${cbc}">` +
    '<cbc:CustomizationID>urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0</cbc:CustomizationID>' +
    '<cbc:ProfileID>urn:fdc:peppol.eu:2017:poacc:billing:01:1.0</cbc:ProfileID>' +
    `<cbc:ID>${o.number}</cbc:ID><cbc:IssueDate>${o.issueDate}</cbc:IssueDate>` +
    '<cbc:InvoiceTypeCode>380</cbc:InvoiceTypeCode><cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>' +
    '<cbc:BuyerReference>desk-4</cbc:BuyerReference>' +
    party('AccountingSupplierParty', '0208', '0123456789', 'Example Seller', 'BE') +
    party('AccountingCustomerParty', '0208', '9876543210', 'Example Buyer', 'BE') +
    `<cac:TaxTotal>${amount('TaxAmount', '0.00')}</cac:TaxTotal>` +
    `<cac:LegalMonetaryTotal>${amount('LineExtensionAmount', '25.00')}${amount('TaxExclusiveAmount', '25.00')}` +
    `${amount('TaxInclusiveAmount', '25.00')}${amount('PayableAmount', '25.00')}</cac:LegalMonetaryTotal>` +
    `<cac:InvoiceLine><cbc:ID>1</cbc:ID><cbc:InvoicedQuantity unitCode="C62">5</cbc:InvoicedQuantity>${amount('LineExtensionAmount', '25.00')}` +
    '<cac:Item><cbc:Name>Pencils</cbc:Name></cac:Item>' +
    `<cac:Price>${amount('PriceAmount', '5.00')}</cac:Price></cac:InvoiceLine></Invoice>`
  );
}

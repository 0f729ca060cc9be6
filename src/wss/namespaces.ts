/** Namespaces and value URIs of WS-Security 1.1, its profiles and XML Encryption; those it shares with ebMS are in `ebms/namespaces.ts`. */
export const WSSE = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd';
export const WSSE11 = 'http://docs.oasis-open.org/wss/oasis-wss-wssecurity-secext-1.1.xsd';
export const XENC = 'http://www.w3.org/2001/04/xmlenc#';
export const XENC11 = 'http://www.w3.org/2009/xmlenc11#';

const X509_PROFILE = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#';
export const X509_V3 = `${X509_PROFILE}X509v3`;
export const X509_PKI_PATH = `${X509_PROFILE}X509PKIPathv1`;
export const X509_SKI = `${X509_PROFILE}X509SubjectKeyIdentifier`;
export const BASE64_BINARY =
  'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#Base64Binary';
export const THUMBPRINT_SHA1 = 'http://docs.oasis-open.org/wss/oasis-wss-soap-message-security-1.1#ThumbprintSHA1';
/** `wsse11:TokenType` of a SecurityTokenReference to an EncryptedKey. */
export const ENCRYPTED_KEY_TOKEN = 'http://docs.oasis-open.org/wss/oasis-wss-soap-message-security-1.1#EncryptedKey';
/** `xenc:EncryptedData/@Type`: the content of a MIME part without its headers (SwA §5.5.2); the only one AS4 allows. */
export const ATTACHMENT_CONTENT_ONLY =
  'http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Content-Only';
